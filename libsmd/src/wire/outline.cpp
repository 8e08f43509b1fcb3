// SPDX-License-Identifier: Apache-2.0
#include "wire/outline.hpp"

#include "wire/event.hpp"

#include <protozero/varint.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

namespace smd::detail::wire {
namespace {

/// A field whose payload continues past the head.
struct OpenField {
  std::uint64_t key_at = 0;     ///< Where its key begins,
  std::uint64_t key_bytes = 0;  ///< how long the key is,
  std::uint64_t begin = 0;      ///< where its payload begins,
  std::uint64_t end = 0;        ///< and where it ends.
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
std::optional<OpenField> find_open(Cursor& cursor, std::uint64_t head_bytes, std::uint64_t end,
                                   std::uint64_t wanted) noexcept {
  for (;;) {
    OpenField field;
    field.key_at = cursor.at();
    const auto key = cursor.varint();
    if (!key) {
      return {};
    }
    field.key_bytes = cursor.at() - field.key_at;
    switch (*key & 7) {
      case 0:
        if (!cursor.varint()) {
          return {};
        }
        break;
      case 1:
        if (!cursor.skip(8)) {
          return {};
        }
        break;
      case 5:
        if (!cursor.skip(4)) {
          return {};
        }
        break;
      case 2: {
        const auto length = cursor.varint();
        if (!length || cursor.at() > end || *length > end - cursor.at()) {
          return {};
        }
        field.begin = cursor.at();
        field.end = field.begin + *length;
        if (field.end > head_bytes) {
          return *key >> 3 == wanted ? std::optional(field) : std::nullopt;
        }
        if (!cursor.skip(*length)) {
          return {};
        }
        break;
      }
      default:
        return {};  // groups are valid, but known writers do not use them
    }
  }
}

std::optional<Path> find_path(std::span<const std::byte> head, std::uint64_t payload_bytes) noexcept {
  Cursor cursor(head);
  Path path;
  std::uint64_t end = payload_bytes;
  for (std::size_t level = 0; level < path.size(); ++level) {
    const auto field = find_open(cursor, head.size(), end, path_fields[level]);
    if (!field) {
      return {};
    }
    path[level] = *field;
    end = field->end;
  }
  return path;
}

void append_varint(std::vector<std::byte>& out, std::uint64_t value) {
  std::array<char, protozero::max_varint_length> text{};
  const int bytes = protozero::add_varint_to_buffer(text.data(), value);
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), first, first + bytes);
}

void append(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Returns the payload without its content field, with the lengths of the enclosing messages corrected.
std::vector<std::byte> make_skeleton(const Path& path, std::span<const std::byte> head,
                                     std::span<const std::byte> tail) {
  // From the innermost message outwards: how much shorter each message around the content becomes. Its length may then
  // take fewer bytes, which affects the next one.
  std::array<std::uint64_t, 3> lengths{};
  std::uint64_t removed = path[3].end - path[3].key_at;
  for (std::size_t level = 3; level-- > 0;) {
    const OpenField& field = path[level];
    lengths[level] = field.end - field.begin - removed;
    removed =
        field.end - field.key_at -
        (field.key_bytes + static_cast<std::size_t>(protozero::length_of_varint(lengths[level])) + lengths[level]);
  }
  std::vector<std::byte> skeleton;
  skeleton.reserve(path[3].key_at + 3 * 10 + tail.size());
  std::uint64_t copied = 0;
  for (std::size_t level = 0; level < 3; ++level) {
    append(skeleton, head.subspan(copied, path[level].key_at + path[level].key_bytes - copied));
    append_varint(skeleton, lengths[level]);
    copied = path[level].begin;
  }
  append(skeleton, head.subspan(copied, path[3].key_at - copied));
  append(skeleton, tail);
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
