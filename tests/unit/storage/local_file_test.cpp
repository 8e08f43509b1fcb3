// SPDX-License-Identifier: Apache-2.0
#include "local_support.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>

using namespace smd;
using namespace smd::test;

TEST_CASE("storage: reading ranges of a file") {
  const TempDir dir;
  dir.write("a", "0123456789");
  const auto storage = open_storage(dir.path());
  const auto file = storage->open("a");
  REQUIRE(file);
  CHECK((*file)->size() == 10);
  std::byte bytes[4];
  const auto read = [&](std::uint64_t offset) {
    const auto n = (*file)->read_at(offset, bytes);
    REQUIRE(n);
    return text_of(std::span(bytes).first(*n));
  };
  CHECK(read(0) == "0123");
  CHECK(read(6) == "6789");
  CHECK(read(8) == "89");
  CHECK(read(10).empty());
  CHECK(read(std::uint64_t{1} << 40).empty());
  CHECK(read(std::uint64_t{std::numeric_limits<std::int64_t>::max()}).empty());
  CHECK(read(std::numeric_limits<std::uint64_t>::max()).empty());
}

TEST_CASE("storage: a file that changes while it is open") {
  const TempDir dir;
  dir.write("a", "0123456789");
  const auto storage = open_storage(dir.path());
  const auto file = storage->open("a");
  REQUIRE(file);
  std::vector<std::byte> bytes(100);

  const detail::Descriptor writer(::open((dir / "a").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  REQUIRE(::write(writer.get(), "abc", 3) == 3);
  auto n = (*file)->read_at(0, bytes);
  REQUIRE(n);
  CHECK(text_of(std::span(bytes).first(*n)) == "0123456789abc");
  CHECK((*file)->size() == 10);

  REQUIRE(::ftruncate(writer.get(), 4) == 0);
  n = (*file)->read_at(2, bytes);
  REQUIRE(n);
  CHECK(text_of(std::span(bytes).first(*n)) == "23");
  n = (*file)->read_at(8, bytes);
  REQUIRE(n);
  CHECK(*n == 0);

  REQUIRE(::unlink((dir / "a").c_str()) == 0);
  n = (*file)->read_at(0, bytes);
  REQUIRE(n);
  CHECK(text_of(std::span(bytes).first(*n)) == "0123");
  CHECK(Read(storage->open("a")).problem.kind == ProblemKind::not_found);
}

TEST_CASE("storage: the stamp of an open file tells whether its bytes may have changed") {
  const TempDir dir;
  const auto an_hour_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(dir.write("a", "0123456789"), an_hour_ago);
  std::filesystem::last_write_time(dir.write("b", "0123456789"), an_hour_ago);
  const auto storage = open_storage(dir.path());
  const auto file = storage->open("a");
  const auto again = storage->open("a");
  const auto other = storage->open("b");
  REQUIRE(file);
  REQUIRE(again);
  REQUIRE(other);
  const auto stamp = (*file)->stamp();
  REQUIRE(stamp);
  CHECK((*again)->stamp() == stamp);
  CHECK((*other)->stamp() != stamp);
  const auto of_other = (*other)->stamp();
  REQUIRE(::chmod((dir / "a").c_str(), 0600) == 0);
  REQUIRE(::link((dir / "a").c_str(), (dir / "c").c_str()) == 0);
  CHECK((*file)->stamp() == stamp);

  dir.write("b", "9876543210");  // in place
  CHECK((*other)->stamp() != of_other);
  REQUIRE(::rename((dir / "b").c_str(), (dir / "a").c_str()) == 0);
  CHECK((*file)->stamp() == stamp);  // its bytes are the same
  const auto replaced = storage->open("a");
  REQUIRE(replaced);
  CHECK((*replaced)->stamp() != stamp);
}

TEST_CASE("storage: what is no regular file") {
  const TempDir dir;
  dir.make_dir("folder");
  REQUIRE(::mkfifo((dir / "fifo").c_str(), 0600) == 0);
  const detail::Descriptor bound(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = dir / "socket";
  REQUIRE(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  REQUIRE(::bind(bound.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  link_to("fifo", dir / "link");

  const auto check = [](Storage& storage, const char* name, std::string_view text) {
    CAPTURE(name);
    const Read read(storage.open(name));  // A FIFO without a writer must not hold it up.
    CHECK(read.problem.kind == ProblemKind::damaged);
    CHECK(read.problem.text == text);
    const auto folder = storage.open_folder("");
    REQUIRE(folder);
    detail::Buffer buffer;
    const auto all = (*folder)->read_all(name, buffer, 1000);
    REQUIRE_FALSE(all);
    CHECK(all.problem().kind == ProblemKind::damaged);
    CHECK(all.problem().file == name);
  };
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir.path(), {way, true});
    check(*storage, "folder", "is a directory, not a file");
    check(*storage, "fifo", "is a FIFO, not a regular file");
    check(*storage, "link", "is a FIFO, not a regular file");
    check(*storage, "socket", "is a socket or device, not a regular file");
    const auto devices = open_storage("/dev", {way, true});
    check(*devices, "null", "is a device, not a regular file");
  }
}
