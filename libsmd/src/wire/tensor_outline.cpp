// SPDX-License-Identifier: Apache-2.0
// Reads what a scan of an event file needs from a TensorProto.
#include "wire/little_endian.hpp"
#include "wire/message.hpp"
#include "wire/summary.hpp"
#include "wire/tensor_proto.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::wire {
namespace {

constexpr std::size_t most_bytes = sizeof(ScalarBits::bits);

std::uint64_t bits_of(std::span<const std::byte> element) noexcept {
  std::uint64_t bits = 0;
  for (std::size_t at = 0; at < element.size(); ++at) {
    bits |= std::to_integer<std::uint64_t>(element[at]) << (8 * at);
  }
  return bits;
}

/// Returns a float32 or float64 in the form that known writers use: type, no shape or one without dimensions, and the
/// element. Nullopt for any other form.
std::optional<ScalarBits> plain_scalar(std::span<const std::byte> proto) noexcept {
  constexpr std::byte dtype_key{tensor_field::dtype << 3}, shape_key{tensor_field::shape << 3 | 2},
      content_key{tensor_field::content << 3 | 2}, float_key{tensor_field::float_val << 3 | 2},
      double_key{tensor_field::double_val << 3 | 2};
  if (proto.size() < 4 || proto[0] != dtype_key) {
    return {};
  }
  const auto dtype = static_cast<Dtype>(proto[1]);
  if (dtype != Dtype::float32 && dtype != Dtype::float64) {
    return {};
  }
  const bool has_shape = proto[2] == shape_key && proto[3] == std::byte{0};
  const std::span<const std::byte> rest = proto.subspan(has_shape ? 4 : 2);
  const std::size_t item = dtype == Dtype::float32 ? sizeof(float) : sizeof(double);
  if (rest.size() != 2 + item || rest[1] != static_cast<std::byte>(item) ||
      (rest[0] != content_key && rest[0] != (dtype == Dtype::float32 ? float_key : double_key))) {
    return {};
  }
  return ScalarBits{dtype, bits_of(rest.subspan(2))};
}

}  // namespace

std::optional<ScalarBits> scalar_of_tensor(std::span<const std::byte> tensor_proto) noexcept try {
  if (const auto plain = plain_scalar(tensor_proto)) {
    return plain;
  }
  const std::span pieces(&tensor_proto, 1);
  TensorParts parts = scan_tensor(pieces);
  if (element_count(parts.shape) != 1) {
    return {};
  }
  const Outcome<Value> value = decode_tensor(std::move(parts), pieces, {}, ValueKinds::summaries);
  if (!value || value->dtype == Dtype::string || value->bytes.size() > most_bytes) {
    return {};
  }
  return ScalarBits{value->dtype, bits_of(value->bytes)};
} catch (...) {  // damaged, or no memory
  return {};
}

Outcome<TensorOutline> outline_tensor(std::span<const std::byte> tensor_proto) {
  return guarded([&]() -> Outcome<TensorOutline> {
    Outcome<Value> type = decode_type(scan_tensor(std::span(&tensor_proto, 1)), ValueKinds::summaries);
    if (!type) {
      return std::move(type.problem());
    }
    return TensorOutline{type->dtype, std::move(type->shape)};
  });
}

}  // namespace smd::detail::wire
