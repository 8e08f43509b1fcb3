// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/shape.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace smd::detail::storage {
class ElementSource;
}

namespace smd {

/// What stands at a place.
enum class ValueForm : std::uint8_t {
  record,    ///< A framed record, which contains type and shape.
  images,    ///< A framed record of pictures; the value is the encoded ones, without width and height before them.
  clips,     ///< A framed record of sounds and labels; the value is the encoded sounds.
  elements,  ///< Bare elements, which need not be aligned.
  number,    ///< Nothing: the place holds the number itself.
};

/// What many places have in common.
struct ValueType {
  ValueForm form = ValueForm::record;
  Dtype dtype = Dtype::float32;  ///< Of elements and numbers; a record has its own.
  Shape shape = {};              ///< Of elements.
  /// Of elements: the distance of neighbours along each axis, in elements, not negative. Empty: C order without gaps.
  std::vector<std::int64_t> strides = {};
  /// The element type as the file names it, if nothing can be read: the library does not read that type, or the file
  /// has only a shape. `dtype` then means nothing.
  std::string unread_type = {};
  /// What elements mean beside their type, in words: `scale 0.1, zero point 3` of a quantised tensor, or the checksums
  /// of scales along an axis, if the file has them; `dense size [3, 2]` of the indices of a sparse tensor. Empty for
  /// other tensors.
  std::string meaning = {};
  /// Of elements: what the library must know besides to read them, such as their checksum; may be null.
  std::shared_ptr<const detail::storage::ElementSource> source = {};

  bool operator==(const ValueType&) const = default;
};

/// Where one value of a trial is. To read it, see `value_reader.hpp`. Copies share file name and type.
struct Place {
  std::shared_ptr<const std::string> file = {};  ///< Relative to the trial. Null only in an empty object.
  std::shared_ptr<const ValueType> type = {};    ///< Null: a whole record.
  std::uint64_t offset = 0;                      ///< In the file, of the record or of the first element.
  std::uint64_t length = 0;                      ///< In bytes: to the end of the record or of the last element.
  std::uint64_t number = 0;  ///< Of a number: the bytes of its element, little-endian, from the low end.
  double wall_time = 0;      ///< Of elements and numbers: seconds since 1970 at which they were written.

  [[nodiscard]] ValueForm form() const noexcept { return type ? type->form : ValueForm::record; }
  /// Returns whether the value has a record, which contains type and shape.
  [[nodiscard]] bool has_record() const noexcept {
    return form() != ValueForm::elements && form() != ValueForm::number;
  }

  bool operator==(const Place& other) const {
    const auto same = [](const auto& a, const auto& b) { return a == b || (a && b && *a == *b); };
    return offset == other.offset && length == other.length && number == other.number && wall_time == other.wall_time &&
           same(file, other.file) && same(type, other.type);
  }
};

/// Some elements of a value: element [i, j, …] of the part is element `offset` + i * strides[0] + j * strides[1] + … of
/// the value in C order.
struct StridedPart {
  Shape shape;
  std::vector<std::int64_t> strides;  ///< One for each axis; may be negative.
  std::int64_t offset = 0;
};

}  // namespace smd
