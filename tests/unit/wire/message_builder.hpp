// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace smd::test {

/// Builds protobuf messages field by field, valid or not. Shares no code with the library.
class Message {
 public:
  Message& varint(std::uint32_t field, std::uint64_t value) { return key(field, 0).raw_varint(value); }
  Message& fixed64(std::uint32_t field, std::uint64_t value) { return key(field, 1).little(value, 8); }
  Message& fixed32(std::uint32_t field, std::uint32_t value) { return key(field, 5).little(value, 4); }
  Message& text(std::uint32_t field, std::string_view value) {
    return key(field, 2).raw_varint(value.size()).raw(value);
  }
  Message& message(std::uint32_t field, const Message& value) { return text(field, value.bytes()); }
  Message& key(std::uint32_t field, std::uint32_t wire_type) {
    return raw_varint(std::uint64_t{field} << 3 | wire_type);
  }
  Message& raw_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_.push_back(static_cast<char>((value & 0x7F) | 0x80));
    }
    bytes_.push_back(static_cast<char>(value));
    return *this;
  }
  Message& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  Message& little(std::uint64_t value, int count) {
    for (int at = 0; at < count; ++at) {
      bytes_.push_back(static_cast<char>(value >> (8 * at)));
    }
    return *this;
  }

  std::string bytes_;
};

/// TensorShapeProto.
inline Message shape_message(std::initializer_list<std::int64_t> dims) {
  Message shape;
  for (const std::int64_t size : dims) {
    shape.message(2, size == 0 ? Message() : Message().varint(1, static_cast<std::uint64_t>(size)));
  }
  return shape;
}

/// TensorProto without elements.
inline Message tensor_message(int dtype, std::initializer_list<std::int64_t> dims) {
  return Message().varint(1, static_cast<std::uint64_t>(dtype)).message(2, shape_message(dims));
}

/// An Event with one tensor.
inline Message event_message(std::string_view tag, const Message& tensor) {
  return Message().message(5, Message().message(1, Message().text(1, tag).message(8, tensor)));
}

}  // namespace smd::test
