// SPDX-License-Identifier: Apache-2.0
#include "s3/cache.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_dir.hpp"

using smd::detail::storage::s3::Cache;
using smd::detail::storage::s3::open_cache_folder;
using smd::test::read_file;
using smd::test::TempDir;

namespace {

/// Returns all files except the marker.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.symlink_status().type() == std::filesystem::file_type::regular &&
        entry.path().filename() != "CACHEDIR.TAG") {
      files.push_back(entry.path());
    }
  }
  return files;
}

std::uint64_t bytes_in(const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const std::string& file : files_in(folder)) {
    bytes += std::filesystem::file_size(file);
  }
  return bytes;
}

struct Said {
  std::vector<std::string> texts;
  std::function<void(std::string)> say() {
    return [this](std::string text) { texts.push_back(std::move(text)); };
  }
};

}  // namespace

TEST_CASE("s3 cache: entries are found") {
  const TempDir dir;
  Said said;
  const auto cache = std::make_shared<Cache>(dir / "deep/cache", 1 << 20, said.say());
  CHECK_FALSE(cache->find("name"));
  const std::string data("data\0with NUL", 13);
  cache->keep("name", {"\"etag\"", 99, data});
  cache->keep("empty", {"\"e\"", 0, ""});
  const auto found = Cache(dir / "deep/cache", 1 << 20, said.say()).find("name");
  REQUIRE(found);
  CHECK(found->etag == "\"etag\"");
  CHECK(found->object_size == 99);
  CHECK(found->data == data);
  CHECK(cache->find("empty")->data.empty());
  CHECK_FALSE(cache->find("other"));
  cache->keep("name", {"\"new\"", 1, "x"});
  CHECK(cache->find("name")->etag == "\"new\"");
  cache->keep("nameless", {"", 1, "x"});  // an object without ETag cannot be recognised again
  CHECK_FALSE(cache->find("nameless"));
  CHECK(said.texts.empty());
  struct stat status;
  REQUIRE(::stat((dir / "deep/cache").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("s3 cache: each flipped bit and each truncation is detected") {
  const TempDir dir;
  Said said;
  const auto cache = std::make_shared<Cache>(dir / "cache", 1 << 20, said.say());
  cache->keep("name", {"\"etag\"", 99, "some data"});
  const std::string file = files_in(dir / "cache").at(0);
  const std::string good = read_file(file);
  const auto write = [&](const std::string& content) { std::ofstream(file, std::ios::binary) << content; };
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    write(bad);
    CHECK_FALSE(cache->find("name"));
    CHECK_FALSE(std::filesystem::exists(file));
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    write(good.substr(0, size));
    CHECK_FALSE(cache->find("name"));
  }
  write(good + "x");
  CHECK_FALSE(cache->find("name"));
  write(good);
  CHECK(cache->find("name"));
  CHECK(said.texts.size() == 1);
}

TEST_CASE("s3 cache: its size is bounded") {
  const TempDir dir;
  Said said;
  constexpr std::uint64_t most = 100'000;
  const auto cache = std::make_shared<Cache>(dir / "cache", most, said.say());
  for (int i = 0; i < 300; ++i) {
    cache->keep("name" + std::to_string(i), {"\"e\"", 1, std::string(1000, 'x')});
  }
  // The folder is measured after every sixteenth of the bound.
  CHECK(bytes_in(dir / "cache") <= most + most / 16 + 2000);
  CHECK(bytes_in(dir / "cache") >= most / 2);
  CHECK(cache->find("name299"));
  CHECK_FALSE(cache->find("name0"));
}

TEST_CASE("s3 cache: folders that cannot be used") {
  const TempDir dir;
  Said said;
  const auto no_folder = std::make_shared<Cache>(dir.write("file", "") + "/cache", 1 << 20, said.say());
  CHECK_FALSE(no_folder->usable());
  no_folder->keep("name", {"\"e\"", 1, "x"});
  CHECK_FALSE(no_folder->find("name"));
  CHECK(said.texts.size() == 1);
  if (::geteuid() == 0) {
    const auto full = std::make_shared<Cache>(dir / "full", 1 << 20, said.say());
    std::filesystem::remove_all(dir / "full");
    full->keep("name", {"\"e\"", 1, "x"});  // no folder to write to
    full->keep("name", {"\"e\"", 1, "x"});
    CHECK(said.texts.size() == 2);
    CHECK_FALSE(full->usable());
  }
}

TEST_CASE("s3 cache: a process killed at any byte leaves the earlier entry") {
  const TempDir dir;
  Said said;
  const auto cache = std::make_shared<Cache>(dir / "cache", 1 << 20, said.say());
  cache->keep("name", {"\"old\"", 3, "old"});
  const std::string data(300, 'x');
  constexpr rlim_t size = 12 + 24 + 5 + 300;  // the first line, numbers, ETag, data
  std::size_t killed = 0;
  for (rlim_t limit = 0; limit < size; limit += limit < 60 ? 1 : 20) {
    CAPTURE(limit);
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit none{0, 0};
      const rlimit bytes{limit, limit};
      ::setrlimit(RLIMIT_CORE, &none);
      ::setrlimit(RLIMIT_FSIZE, &bytes);  // one byte more, and SIGXFSZ ends the process
      Cache(dir / "cache", 1 << 20, [](const std::string&) {}).keep("name", {"\"new\"", 300, data});
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGXFSZ);
    ++killed;
    const auto found = Cache(dir / "cache", 1 << 20, said.say()).find("name");
    REQUIRE(found);
    CHECK(found->data == "old");
  }
  CHECK(said.texts.empty());
  CHECK(files_in(dir / "cache").size() == 1 + killed);
  // Their temporary files are removed once they are old enough.
  for (const std::string& file : files_in(dir / "cache")) {
    if (file.find("tmp-") != file.npos) {
      std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
    }
  }
  Cache(dir / "cache", 1 << 20, said.say()).keep("name", {"\"new\"", 300, data});
  CHECK(files_in(dir / "cache").size() == 1);
  CHECK(cache->find("name")->data == data);
  CHECK(said.texts.empty());
}

TEST_CASE("s3 cache: many threads and processes at once") {
  const TempDir dir;
  Said said;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int worker = 0; worker < 8; ++worker) {
    threads.emplace_back([&] {
      const auto cache = std::make_shared<Cache>(dir / "cache", 50'000, [](const std::string&) {});
      for (int i = 0; i < 200; ++i) {
        const std::string name = "name" + std::to_string(i % 20);
        if (const auto found = cache->find(name); found && found->data != std::string(1000, name.back())) {
          ++wrong;
        }
        cache->keep(name, {"\"e\"", 1, std::string(1000, name.back())});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(wrong == 0);
  for (const std::string& file : files_in(dir / "cache")) {
    CHECK(file.find("tmp-") == std::string::npos);
  }
}

TEST_CASE("s3 cache: a folder that is not a cache is refused and not changed") {
  const TempDir dir;
  const std::string home = dir / "home";
  dir.write("home/go/main.go", std::string(3000, 'g'));
  dir.write("home/ab/thesis", std::string(3000, 't'));
  dir.write("home/cd/" + std::string(62, '0'), std::string(3000, 'o'));  // a name such as entries have
  const auto refused = open_cache_folder(home);
  CHECK(refused.foreign);
  CHECK_FALSE(refused.root);
  CHECK(refused.trouble.find("holds files, but no marker of a cache (CACHEDIR.TAG)") == 0);
  Said said;
  const auto cache = std::make_shared<Cache>(home, 1000, said.say());
  CHECK_FALSE(cache->usable());
  for (int i = 0; i < 20; ++i) {
    cache->keep("name" + std::to_string(i), {"\"e\"", 1, std::string(1000, 'x')});
  }
  CHECK(files_in(home).size() == 3);
  CHECK(bytes_in(home) == 9000);
  // Another program's cache is refused too.
  dir.write("home/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# This folder was made by cargo.\n");
  CHECK(open_cache_folder(home).foreign);
  // So is a folder whose marker is a link to ours.
  REQUIRE(open_cache_folder(dir / "own").trouble.empty());
  dir.write("tricky/file", "");
  std::filesystem::create_symlink(dir / "own/CACHEDIR.TAG", dir / "tricky/CACHEDIR.TAG");
  CHECK(open_cache_folder(dir / "tricky").foreign);
}

TEST_CASE("s3 cache: an empty folder and a new one become caches, and are recognised") {
  const TempDir dir;
  dir.make_dir("empty");
  for (const std::string& path : {dir / "empty", dir / "new", dir / "new-too/"}) {
    CHECK(open_cache_folder(path).trouble.empty());
    CHECK(open_cache_folder(path).trouble.empty());
  }
  // What backup programs look for: bford.info/cachedir.
  CHECK(read_file(dir / "new/CACHEDIR.TAG").find("Signature: 8a477f597d28d172789f06886806bc55\n") == 0);
  // A process that died before it had written the marker leaves only this.
  dir.write("begun/tmp-12-34-56-0", "Signature: 8a47");
  CHECK(open_cache_folder(dir / "begun").trouble.empty());
}

TEST_CASE("s3 cache: only files with names of the cache are removed, and no link is followed") {
  const TempDir dir;
  Said said;
  constexpr std::uint64_t most = 50'000;
  const std::string entry_name(62, 'a');
  dir.write("elsewhere/" + entry_name, std::string(3000, 'e'));
  const auto cache = std::make_shared<Cache>(dir / "cache", most, said.say());
  for (const std::string folder : {"00", "7f", "ff"}) {
    dir.write("cache/" + folder + "/README", std::string(3000, 'r'));
    dir.write("cache/" + folder + "/" + std::string(62, 'A'), "capitals");
    dir.write("cache/" + folder + "/" + std::string(61, 'a'), "short");
    dir.write("cache/" + folder + "/tmp-note", "a user's");
    std::filesystem::create_symlink(dir / ("elsewhere/" + entry_name), dir / ("cache/" + folder + "/" + entry_name));
  }
  dir.write("cache/go/main.go", "two letters, not two digits");
  std::filesystem::create_directory_symlink(dir / "elsewhere", dir / "cache/0a");
  for (const std::string& file : files_in(dir / "cache")) {  // the oldest, which would be removed first
    std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(9));
  }
  const std::size_t others = files_in(dir / "cache").size();
  std::size_t kept = 0;
  for (int i = 0; i < 300 && cache->usable(); ++i) {
    cache->keep("name" + std::to_string(i), {"\"e\"", 1, std::string(1000, 'x')});
    ++kept;
  }
  CHECK(kept > 100);
  CHECK(files_in(dir / "elsewhere").size() == 1);
  CHECK(std::filesystem::exists(dir / "cache/go/main.go"));
  std::size_t left = 0;
  for (const std::string folder : {"00", "7f", "ff"}) {
    for (const std::string& name :
         {std::string("README"), std::string(62, 'A'), std::string(61, 'a'), std::string("tmp-note"), entry_name}) {
      left += std::filesystem::exists(dir / ("cache/" + folder + "/" + name)) ? 1 : 0;
    }
  }
  CHECK(left == 15);
  CHECK(others == 13);                                    // links are not regular files
  CHECK(files_in(dir / "cache").size() < others + kept);  // entries were removed
}

TEST_CASE("s3 cache: several processes create it at once") {
  const TempDir dir;
  constexpr int processes = 6;
  for (int round = 0; round < 40; ++round) {
    const std::string folder = dir / ("cache" + std::to_string(round));
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        const auto cache = std::make_shared<Cache>(folder, 1 << 20, [](const std::string&) {});
        const std::string name = "name" + std::to_string(i);
        cache->keep(name, {"\"e\"", 1, name});
        ::_exit(cache->usable() && cache->find(name) ? 0 : 1);
      }
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      CHECK(status == 0);
    }
    CHECK(files_in(folder).size() == processes);
  }
}
