// SPDX-License-Identifier: Apache-2.0
#include "local_support.hpp"

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

using namespace smd;
using namespace smd::test;

TEST_CASE("storage: a range of a file of which nothing else is wanted") {
  const TempDir dir;
  const TempDir outside;
  dir.write("sub/a", "0123456789");
  outside.write("b", "0123456789");
  link_to("sub/a", dir / "inside");
  link_to(outside / "b", dir / "outside");
  REQUIRE(::mkfifo((dir / "fifo").c_str(), 0600) == 0);
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir.path(), {.resolve = way});
    std::array<std::byte, 4> bytes{};
    const auto read = [&](std::string_view name, std::uint64_t offset) {
      return storage->read_once(name, offset, bytes) ? text_of(bytes) : std::string();
    };
    CHECK(read("sub/a", 0) == "0123");
    CHECK(read("sub/a", 6) == "6789");
    CHECK(read("inside", 3) == "3456");
    // All or nothing.
    CHECK(read("sub/a", 7).empty());
    CHECK(read("sub/a", 10).empty());
    CHECK(read("sub/a", std::numeric_limits<std::uint64_t>::max()).empty());
    CHECK(read("sub/none", 0).empty());
    CHECK(read("sub", 0).empty());
    CHECK(read("fifo", 0).empty());
    CHECK(read("outside", 0).empty());
    CHECK(read("", 0).empty());
    CHECK(read("sub/../sub/a", 0).empty());
    CHECK(read(dir / "sub/a", 0).empty());
  }
}
