// SPDX-License-Identifier: Apache-2.0
#include "wire/outline.hpp"

#include "wire/message.hpp"

#include <array>
#include <new>
#include <vector>

namespace smd::detail::wire {
namespace {

/// The path to the elements: Event.summary, Summary.value, Value.tensor, TensorProto.tensor_content.
using Path = std::array<RawField, 4>;
constexpr std::array<std::uint64_t, 4> path_fields = {5, 1, 8, 4};

/// Finds the fields that continue past the head, each in the one before. They must be those of the path.
std::optional<Path> find_path(std::span<const std::byte> head, std::uint64_t payload_bytes) noexcept {
  Path path;
  std::uint64_t at = 0;
  std::uint64_t end = payload_bytes;
  for (std::size_t level = 0; level < path.size(); ++level) {
    RawField& field = path[level];
    do {
      if (at >= head.size() || read_raw_field(head.subspan(at), at, end, field) != nullptr) {
        return {};
      }
      at = field.end;
    } while (field.end <= head.size());
    if (field.key != (path_fields[level] << 3 | 2)) {
      return {};
    }
    at = field.begin;
    end = field.end;
  }
  return path;
}

/// Returns the payload without its content field, with the lengths of the messages around it corrected. They take as
/// many bytes as before.
std::vector<std::byte> make_skeleton(const Path& path, std::span<const std::byte> head,
                                     std::span<const std::byte> tail) {
  const RawField& content = path.back();
  std::vector<std::byte> skeleton;
  skeleton.reserve(content.key_at + tail.size());
  skeleton.assign(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(content.key_at));
  for (const RawField& around : std::span(path).first<3>()) {
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
