// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <smd/place.hpp>
#include <smd/value_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool {

/// One item of a slice, as NumPy indexes: `3`, `1:8:2`, `...`.
struct SliceTerm {
  enum class Kind : std::uint8_t { index, range, ellipsis };
  Kind kind = Kind::range;
  std::int64_t index = 0;
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> stop;
  std::int64_t step = 1;  ///< Never 0.
};

/// A parsed `--slice`, independent of any tensor.
class SliceSpec {
 public:
  /// @throws InvalidValue.
  static SliceSpec parse(std::string_view text);

  /// The part that this slice takes of a value of some shape. Integers drop their axis, axes not named are kept whole.
  /// @throws InvalidValue where NumPy raises IndexError, with NumPy's text.
  [[nodiscard]] StridedPart apply(const Shape& shape) const;

 private:
  std::vector<SliceTerm> terms_;
};

/// Narrows an open value to a slice. Returns why the slice does not fit; empty if it does.
[[nodiscard]] std::string narrow(Extent& value, const SliceSpec& slice);

}  // namespace smd::tool
