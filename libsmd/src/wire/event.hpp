// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <smd/dtype.hpp>
#include <smd/shape.hpp>
#include <span>
#include <string_view>

#include "types/outcome.hpp"

namespace smd::detail::wire {

/// One tensor value as a record holds it. `bytes` lie as `TensorView` describes.
struct Value {
  Dtype dtype = Dtype::float32;
  Shape shape;
  double wall_time = 0;                   ///< Seconds since 1970.
  std::int64_t step = 0;                  ///< Global step as the record has it; the index decides.
  std::optional<std::int64_t> mode;       ///< Of the plugin data, if it is a number. Informative: the index decides.
  std::optional<std::int64_t> mode_step;  ///< Likewise.
  std::span<const std::byte> bytes;       ///< Borrows the payload, or `owned`.
  /// Set if the elements had to be decoded (`*_val` fields, strings, booleans other than 0 and 1); else null.
  std::shared_ptr<std::byte[]> owned;
  /// So many elements more than `bytes` holds, each equal to its last one: a record of 60 bytes may stand for as many
  /// as fill `limits::repeated_value_bytes`.
  std::uint64_t repeats = 0;
};

/// Parses a record's payload: the tensor tagged `tag`. Bytes of plain tensors are borrowed from `payload`, never
/// copied. Whatever is not a sound tensor of that name, with as many elements as its shape asks, is a problem whose
/// text names tensor, type and shape. Never throws.
Outcome<Value> parse_value(std::span<const std::byte> payload, std::string_view tag);

/// Writes an element over and over. Precondition: `into` has room for a whole number of them.
void fill_repeated(std::span<std::byte> into, std::span<const std::byte> element) noexcept;

/// True if all bytes are 0 or 1.
[[nodiscard]] bool is_normal_boolean(std::span<const std::byte> bytes) noexcept;

/// Turns every byte other than 0 into 1.
void normalise_boolean(std::span<std::byte> bytes) noexcept;

}  // namespace smd::detail::wire
