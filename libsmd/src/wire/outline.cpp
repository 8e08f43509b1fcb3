// SPDX-License-Identifier: Apache-2.0
#include "wire/outline.hpp"

#include <protozero/varint.hpp>

#include <array>
#include <new>
#include <vector>

namespace smd::detail::wire {
namespace {

/// A field whose payload continues past the head.
struct OpenField {
  std::uint64_t key_at = 0;     ///< Where its key begins,
  std::uint64_t length_at = 0;  ///< its length,
  std::uint64_t begin = 0;      ///< its payload,
  std::uint64_t end = 0;        ///< and where that ends.
};

/// The path to the elements: Event.summary, Summary.value, Value.tensor, TensorProto.tensor_content.
using Path = std::array<OpenField, 4>;
constexpr std::array<std::uint64_t, 4> path_fields = {5, 1, 8, 4};

/// Reads keys and lengths from the head; refuses fields that are not complete there.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> head) noexcept : head_(head) {}

  [[nodiscard]] std::uint64_t at() const noexcept { return at_; }

  std::optional<std::uint64_t> varint() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ >= head_.size()) {
        return {};
      }
      const auto byte = std::to_integer<std::uint64_t>(head_[at_++]);
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    return {};
  }
  /// Returns false if the head is too short.
  bool skip(std::uint64_t bytes) noexcept {
    if (bytes > head_.size() - at_) {
      return false;
    }
    at_ += bytes;
    return true;
  }

 private:
  std::span<const std::byte> head_;
  std::uint64_t at_ = 0;
};

/// Returns the field that continues past the head, in a message that ends at `end`; it must have the number `wanted`.
std::optional<OpenField> find_open(Cursor& cursor, std::uint64_t end, std::uint64_t wanted) noexcept {
  for (;;) {
    OpenField field;
    field.key_at = cursor.at();
    const auto key = cursor.varint();
    field.length_at = cursor.at();
    std::optional<std::uint64_t> bytes;
    switch (key ? *key & 7 : 7) {
      case 0:
        bytes = cursor.varint() ? std::optional<std::uint64_t>(0) : std::nullopt;
        break;
      case 1:
        bytes = 8;
        break;
      case 5:
        bytes = 4;
        break;
      case 2:
        bytes = cursor.varint();
        break;
      default:  // groups are valid, but known writers do not use them
        break;
    }
    if (!bytes || cursor.at() > end || *bytes > end - cursor.at()) {
      return {};
    }
    field.begin = cursor.at();
    field.end = field.begin + *bytes;
    if (!cursor.skip(*bytes)) {
      return *key == (wanted << 3 | 2) ? std::optional(field) : std::nullopt;
    }
  }
}

std::optional<Path> find_path(std::span<const std::byte> head, std::uint64_t payload_bytes) noexcept {
  Cursor cursor(head);
  Path path;
  std::uint64_t end = payload_bytes;
  for (std::size_t level = 0; level < path.size(); ++level) {
    const auto field = find_open(cursor, end, path_fields[level]);
    if (!field) {
      return {};
    }
    path[level] = *field;
    end = field->end;
  }
  return path;
}

/// Returns the payload without its content field, with the lengths of the messages around it corrected. They take as
/// many bytes as before.
std::vector<std::byte> make_skeleton(const Path& path, std::span<const std::byte> head,
                                     std::span<const std::byte> tail) {
  const OpenField& content = path.back();
  std::vector<std::byte> skeleton;
  skeleton.reserve(content.key_at + tail.size());
  skeleton.assign(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(content.key_at));
  for (const OpenField& around : std::span(path).first<3>()) {
    std::uint64_t length = around.end - around.begin - (content.end - content.key_at);
    for (std::uint64_t at = around.length_at; at < around.begin; ++at, length >>= 7) {
      skeleton[at] = static_cast<std::byte>((length & 0x7F) | (at + 1 < around.begin ? 0x80 : 0));
    }
  }
  skeleton.insert(skeleton.end(), tail.begin(), tail.end());
  return skeleton;
}

}  // namespace

std::optional<ContentPlace> find_content(std::span<const std::byte> head, std::uint64_t payload_bytes) noexcept {
  const auto path = find_path(head, payload_bytes);
  if (!path || payload_bytes - path->back().end > outline_tail_bytes) {
    return {};
  }
  return ContentPlace{path->back().begin, path->back().end - path->back().begin};
}

Outcome<std::optional<Value>> parse_outline(const ContentPlace& place, std::span<const std::byte> head,
                                            std::span<const std::byte> tail, std::string_view tag, ValueKinds kinds,
                                            ValueForm form) {
  if (head.size() < place.offset || place.bytes == 0) {
    return std::optional<Value>{};
  }
  const std::span<const std::byte> before = head.first(place.offset);
  const auto path = find_path(before, place.offset + place.bytes + tail.size());
  if (!path || path->back().begin != place.offset || path->back().end != place.offset + place.bytes) {
    return std::optional<Value>{};
  }
  std::vector<std::byte> skeleton;
  try {
    skeleton = make_skeleton(*path, before, tail);
  } catch (const std::bad_alloc&) {
    return Problem{ProblemKind::io, {}, {}, "out of memory"};
  }
  return parse_event(skeleton, tag, place.bytes, kinds, form);
}

}  // namespace smd::detail::wire
