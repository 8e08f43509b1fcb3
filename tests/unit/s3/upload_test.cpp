// SPDX-License-Identifier: Apache-2.0
// Objects are uploaded completely or not at all.
#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "s3/s3_storage.hpp"
#include "s3_server.hpp"

using namespace smd;
using namespace smd::test;
using detail::Status;
using detail::storage::RemoteWriter;
using detail::storage::s3::open_s3_writer;
using detail::storage::s3::UploadSizes;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// As small as the server's own limit permits.
constexpr UploadSizes small_parts{10 * mebibyte, 5 * mebibyte};

std::unique_ptr<RemoteWriter> open(const S3Server& server, const std::string& url = "s3://bucket/trial",
                                   UploadSizes sizes = {}) {
  auto settings = server.settings();
  settings.patience.stall = std::chrono::seconds(2);
  auto writer = open_s3_writer(url, settings, sizes);
  REQUIRE(writer);
  return std::move(*writer);
}

std::string random_bytes(std::size_t size) {
  constexpr std::size_t block_bytes = std::size_t{64} << 10;
  std::mt19937_64 random(size);
  std::string block;
  while (block.size() < block_bytes) {
    const std::uint64_t word = random();
    block.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  std::string bytes;
  bytes.reserve(size + block_bytes);
  while (bytes.size() < size) {  // blocks differ in their beginning
    const std::uint64_t at = bytes.size();
    block.replace(0, sizeof at, reinterpret_cast<const char*>(&at), sizeof at);
    bytes += block;
  }
  bytes.resize(size);
  return bytes;
}

Status put(RemoteWriter& writer, const std::string& name, std::string_view content) {
  const auto upload = writer.upload(name);
  // In pieces that do not match the parts.
  for (std::size_t at = 0; at < content.size(); at += 7 * mebibyte + 1) {
    if (Status written = upload->write(std::as_bytes(std::span(content.substr(at, 7 * mebibyte + 1)))); !written) {
      return written;
    }
  }
  return upload->commit();
}

std::string stored(const S3Server& server, const std::string& key) {
  const std::string path = server.dir() / ("root/bucket/" + key);
  return std::filesystem::exists(path) ? read_file(path) : std::string("(nothing)");
}

/// Method and query of a request, as far as they distinguish requests.
std::vector<std::string> asked(S3Server& server) {
  std::vector<std::string> calls;
  for (const auto& entry : server.log()) {
    const std::string target = entry["target"];
    const auto kind = [&](const char* word) { return target.find(word) != std::string::npos; };
    calls.push_back(entry["method"].get<std::string>() + (kind("list-type")    ? " list"
                                                          : kind("uploads=")   ? " begin"
                                                          : kind("partNumber") ? " part"
                                                          : kind("uploadId")   ? " end"
                                                                               : ""));
  }
  return calls;
}

}  // namespace

TEST_CASE_FIXTURE(WithServer, "s3 writing: an object up to 64 MiB is one request") {
  const auto writer = open(server);
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, mebibyte + 1, 64 * mebibyte}) {
    CAPTURE(size);
    const std::string content = random_bytes(size);
    REQUIRE(put(*writer, "events/a b+%&é", content));
    CHECK((stored(server, "trial/events/a b+%&é") == content));
    CHECK(asked(server) == std::vector<std::string>{"PUT"});
  }
}

TEST_CASE_FIXTURE(WithServer, "s3 writing: a larger object is uploaded in parts") {
  const auto writer = open(server);
  const std::string content = random_bytes(64 * mebibyte + 1);  // the last part has one byte
  REQUIRE(put(*writer, "events/x", content));
  CHECK((stored(server, "trial/events/x") == content));
  CHECK(asked(server) ==
        std::vector<std::string>{"POST begin", "PUT part", "PUT part", "PUT part", "PUT part", "PUT part", "POST end"});
}

TEST_CASE_FIXTURE(WithServer, "s3 writing: an object appears only when it is complete") {
  server.put("trial/old", "as it was");
  const auto writer = open(server, "s3://bucket/trial", small_parts);
  for (const std::size_t size : {std::size_t{100}, 13 * mebibyte}) {
    CAPTURE(size);
    const std::string content(size, 'x');
    {
      const auto upload = writer->upload("old");
      REQUIRE(upload->write(std::as_bytes(std::span(content))));
      CHECK(stored(server, "trial/old") == "as it was");
    }  // abandoned
    CHECK(stored(server, "trial/old") == "as it was");
    const auto calls = asked(server);
    if (size == 100) {
      CHECK(calls.empty());
    } else {
      REQUIRE(calls.size() == 4);
      CHECK(calls.back() == "DELETE end");  // the parts are removed
    }
  }
}

TEST_CASE_FIXTURE(WithServer, "s3 writing: temporary failures are retried") {
  const auto writer = open(server);
  const std::string small = random_bytes(mebibyte);
  for (const char* const act :
       {R"("error", "status": 500, "code": "InternalError")", R"("error", "status": 503, "code": "SlowDown")",
        R"("error", "status": 400, "code": "RequestTimeout")", R"("reset")", R"("reset-upload")", R"("hang-upload")",
        R"("hang")", R"("flip-upload")", R"("lose")", R"("cut")"}) {
    CAPTURE(act);
    const std::string name = "object-" + std::to_string(std::hash<std::string>()(act));
    server.faults(std::string(R"([{"match": "^PUT", "times": 1, "act": )") + act + "}]");
    REQUIRE(put(*writer, name, small));
    CHECK((stored(server, "trial/" + name) == small));
  }
}

