// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/whole_file.hpp"

#include "text/limits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace smd::test {
namespace {

using detail::Buffer;
using detail::Outcome;
namespace layout = detail::layout;
namespace storage = detail::storage;

/// Files without an end. Counts what it is allowed to read at once, but of short files.
class Endless final : public storage::Folder {
 public:
  Outcome<std::span<const std::byte>> read_all(std::string_view name, Buffer& /*buffer*/, std::uint64_t most) override {
    if (most > layout::short_file_bytes) {
      const std::uint64_t now = reading += most;
      std::uint64_t seen = most_at_once;
      while (now > seen && !most_at_once.compare_exchange_weak(seen, now)) {
      }
      std::this_thread::yield();
      reading -= most;
    }
    ++calls;
    return storage::too_long(std::string(name), most);
  }
  void announce(std::span<const std::string_view> /*names*/) override {}

  std::atomic<std::uint64_t> reading = 0;
  std::atomic<std::uint64_t> most_at_once = 0;
  std::atomic<int> calls = 0;
};

/// A file of so many bytes.
class OfLength final : public storage::Folder {
 public:
  explicit OfLength(std::uint64_t bytes) : bytes_(bytes) {}
  Outcome<std::span<const std::byte>> read_all(std::string_view name, Buffer& /*buffer*/, std::uint64_t most) override {
    if (bytes_ > most) {
      return storage::too_long(std::string(name), most);
    }
    return std::span<const std::byte>(content_);
  }
  void announce(std::span<const std::string_view> /*names*/) override {}

 private:
  std::uint64_t bytes_;
  std::array<std::byte, 3> content_{};
};

TEST_CASE("files without an end share the memory of one") {
  Endless folder;
  layout::LongFiles files;
  std::vector<std::thread> threads;
  for (int n = 0; n < 16; ++n) {
    threads.emplace_back([&] {
      Buffer buffer;
      const layout::WholeFile file = layout::read_whole(folder, "f", buffer, files);
      CHECK_FALSE(file.text);
      CHECK(storage::is_too_long(file.text.problem(), limits::json_bytes));
    });
  }
  std::for_each(threads.begin(), threads.end(), [](std::thread& thread) { thread.join(); });
  CHECK(folder.most_at_once <= limits::json_bytes);
  CHECK(folder.calls == 16 * 3);  // as a short file, as a longer one, as the longest
}

TEST_CASE("a file is read with the share that its length takes") {
  layout::LongFiles files;
  Buffer buffer;
  for (const std::uint64_t bytes : {std::uint64_t{0}, layout::short_file_bytes}) {
    OfLength folder(bytes);
    const layout::WholeFile file = layout::read_whole(folder, "f", buffer, files);
    CHECK(file.text);
    CHECK_FALSE(file.share);
  }
  for (const std::uint64_t bytes : {layout::short_file_bytes + 1, limits::json_bytes / 8 + 1, limits::json_bytes}) {
    OfLength folder(bytes);
    const layout::WholeFile file = layout::read_whole(folder, "f", buffer, files);
    CHECK(file.text);
    CHECK(file.share);
  }
  OfLength beyond(limits::json_bytes + 1);
  CHECK_FALSE(layout::read_whole(beyond, "f", buffer, files).text);
}

}  // namespace
}  // namespace smd::test
