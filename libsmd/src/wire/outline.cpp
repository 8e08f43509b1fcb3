// SPDX-License-Identifier: Apache-2.0
#include "wire/outline.hpp"

#include "text/limits.hpp"
#include "wire/message.hpp"

#include <protozero/varint.hpp>

#include <algorithm>
#include <array>
#include <iterator>
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

constexpr std::uint64_t small_bytes = std::uint64_t{64} << 10;
constexpr std::uint64_t small_tensor_bytes = std::uint64_t{16} << 20;  // it may be a histogram

/// Each in the one before, in a field of `path_fields`.
enum class Message : std::uint8_t { event, summary, value, tensor, other };

/// Returns which message lies in a field of another.
Message inner(Message outer, std::uint64_t field) noexcept {
  const auto level = static_cast<std::uint8_t>(outer);
  return outer < Message::tensor && field == path_fields[level] ? Message{static_cast<std::uint8_t>(level + 1)}
                                                                : Message::other;
}

/// Returns whether an outline needs the content of a field: tag, histogram, node_name or metadata of a value.
bool is_needed(Message outer, std::uint64_t field) noexcept {
  return outer == Message::value && (field == 1 || field == 5 || field == 7 || field == 9);
}

class Copier {
 public:
  explicit Copier(const ReadPayload& read) : read_(read) {}

  /// Appends the fields of a message.
  Status copy(Message message, std::uint64_t at, std::uint64_t end, std::string& out) {
    for (RawField field; at < end; at = field.end) {
      const auto bytes = read_(at, std::min<std::uint64_t>(end - at, raw_field_bytes));
      if (!bytes) {
        return bytes.problem();
      }
      if (const char* const wrong = read_raw_field(*bytes, at, end, field)) {
        return damaged(std::string("a large record is no event: ") + wrong, at);
      }
      if (Status copied = copy_field(message, field, out); !copied) {
        return copied;
      }
    }
    return ok();
  }

 private:
  Status copy_field(Message message, const RawField& field, std::string& out) {
    const std::uint64_t bytes = field.end - field.begin;
    const Message in_it = inner(message, field.key >> 3U);
    const bool whole = in_it == Message::other ? is_needed(message, field.key >> 3U) || bytes <= small_bytes
                                               : in_it == Message::tensor && bytes <= small_tensor_bytes;
    if (kept_ += whole ? bytes : 0; kept_ > limits::event_bytes) {
      return damaged("its histograms, names and small values are together longer than the limit (event_bytes), " +
                     std::to_string(limits::event_bytes) + " bytes");
    }
    if (whole) {
      const auto all = read_(field.key_at, field.end - field.key_at);
      if (all) {
        out.append(reinterpret_cast<const char*>(all->data()), all->size());
      }
      return all ? ok() : Status(all.problem());
    }
    std::string kept;
    Status copied = in_it == Message::other ? ok() : copy(in_it, field.begin, field.end, kept);
    protozero::write_varint(std::back_inserter(out), field.key);
    protozero::write_varint(std::back_inserter(out), kept.size());
    out += kept;
    return copied;
  }

  const ReadPayload& read_;
  std::uint64_t kept_ = 0;
};

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
    return make_problem(ProblemKind::io, "out of memory");
  }
  return parse_event(skeleton, tag, place.bytes, kinds, form);
}

Outcome<std::string> event_skeleton(std::uint64_t payload_bytes, const ReadPayload& read) {
  std::string skeleton;
  const Status copied = Copier(read).copy(Message::event, 0, payload_bytes, skeleton);
  return copied ? Outcome<std::string>(std::move(skeleton)) : Outcome<std::string>(copied.problem());
}

}  // namespace smd::detail::wire
