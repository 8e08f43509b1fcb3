// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <smd/tensor_view.hpp>
#include <span>
#include <string>
#include <string_view>

namespace smd::detail::wire {

/// Fields of a record other than the elements.
struct EventHeader {
  std::string_view tag;
  double wall_time = 0;
  std::int64_t step = 0;                  ///< Global step.
  std::optional<std::int64_t> mode_step;  ///< Plugin data; omitted if not set.
  std::optional<std::int64_t> mode;       ///< Plugin data; omitted if not set; the numbers of `smd::Mode`.
};

/// A tensor without its elements.
struct TensorExtent {
  Dtype dtype = Dtype::float64;
  std::span<const std::int64_t> shape;
  std::uint64_t bytes = 0;  ///< Of its elements.
};

/// Appends an Event message with one tensor, byte for byte as the reference writes it: string tensors without a type,
/// names of dimensions, plugin data.
void append_event(std::string& out, const EventHeader& header, const TensorView& value);

/// As above, but without the elements: the message consists of the bytes appended to `front`, the elements' bytes, and
/// the bytes appended to `back`. Not for strings, whose elements are not contiguous.
void append_event_around(std::string& front, std::string& back, const EventHeader& header, const TensorExtent& value);

}  // namespace smd::detail::wire
