// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "s3/s3_storage.hpp"
#include "s3_server.hpp"

using namespace smd;
using namespace smd::test;
using detail::Buffer;
using detail::Outcome;
using detail::storage::EntryKind;
using detail::storage::Storage;
using detail::storage::s3::open_s3;

namespace {

std::unique_ptr<Storage> open(const S3Server& server, const std::string& url = "s3://bucket/trial",
                              const RemoteOptions& options = {}) {
  auto storage = open_s3(url, server.settings(options));
  REQUIRE(storage);
  return std::move(*storage);
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns everything below a folder, sorted; the parts come in any order.
smd::detail::Outcome<std::vector<std::string>> below(Storage& storage, std::string_view folder,
                                                     std::string_view after = {}) {
  std::vector<std::string> names;
  std::size_t most = 0;
  auto listed = storage.list_below(folder, after, [&](std::span<const std::string> part) {
    names.insert(names.end(), part.begin(), part.end());
    most = std::max(most, part.size());
  });
  if (!listed) {
    return std::move(listed.problem());
  }
  CHECK(most <= 1000);  // a page
  std::sort(names.begin(), names.end());
  return names;
}

std::string numbered(int number) {
  std::string digits = std::to_string(number);
  return std::string(12 - digits.size(), '0') + digits;
}

}  // namespace

TEST_CASE_FIXTURE(WithServer, "s3: the content of a folder") {
  server.put("trial/index/000000000/a b+&.json", "{}");
  server.put("trial/index/000000001/x.json", "{}");
  server.put("trial/training_job_end.ts", "");
  server.put("trial-2/other", "");
  const auto storage = open(server);
  CHECK(storage->root() == "s3://bucket/trial");
  CHECK(storage->remote());
  CHECK(storage->watch(std::chrono::milliseconds(1), {}) == nullptr);
  CHECK(storage->default_interval() == std::chrono::seconds(5));
  const auto top = storage->list("");
  REQUIRE(top);
  REQUIRE(top->size() == 2);
  CHECK((*top)[0].name == "training_job_end.ts");
  CHECK((*top)[0].kind == EntryKind::file);
  CHECK((*top)[1].name == "index");
  CHECK((*top)[1].kind == EntryKind::folder);
  CHECK((*storage->list("index/000000000"))[0].name == "a b+&.json");
  CHECK(storage->list("nothing").problem().kind == ProblemKind::not_found);
  CHECK(storage->list("../trial-2").problem().kind == ProblemKind::damaged);
  CHECK(*below(*storage, "index") == std::vector<std::string>{"000000000/a b+&.json", "000000001/x.json"});
  CHECK(*below(*storage, "index", "000000000/a b+&.json") == std::vector<std::string>{"000000001/x.json"});
  CHECK(below(*storage, "nothing")->empty());
}

TEST_CASE_FIXTURE(WithServer, "s3: the time of the newest object below a folder") {
  const auto put = [&](const std::string& key, std::int64_t seconds) {
    server.put(key, "x");
    const timespec times[] = {{seconds, 0}, {seconds, 0}};
    REQUIRE(::utimensat(AT_FDCWD, (server.dir() / ("root/bucket/" + key)).c_str(), times, 0) == 0);
  };
  put("trial/index/000000000/a.json", 1000);
  put("trial/index/000000001/b.json", 3000);
  put("trial/index/c.json", 2000);
  put("trial/other", 8000);
  put("trial-2/index/d.json", 9000);
  const auto storage = open(server);
  (void)server.log();
  const auto at = [](std::int64_t seconds) {
    return std::optional(std::chrono::system_clock::time_point(std::chrono::seconds(seconds)));
  };
  CHECK(storage->totals_below("index")->newest == at(3000));
  CHECK(server.log().size() == 1);
  CHECK(storage->totals_below("index/000000000/")->newest == at(1000));
  CHECK(storage->totals_below("")->newest == at(8000));
  const std::vector<std::string> other_trials = {"index/000000001", "oth"};
  CHECK(storage->totals_below("index", other_trials)->newest == at(2000));
  CHECK(storage->totals_below("", other_trials)->bytes == 3);
  CHECK(storage->totals_below("nothing")->newest == std::nullopt);
  CHECK(storage->totals_below("../trial-2").problem().kind == ProblemKind::damaged);
  server.faults(R"([{"times": -1, "match": "list-type", "act": "bad-xml"}])");
  CHECK(storage->totals_below("index").problem().kind == ProblemKind::network);
}

TEST_CASE_FIXTURE(WithServer, "s3: which files exist") {
  server.put("trial/index/a.json", "{}");
  server.put("trial/index-2", "{}");
  server.put("trial/file", "{}");
  const auto storage = open(server);
  (void)server.log();
  // The listing that opened the trial answers the first query; a repeated query wants new information.
  CHECK(storage->exists("index"));
  CHECK_FALSE(storage->exists("collections"));
  CHECK_FALSE(storage->exists("training_job_end.ts"));
  CHECK(server.log().empty());
  server.put("trial/training_job_end.ts", "");
  CHECK(storage->exists("training_job_end.ts"));
  CHECK(server.log().size() == 1);
  CHECK(storage->exists("index"));
  CHECK(storage->exists("index/a.json"));
  CHECK(storage->exists("file"));
  CHECK_FALSE(storage->exists("fil"));
  CHECK_FALSE(storage->exists("index/a"));
  CHECK_FALSE(storage->exists("../trial/file"));
  CHECK_FALSE(storage->exists(""));
}

TEST_CASE_FIXTURE(WithServer, "s3: no trial") {
  server.put("trial/x", "");
  CHECK(open_s3("s3://bucket/tria", server.settings()).problem().text ==
        "there is nothing in the bucket 'bucket' below 'tria/'");
  CHECK(open_s3("s3://no-bucket/trial", server.settings()).problem().kind == ProblemKind::not_found);
  CHECK(open_s3("s3://no-bucket/trial", server.settings()).problem().text.find("there is no bucket 'no-bucket'") == 0);
  CHECK(open_s3("s3://b", server.settings()).problem().kind == ProblemKind::not_found);
}

TEST_CASE_FIXTURE(WithServer, "s3: more names than fit a page") {
  std::vector<std::string> names;
  for (int i = 0; i < 2300; ++i) {
    const std::string folder = numbered(i / 1000).substr(3);
    names.push_back(folder + "/" + numbered(i) + "_worker_0.json");
    server.put("trial/index/" + names.back(), "{}");
  }
  names.emplace_back("zz.json");
  server.put("trial/index/zz.json", "{}");
  const auto storage = open(server);
  (void)server.log();
  CHECK(*below(*storage, "index") == names);
  // A page, then the folders, then the rest of the first, the second and the third.
  CHECK(server.log().size() == 5);
  CHECK(*below(*storage, "index", names[2299]) == std::vector<std::string>{"zz.json"});
  CHECK(server.log().size() == 1);
  CHECK(*below(*storage, "index", names[500]) == std::vector<std::string>(names.begin() + 501, names.end()));
  CHECK(storage->list("index/000000000")->size() == 1000);
}

TEST_CASE("s3: a folder is listed page by page") {
  const AwsEnvironment environment;
  S3Server server({"--frozen"});
  for (int i = 0; i < 2100; ++i) {
    server.put("trial/collections/000000000/stray" + numbered(i), "");
  }
  const auto storage = open(server);
  std::vector<std::size_t> parts;
  CHECK(storage->list_parts("collections/000000000", [&](const std::vector<smd::detail::storage::DirEntry>& entries) {
    parts.push_back(entries.size());
  }));
  CHECK(parts == std::vector<std::size_t>{1000, 1000, 100});
  CHECK(storage->list_parts("nothing", [](const std::vector<smd::detail::storage::DirEntry>&) {}).problem().kind ==
        ProblemKind::not_found);
}

TEST_CASE("s3: a listing of too many pages is an error that names the limit") {
  const AwsEnvironment environment;
  S3Server server({"--frozen"});
  for (int i = 0; i < 2001; ++i) {
    server.put("trial/index/" + numbered(i), "");
  }
  smd::detail::storage::s3::Bucket bucket(std::make_shared<smd::detail::storage::s3::Client>(server.settings()),
                                          {"bucket", "trial/"}, nullptr, {});
  std::size_t names = 0;
  const auto count = [&](const smd::detail::storage::s3::Bucket::Listed& page) {
    names += page.names.size();
    return smd::detail::ok();
  };
  smd::detail::storage::s3::Bucket::Pages three{3};
  CHECK(bucket.list_pages("index/", false, {}, three, count));
  CHECK(names == 2001);
  smd::detail::storage::s3::Bucket::Pages two{2};
  const auto listed = bucket.list_pages("index/", false, {}, two, count);
  REQUIRE_FALSE(listed);
  CHECK(listed.problem().kind == ProblemKind::network);
  CHECK(listed.problem().text ==
        "the listing has more than 10000 pages of 1,000 names, the most allowed (listing_pages); name a folder further "
        "down");
}

TEST_CASE_FIXTURE(WithServer, "s3: a listing that repeats the credentials is refused") {
  server.put("trial/index/000000000/x", "");
  const auto storage = open(server);
  const std::string page = "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>trial/index/000000000/" +
                           std::string(secret_key) + "</Key><Size>1</Size></Contents></ListBucketResult>";
  server.faults(R"([{"times": -1, "match": "list-type", "act": "body", "body": ")" + page + "\"}]");
  CHECK(below(*storage, "index").problem().text == "the listing repeats the credentials that it was asked for with");
}

