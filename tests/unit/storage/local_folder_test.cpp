// SPDX-License-Identifier: Apache-2.0
#include "local_support.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

using namespace smd;
using namespace smd::test;
using detail::Buffer;

namespace {

constexpr std::uint64_t most = 1 << 20;

/// Bytes of which any part shows where it is from.
std::string pattern(std::size_t size) {
  std::string text;
  text.reserve(size + 8);
  for (std::size_t i = 0; text.size() < size; ++i) {
    text += std::to_string(i) + ' ';
  }
  text.resize(size);
  return text;
}

}  // namespace

TEST_CASE("storage: reading whole files of a folder") {
  const TempDir dir;
  // The first buffer holds 65,536.
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4500}, std::size_t{65535},
                                 std::size_t{65536}, std::size_t{65537}, std::size_t{200'000}}) {
    dir.write("index/" + std::to_string(size), pattern(size));
  }
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir.path(), {way, true});
    const auto folder = storage->open_folder("index");
    REQUIRE(folder);
    Buffer reused;
    for (const std::size_t size : {std::size_t{65536}, std::size_t{0}, std::size_t{200'000}, std::size_t{1},
                                   std::size_t{65537}, std::size_t{4500}, std::size_t{65535}}) {
      CAPTURE(size);
      const std::string name = std::to_string(size);
      Buffer fresh;
      for (Buffer* buffer : {&reused, &fresh}) {
        const auto all = (*folder)->read_all(name, *buffer, most);
        REQUIRE(all);
        CHECK(text_of(*all) == pattern(size));
        CHECK(buffer->capacity() >= all->size());
      }
      CHECK((*folder)->read_all(name, reused, size));
      if (size > 0) {
        const auto all = (*folder)->read_all(name, reused, size - 1);
        REQUIRE_FALSE(all);
        CHECK(all.problem().kind == ProblemKind::damaged);
        CHECK(all.problem().file == "index/" + name);
      }
    }
    CHECK((*folder)->read_all("nothing", reused, most).problem().kind == ProblemKind::not_found);
  }
}

TEST_CASE("storage: names within a folder") {
  const TempDir dir;
  dir.write("outside", "secret");
  dir.write("trial/a", "data");
  dir.write("trial/index/b", "more");
  link_to("../a", dir / "trial/index/in");
  link_to("../../outside", dir / "trial/index/out");
  link_to("loop", dir / "trial/index/loop");
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir / "trial", {way, true});
    const auto folder = storage->open_folder("index/");
    REQUIRE(folder);
    Buffer buffer;
    for (const std::string& name : {std::string("../a"), std::string("./b"), std::string("b/"), std::string(".."),
                                    std::string("."), std::string(), dir / "outside", std::string("b\0", 2),
                                    std::string("out"), std::string("loop"), std::string(256, 'n')}) {
      CAPTURE(name);
      const auto all = (*folder)->read_all(name, buffer, most);
      REQUIRE_FALSE(all);
      CHECK(all.problem().kind == ProblemKind::damaged);
      CHECK(all.problem().file == "index/" + name);
    }
    const auto linked = (*folder)->read_all("in", buffer, most);
    REQUIRE(linked);
    CHECK(text_of(*linked) == "data");
    CHECK(storage->open_folder("nothing").problem().kind == ProblemKind::not_found);
    CHECK(storage->open_folder("a").problem().kind == ProblemKind::damaged);
  }
}

TEST_CASE("storage: a file whose length is not known beforehand, and longer than the buffer") {
  // The kernel says 0 of its list of this process's mappings, and gives it in pieces. Mappings of alternating
  // protection are not merged: a line of at least 30 bytes for each page.
  const long page = ::sysconf(_SC_PAGESIZE);
  const std::size_t pages = 4000;
  void* mapped = ::mmap(nullptr, pages * static_cast<std::size_t>(page), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(mapped != MAP_FAILED);
  auto* first = static_cast<std::byte*>(mapped);
  for (std::size_t i = 0; i < pages; i += 2) {
    REQUIRE(::mprotect(first + i * static_cast<std::size_t>(page), static_cast<std::size_t>(page), PROT_READ) == 0);
  }
  const auto storage = open_storage("/proc/self");
  const auto folder = storage->open_folder("");
  REQUIRE(folder);
  Buffer buffer;
  const auto all = (*folder)->read_all("maps", buffer, most);
  REQUIRE(all);
  const std::string text = text_of(*all);
  CHECK(text.size() >= pages * 30);
  std::size_t at = 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < pages; ++i) {  // In order of address, so the search never goes back.
    char start[32];
    std::snprintf(start, sizeof start, "%08zx-",
                  reinterpret_cast<std::uintptr_t>(first + i * static_cast<std::size_t>(page)));
    const auto line = text.find(start, at);
    // A neighbour of the same protection may have been merged with the first or last.
    if (line != std::string::npos) {
      at = line;
      ++found;
    }
  }
  CHECK(found >= pages - 2);
  const auto too_long = (*folder)->read_all("maps", buffer, 1000);
  REQUIRE_FALSE(too_long);
  CHECK(too_long.problem().kind == ProblemKind::damaged);
  ::munmap(mapped, pages * static_cast<std::size_t>(page));
}

