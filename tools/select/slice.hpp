// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <smd/shape.hpp>
#include <smd/tensor_view.hpp>
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

/// Where the elements of a slice lie among those of the whole: counted in elements, not bytes.
struct StridedLayout {
  Shape shape;
  std::vector<std::int64_t> strides;  ///< One per axis; may be negative.
  std::int64_t offset = 0;            ///< Of the first element.
};

/// The runs of adjacent elements of a part, in C order of the part: where each begins among those of the whole, and its
/// length.
class PartRuns {
 public:
  /// How many elements a run may have.
  enum class Length : std::uint8_t { any, one };

  explicit PartRuns(StridedLayout part, Length length = Length::any);

  [[nodiscard]] bool done() const noexcept { return count_ == 0; }
  [[nodiscard]] std::int64_t first() const noexcept { return first_; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  void next() noexcept;

 private:
  StridedLayout part_;
  std::size_t outer_;                  // axes that are not within a run
  std::vector<std::int64_t> counter_;  // along these
  std::int64_t first_;
  std::int64_t count_;
};

/// The same elements in the order of their places.
[[nodiscard]] StridedLayout ascending(StridedLayout part);

/// Where the elements, taken in that order, go if the part is laid out as a value of its own.
[[nodiscard]] StridedLayout places_of(const StridedLayout& part);

/// A parsed `--slice`, independent of any tensor.
class SliceSpec {
 public:
  /// @throws InvalidValue.
  static SliceSpec parse(std::string_view text);

  /// The part that this slice takes of a value of some shape. Integers drop their axis, axes not named are kept whole.
  /// @throws InvalidValue where NumPy raises IndexError, with NumPy's text.
  [[nodiscard]] StridedLayout apply(const Shape& shape) const;

  [[nodiscard]] const std::vector<SliceTerm>& terms() const noexcept { return terms_; }

 private:
  std::vector<SliceTerm> terms_;
};

/// Copies the part, also of strings.
[[nodiscard]] TensorValue take(const TensorValue& value, const StridedLayout& part);

}  // namespace smd::tool