TEST_CASE_FIXTURE(WithServer, "s3: invalid listings are errors, never an empty trial") {
  for (int i = 0; i < 1200; ++i) {
    server.put("trial/index/000000000/" + numbered(i) + "_worker_0.json", "{}");
  }
  const auto storage = open(server);
  struct Case {
    const char* act;
    const char* text;
  };
  for (const Case& each : {Case{"stuck", "the listing "}, Case{"bad-xml", "the listing is no XML"},
                           Case{"dtd", "the listing holds a document type, which S3 never sends"}}) {
    CAPTURE(each.act);
    server.faults(std::string(R"([{"times": -1, "match": "list-type", "act": ")") + each.act + "\"}]");
    for (const auto& problem : {storage->list("index/000000000").problem(), below(*storage, "index").problem()}) {
      CHECK(problem.kind == ProblemKind::network);
      INFO(problem.text);
      CHECK(problem.text.find(each.text) == 0);
    }
  }
  server.faults(R"([{"times": -1, "match": "list-type", "act": "error", "status": 500, "code": "InternalError"}])");
  CHECK(below(*storage, "index").problem().kind == ProblemKind::network);
  CHECK(open_s3("s3://bucket/trial", server.settings()).problem().kind == ProblemKind::network);
}

TEST_CASE_FIXTURE(WithServer, "s3: a value is one request") {
  std::string content(600'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) {
    content[i] = static_cast<char>(i * 7 + i / 251);
  }
  server.put("trial/events/f", content);
  const auto storage = open(server);
  (void)server.log();
  auto file = storage->open_at("events/f", 1000, 300'000);
  REQUIRE(file);
  CHECK((*file)->size() == content.size());
  std::vector<std::byte> into(300'000);
  CHECK(*(*file)->read_at(1000, into) == into.size());
  CHECK(text_of(into) == content.substr(1000, into.size()));
  CHECK(*(*file)->read_at(1500, std::span(into).first(16)) == 16);
  CHECK(text_of(std::span(into).first(16)) == content.substr(1500, 16));
  auto log = server.log();
  REQUIRE(log.size() == 1);
  CHECK(log[0]["headers"]["range"] == "bytes=1000-300999");
  CHECK(log[0]["bytes"] == 300'000);
  // The following bytes are read ahead; they must be of the same object.
  CHECK(*(*file)->read_at(301'000, std::span(into).first(100)) == 100);
  CHECK(*(*file)->read_at(301'100, std::span(into).first(100)) == 100);
  CHECK(text_of(std::span(into).first(100)) == content.substr(301'100, 100));
  log = server.log();
  REQUIRE(log.size() == 1);
  CHECK(log[0]["headers"].contains("if-match"));
  // Elsewhere, exactly the requested bytes are read.
  CHECK(*(*file)->read_at(5, std::span(into).first(10)) == 10);
  log = server.log();
  REQUIRE(log.size() == 1);
  CHECK(log[0]["headers"]["range"] == "bytes=5-14");
  CHECK(*(*file)->read_at(content.size(), into) == 0);
  CHECK(*(*file)->read_at(content.size() - 10, into) == 10);
}

TEST_CASE_FIXTURE(WithServer, "s3: large values are read in pieces, directly into their destination") {
  std::string content(20'000'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) {
    content[i] = static_cast<char>(i * 7 + i / 251);
  }
  server.put("trial/events/f", content);
  const auto storage = open(server);
  auto file = storage->open_at("events/f", 0, content.size());
  (void)server.log();
  std::vector<std::byte> into(content.size());
  CHECK(*(*file)->read_at(0, into) == into.size());
  CHECK(text_of(into) == content);
  CHECK(server.log().size() == 3);  // 20 MB in pieces of 8 MiB
}

TEST_CASE_FIXTURE(WithServer, "s3: names that are not files") {
  server.put("trial/events/empty", "");
  server.put("outside", "secret");
  const auto storage = open(server);
  CHECK(storage->open("events/no").problem().kind == ProblemKind::not_found);
  (void)server.log();
  for (const char* const name : {"", "/outside", "../outside", "events/../../outside", "events/.."}) {
    CAPTURE(name);
    CHECK(storage->open(name).problem().kind == ProblemKind::damaged);
    CHECK(storage->open_at(name, 0, 1).problem().kind == ProblemKind::damaged);
  }
  CHECK(server.log().empty());
  auto empty = storage->open_at("events/empty", 100, 100);
  REQUIRE(empty);
  CHECK((*empty)->size() == 0);
  // No allocation depends only on a number in an index file.
  CHECK(storage->open_at("events/empty", std::uint64_t{1} << 40, std::uint64_t{1} << 63));
  auto folder = storage->open_folder("events");
  Buffer buffer;
  CHECK((*folder)->read_all("no", buffer, 100).problem().kind == ProblemKind::not_found);
  CHECK((*folder)->read_all("../x", buffer, 100).problem().kind == ProblemKind::damaged);
  CHECK((*folder)->read_all("empty", buffer, 100)->empty());
}

TEST_CASE_FIXTURE(WithServer, "s3: an object that is replaced while it is read") {
  server.put("trial/events/f", std::string(1000, 'a'));
  const auto storage = open(server);
  auto file = storage->open_at("events/f", 0, 10);
  server.put("trial/events/f", std::string(1000, 'b'));
  std::vector<std::byte> into(10);
  const auto refused = (*file)->read_at(500, into);
  REQUIRE_FALSE(refused);
  CHECK(refused.problem().kind == ProblemKind::io);  // the caller opens it again
  CHECK(refused.problem().text == "was replaced while it was read; try again");
  const auto again = storage->open_at("events/f", 0, 10);
  REQUIRE(again);
  CHECK((*again)->stamp().has_value());
  CHECK((*again)->stamp() != (*file)->stamp());
}

TEST_CASE("s3: the cache identifies objects by their ETag") {
  const AwsEnvironment environment;
  const TempDir cache;
  S3Server server;
  server.put("trial/index/a.json", "first");
  server.put("trial/events/f", "0123456789");
  RemoteOptions options;
  options.cache = cache.path();
  const auto read = [&](std::string& index, std::string& event) {
    const auto storage = open(server, "s3://bucket/trial", options);
    REQUIRE(below(*storage, "index"));
    (void)server.log();
    Buffer buffer;
    index = text_of(*(*storage->open_folder("index"))->read_all("a.json", buffer, 100));
    auto file = storage->open_at("events/f", 2, 4);
    REQUIRE(file);
    CHECK((*file)->size() == 10);
    std::vector<std::byte> into(4);
    CHECK(*(*file)->read_at(2, into) == 4);
    event = text_of(into);
    return server.log();
  };
  std::string index;
  std::string event;
  CHECK(read(index, event).size() == 2);
  CHECK(index == "first");
  CHECK(event == "2345");
  // The ETag of the index object is known from the listing: no request. That of the event object is requested: no
  // bytes.
  auto log = read(index, event);
  REQUIRE(log.size() == 1);
  CHECK(log[0]["status"] == 304);
  CHECK(log[0]["bytes"] == 0);
  CHECK(index == "first");
  CHECK(event == "2345");
  server.put("trial/index/a.json", "second");
  server.put("trial/events/f", "abcdefghij");
  CHECK(read(index, event).size() == 2);
  CHECK(index == "second");
  CHECK(event == "cdef");
}