TEST_CASE("storage: a file that is cut and written again while it is read") {
  const TempDir dir;
  const std::string whole = pattern(150'000);
  constexpr std::size_t always = 70'000;
  dir.write("a", whole);
  const auto storage = open_storage(dir.path());
  const auto folder = storage->open_folder("");
  REQUIRE(folder);
  std::atomic<bool> over = false;
  std::thread writer([&] {
    const detail::Descriptor fd(::open((dir / "a").c_str(), O_WRONLY | O_CLOEXEC));
    while (!over) {
      if (::ftruncate(fd.get(), always) != 0 || ::pwrite(fd.get(), whole.data() + always, whole.size() - always,
                                                         always) != static_cast<ssize_t>(whole.size() - always)) {
        return;
      }
    }
  });
  Buffer buffer;
  bool sound = true;
  for (int i = 0; i < 500; ++i) {
    const auto all = (*folder)->read_all("a", buffer, most);
    const std::string text = all ? text_of(*all) : std::string();
    sound =
        sound && text.size() >= always && text.size() <= whole.size() && text.compare(0, always, whole, 0, always) == 0;
    // Beyond what is always there the kernel may show the NULs that cutting leaves in a page.
    for (std::size_t at = always; sound && at < text.size(); ++at) {
      sound = text[at] == whole[at] || text[at] == '\0';
    }
  }
  over = true;
  writer.join();
  CHECK(sound);
}

TEST_CASE("storage: announcing changes nothing but the time") {
  const TempDir dir;
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) {
    names.push_back(std::to_string(i));
    const std::string path = dir.write("index/" + names.back(), pattern(4500) + names.back());
    // Out of the page cache, where the file system allows.
    const detail::Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (i % 10 == 0) {  // Among them the first, which tells that it is worth while.
      ::fdatasync(fd.get());
      ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
    }
  }
  names.insert(names.begin() + 7, {"nothing", "../a", ""});
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto storage = open_storage(dir.path());
  const auto folder = storage->open_folder("index");
  REQUIRE(folder);
  (*folder)->announce({});
  (*folder)->announce(views);
  Buffer buffer;
  int right = 0;
  for (const auto name : views) {
    const auto all = (*folder)->read_all(name, buffer, most);
    right += all && text_of(*all) == pattern(4500) + std::string(name) ? 1 : 0;
  }
  CHECK(right == 300);
}

TEST_CASE("storage: a folder that is listed and read without being opened again") {
  const TempDir dir;
  dir.write("trial/index/a", "one");
  dir.write("trial/index/b/c", "two");
  dir.write("outside", "secret");
  link_to("a", dir / "trial/index/in");
  link_to("../../outside", dir / "trial/index/out");
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir / "trial", {way, true});
    auto listed = storage->open_listed("index");
    REQUIRE(listed);
    std::vector<std::string> names;
    for (const detail::storage::DirEntry& entry : listed->entries) {
      names.push_back(entry.name);
    }
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{"a", "b", "in", "out"});
    CHECK(listed->stamp == storage->stamp("index"));
    REQUIRE(listed->folder);
    Buffer buffer;
    const auto all = listed->folder->read_all("a", buffer, most);
    REQUIRE(all);
    CHECK(text_of(*all) == "one");
    for (const std::string name : {"a", "b", "in"}) {
      CAPTURE(name);
      REQUIRE(listed->folder->stamp(name));
      CHECK(listed->folder->stamp(name) == storage->file_stamp("index/" + name));
    }
    for (const std::string name : {"out", "nothing", "..", "b/c"}) {
      CAPTURE(name);
      CHECK_FALSE(listed->folder->stamp(name));
    }
    dir.write("trial/index/" + std::to_string(static_cast<int>(way)), "three");
    const auto again = storage->open_listed("index");
    REQUIRE(again);
    CHECK(again->entries.size() == listed->entries.size() + 1);
    std::filesystem::remove(dir / ("trial/index/" + std::to_string(static_cast<int>(way))));
    CHECK(storage->open_listed("nothing").problem().kind == ProblemKind::not_found);
    CHECK(storage->open_listed("../outside").problem().kind == ProblemKind::damaged);
    CHECK(storage->open_listed("index/a").problem().kind == ProblemKind::damaged);
  }
}
