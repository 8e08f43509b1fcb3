// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"

#include <smd/dtype.hpp>
#include <smd/place.hpp>
#include <smd/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace smd::detail::wire {

/// One tensor value as a record holds it. `bytes` have the layout that `TensorView` describes.
struct Value {
  Dtype dtype = Dtype::float32;
  Shape shape;
  double wall_time = 0;              ///< Seconds since 1970.
  std::int64_t step = 0;             ///< Global step in the record; the index file takes precedence.
  std::span<const std::byte> bytes;  ///< Borrowed from the payload or from `owned`.
  /// Set if the elements had to be decoded (`*_val` fields, strings, booleans other than 0 and 1, or a message that was
  /// split): `bytes` begins there. Otherwise null.
  std::shared_ptr<std::byte[]> owned;
  /// Number of further elements, each equal to the last one in `bytes`: a record of 60 bytes may represent as many
  /// elements as fill `limits::repeated_value_bytes`.
  std::uint64_t repeats = 0;

  /// Makes `bytes` the memory of `owned`, which is allocated, and returns it to be filled.
  std::span<std::byte> own(std::uint64_t size);
};

/// The kinds of values that a payload may hold.
enum class ValueKinds : std::uint8_t {
  tensors,    ///< A tensor, as the debugger's writers store every value.
  summaries,  ///< Any value that TensorBoard's writers store; an event may hold several (`wire/summary.hpp`).
  wandb,      ///< An array or a histogram in a record of W&B (`wire/wandb_record.hpp`).
};

/// Parses a record's payload and returns the tensor with the tag `tag`. Bytes of plain tensors are borrowed from
/// `payload`, never copied. Returns a problem that names tensor, type and shape unless the payload holds a valid
/// tensor of that name with as many elements as its shape says. Never throws.
///
/// With `ValueKinds::summaries`, returns the last value of that name, whatever its kind: a `simple_value` as a float32
/// scalar; a histogram as float64 of shape [k,3], left and right edge and count of each bucket; an image or a sound as
/// a string, its encoded bytes; a tensor unchanged, or the part of it that `form` says.
Outcome<Value> parse_value(std::span<const std::byte> payload, std::string_view tag,
                           ValueKinds kinds = ValueKinds::tensors, ValueForm form = {});

/// Fills `into` with copies of an element. Precondition: the size of `into` is a multiple of the element's.
void fill_repeated(std::span<std::byte> into, std::span<const std::byte> element) noexcept;

/// Returns true if all bytes are 0 or 1.
[[nodiscard]] bool is_normal_boolean(std::span<const std::byte> bytes) noexcept;

/// Sets every byte other than 0 to 1.
void normalise_boolean(std::span<std::byte> bytes) noexcept;

/// The common part of `parse_value` and `parse_outline`. With `outlined`, the payload is a skeleton from which that
/// many bytes of content were removed. Nullopt if the tensor to which they belong is ambiguous.
Outcome<std::optional<Value>> parse_event(std::span<const std::byte> payload, std::string_view tag,
                                          std::optional<std::uint64_t> outlined, ValueKinds kinds, ValueForm form);

}  // namespace smd::detail::wire