TEST_CASE_FIXTURE(WithServer, "s3 writing: each request of an upload in parts may fail once") {
  const auto writer = open(server, "s3://bucket/trial", small_parts);
  const std::string content = random_bytes(13 * mebibyte);
  for (const char* const match : {"^POST .*uploads=", "^PUT .*partNumber=3", "^POST .*uploadId"}) {
    // The lost request was executed: a second completion finds no upload.
    for (const char* const act : {R"("error", "status": 500, "code": "InternalError")", R"("reset")", R"("lose")"}) {
      CAPTURE(match);
      CAPTURE(act);
      std::filesystem::remove(server.dir() / "root/bucket/trial/x");
      server.faults(std::string(R"([{"match": ")") + match + R"(", "times": 1, "act": )" + act + "}]");
      REQUIRE(put(*writer, "x", content));
      CHECK((stored(server, "trial/x") == content));
    }
  }
  // S3 sends status 200 and then reports an error in the body.
  std::filesystem::remove(server.dir() / "root/bucket/trial/x");
  server.faults(
      R"([{"match": "^POST .*uploadId", "times": 1, "act": "error", "status": 200, "code": "InternalError"}])");
  REQUIRE(put(*writer, "x", content));
  CHECK((stored(server, "trial/x") == content));
}

TEST_CASE_FIXTURE(WithServer, "s3 writing: permanent failures leave nothing") {
  const auto writer = open(server, "s3://bucket/trial", small_parts);
  const std::string content = random_bytes(13 * mebibyte);
  struct Case {
    const char* match;
    std::size_t size;
  };
  for (const Case& each : {Case{"^PUT", 100}, Case{"uploads=", 13 * mebibyte}, Case{"partNumber=2", 13 * mebibyte},
                           Case{"^POST .*uploadId", 13 * mebibyte}}) {
    CAPTURE(each.match);
    for (const char* const act :
         {R"("reset-upload")", R"("error", "status": 500, "code": "InternalError", "text": "x")",
          R"("error", "status": 403, "code": "AccessDenied", "text": "x")"}) {
      CAPTURE(act);
      server.faults(std::string(R"([{"match": ")") + each.match + R"(", "times": -1, "act": )" + act + "}]");
      (void)server.log();
      const Status failed = put(*writer, "x", std::string_view(content).substr(0, each.size));
      REQUIRE_FALSE(failed);
      CHECK(failed.problem().kind == (std::string_view(act).find("403") != std::string_view::npos
                                          ? ProblemKind::access_denied
                                          : ProblemKind::network));
      CHECK(failed.problem().file == "x");
      CHECK(failed.problem().text.find(secret_key) == std::string::npos);
      CHECK(stored(server, "trial/x") == "(nothing)");
      const auto calls = asked(server);
      CHECK(std::count(calls.begin(), calls.end(), "DELETE end") ==
            (each.size == 100 || std::string_view(each.match) == "uploads=" ? 0 : 1));
    }
  }
}

TEST_CASE_FIXTURE(WithServer, "s3 writing: one listing answers all later checks for existing files") {
  server.put("trial/index/000000000/000000000003_worker_0.json", "{}");
  server.put("trial/index/000000000/000000000007_worker_0.json", "{}");
  server.put("trial/index-other", "");
  const auto writer = open(server);
  const auto index = [](int step) { return "index/000000000/00000000000" + std::to_string(step) + "_worker_0.json"; };
  for (int step = 0; step < 10; ++step) {
    const auto there = writer->exists(index(step));
    REQUIRE(there);
    CHECK(*there == (step == 3 || step == 7));
  }
  CHECK(asked(server) == std::vector<std::string>{"GET list"});
  // Later uploads are found: steps that go backward are requested again.
  REQUIRE(put(*writer, index(5), "{}"));
  CHECK(*writer->exists(index(6)) == false);
  CHECK(*writer->exists(index(5)) == true);
  CHECK(*writer->exists(index(7)) == true);
  CHECK(*writer->exists("collections/000000000/worker_0_collections.json") == false);
  CHECK(*writer->exists("training_job_end.ts") == false);
  server.faults(R"([{"match": "list-type", "times": -1, "act": "error", "status": 403, "code": "AccessDenied"}])");
  const auto unknown = writer->exists(index(1));  // never reported as absent
  REQUIRE_FALSE(unknown);
  CHECK(unknown.problem().kind == ProblemKind::access_denied);
}

TEST_CASE_FIXTURE(WithServer, "s3 writing: more names than fit a page") {
  const auto index = [](int step) { return "index/" + std::to_string(10'000 + step); };
  for (int step = 0; step < 1500; ++step) {
    server.put("trial/" + index(step), "");
  }
  const auto writer = open(server);
  for (int step = 0; step < 1510; ++step) {
    REQUIRE(*writer->exists(index(step)) == (step < 1500));
  }
  CHECK(asked(server).size() == 2);
}

TEST_CASE_FIXTURE(WithServer, "s3 writing: no bucket, or an invalid URL") {
  const auto nowhere = open(server, "s3://nowhere/trial");
  const Status failed = put(*nowhere, "x", "content");
  REQUIRE_FALSE(failed);
  CHECK(failed.problem().kind == ProblemKind::not_found);
  CHECK(failed.problem().text.find("there is no bucket 'nowhere'") == 0);
  CHECK_FALSE(open_s3_writer("s3://", server.settings()));
  CHECK(open(server, "s3://bucket/trial/")->root() == "s3://bucket/trial");
}
