// SPDX-License-Identifier: Apache-2.0
// RemoteOptions::stop ends a request at any point; and without it a request has an end too.
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <string>

#include "s3/client.hpp"
#include "s3/s3_storage.hpp"
#include "s3_server.hpp"

using namespace smd;
using namespace smd::test;
using detail::storage::s3::Ask;
using detail::storage::s3::Client;
using detail::storage::s3::ListedObjects;
using detail::storage::s3::open_s3;
using detail::storage::s3::Stop;

namespace {

Ask get(std::string key, const Stop& stop) {
  Ask ask;
  ask.bucket = "bucket";
  ask.key = std::move(key);
  ask.file = "the/file";
  ask.stop = &stop;
  return ask;
}

/// Waits until the server has this many requests.
void await_requests(S3Server& server, std::size_t count) {
  for (std::size_t seen = 0; seen < count;) {
    seen += server.log().size();
  }
}

}  // namespace

TEST_CASE_FIXTURE(WithServer, "s3: a stop ends a request that is never answered, and no other") {
  server.put("key", "content");
  for (const char* const act : {"hang", "trickle"}) {
    CAPTURE(act);
    server.faults(std::string(R"([{"match": "first", "times": -1, "act": ")") + act + "\"}]");
    server.put("first", std::string(100'000, 'x'));
    std::atomic<bool> over{false};
    const Stop stop = [&over] { return over.load(); };
    const Stop never = [] { return false; };
    Client client(server.settings());
    auto waiting = std::async(std::launch::async, [&] { return client.ask(get("first", stop)); });
    await_requests(server, 1);
    CHECK(client.ask(get("key", never)));
    over = true;
    const auto ended = waiting.get();
    REQUIRE_FALSE(ended);
    CHECK(ended.problem().kind == ProblemKind::stopped);
    CHECK(ended.problem().file == "the/file");
    CHECK(client.ask(get("key", never)));
  }
}

TEST_CASE_FIXTURE(WithServer, "s3: a stop ends a request that waits in the queue") {
  server.faults(R"([{"times": -1, "act": "hang"}])");
  auto settings = server.settings();
  settings.in_flight = 1;
  Client client(settings);
  std::atomic<bool> first_over{false};
  std::atomic<bool> second_over{false};
  const Stop first_stop = [&] { return first_over.load(); };
  const Stop second_stop = [&] { return second_over.load(); };
  auto first = std::async(std::launch::async, [&] { return client.ask(get("first", first_stop)); });
  await_requests(server, 1);
  auto second = std::async(std::launch::async, [&] { return client.ask(get("second", second_stop)); });
  second_over = true;
  CHECK(second.get().problem().kind == ProblemKind::stopped);
  first_over = true;
  CHECK(first.get().problem().kind == ProblemKind::stopped);
  CHECK(server.log().empty());  // the second was never sent
}

TEST_CASE_FIXTURE(WithServer, "s3: a stop ends the pause between attempts, and no request follows") {
  server.faults(R"([{"times": -1, "act": "error", "status": 503, "headers": {"Retry-After": "20"}}])");
  auto settings = server.settings();
  settings.attempts = 100;
  settings.patience.most_pause = std::chrono::hours(1);
  Client client(settings);
  std::atomic<bool> over{false};
  const Stop stop = [&over] { return over.load(); };
  auto waiting = std::async(std::launch::async, [&] { return client.ask(get("key", stop)); });
  await_requests(server, 1);
  over = true;
  CHECK(waiting.get().problem().kind == ProblemKind::stopped);
  CHECK(client.ask(get("key", stop)).problem().kind == ProblemKind::stopped);
  CHECK(server.log().empty());
}

TEST_CASE_FIXTURE(WithServer, "s3: a request ends although the server keeps sending") {
  server.put("key", std::string(1'000'000, 'x'));
  server.faults(R"([{"times": -1, "act": "trickle"}])");
  auto settings = server.settings();
  settings.patience.stall = std::chrono::hours(1);
  settings.patience.total = std::chrono::seconds(1);
  settings.attempts = 100;
  const Stop none;
  const auto failing = Client(settings).ask(get("key", none));
  REQUIRE_FALSE(failing);
  CHECK(failing.problem().kind == ProblemKind::network);
  CHECK(failing.problem().text.find("a request may take 1 s with all its attempts, and did") != std::string::npos);
  CHECK(server.log().size() <= 1);  // no time for another attempt; on a busy machine the first is not seen either
}

TEST_CASE_FIXTURE(WithServer, "s3: a stopped request does not mean that a file is missing") {
  server.put("trial/index/x.json", "{}");
  std::atomic<bool> over{false};
  std::atomic<int> warnings{0};
  RemoteOptions options;
  options.stop = [&over] { return over.load(); };
  options.log = [&warnings](LogLevel detail, std::string_view) { warnings += detail == LogLevel::warning; };
  auto storage = open_s3("s3://bucket/trial", server.settings(options));
  REQUIRE(storage);
  over = true;
  CHECK((*storage)->list("index").problem().kind == ProblemKind::stopped);
  CHECK((*storage)->open("index/x.json").problem().kind == ProblemKind::stopped);
  CHECK_FALSE((*storage)->exists("index/x.json"));
  CHECK(warnings == 0);  // a stopped request is not reported
}

TEST_CASE("s3: the size in a listing applies only to the listed version") {
  ListedObjects listed;
  listed.add("index/a.json", 100, "\"one\"");
  REQUIRE(listed.find("index/a.json"));
  CHECK(listed.find("index/a.json")->size == 100);
  CHECK(listed.find("index/a.json")->has_etag("\"one\""));
  CHECK_FALSE(listed.find("index/a.json")->has_etag("\"two\""));
  CHECK_FALSE(listed.find("index/b.json"));
  listed.add("index/a.json", 200, "\"two\"");
  CHECK(listed.find("index/a.json")->size == 200);
  listed.forget("index/a.json");
  CHECK_FALSE(listed.find("index/a.json"));
}
