// SPDX-License-Identifier: Apache-2.0
// Inflates the input from front to back, and then a range of it, which must have the same bytes.
#include "storage/inflated_file.hpp"
#include "wire/first_bytes.hpp"

#include "target.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::storage;

namespace {

class Input final : public File {
 public:
  explicit Input(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    const std::size_t got = offset < bytes_.size() ? std::min<std::size_t>(into.size(), bytes_.size() - offset) : 0;
    if (got != 0) {
      std::memcpy(into.data(), bytes_.data() + offset, got);
    }
    return got;
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

SMD_FUZZ_ENTRY(inflate)(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> input = std::as_bytes(std::span(data, size));
  (void)wire::looks_compressed(input);
  const InflatedFile file(std::make_unique<Input>(input));
  std::vector<std::byte> all;
  std::array<std::byte, 4096> block;
  while (all.size() < (std::size_t{1} << 20)) {
    const auto got = file.read_at(all.size(), block);
    if (!got) {
      const ProblemKind kind = got.problem().kind;
      SMD_REQUIRE(kind == ProblemKind::damaged || kind == ProblemKind::not_yet);  // invalid, or cut off
      SMD_REQUIRE(!got.problem().offset && got.problem().text.ends_with(" of the file itself"));
      break;
    }
    all.insert(all.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(*got));
    if (*got < block.size()) {
      break;
    }
  }
  if (all.size() >= 3) {
    const std::size_t start = all.size() / 3;
    std::vector<std::byte> range(start);
    const auto got = file.read_at(start, range);
    SMD_REQUIRE(got && *got == start);
    SMD_REQUIRE(std::equal(range.begin(), range.end(), all.begin() + static_cast<std::ptrdiff_t>(start)));
  }
  return 0;
}
