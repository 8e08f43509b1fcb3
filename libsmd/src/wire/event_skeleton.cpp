// SPDX-License-Identifier: Apache-2.0
#include "wire/message.hpp"
#include "wire/outline.hpp"

#include <smd/limits.hpp>

#include <protozero/varint.hpp>

#include <algorithm>
#include <iterator>

namespace smd::detail::wire {

namespace {

constexpr std::uint64_t small_bytes = std::uint64_t{64} << 10;
constexpr std::uint64_t small_tensor_bytes = std::uint64_t{16} << 20;  // it may be a histogram

enum class Message : std::uint8_t { event, summary, value, tensor, other };

/// Returns which message lies in a field of another.
Message inner(Message outer, std::uint64_t field) noexcept {
  switch (outer) {
    case Message::event:
      return field == 5 ? Message::summary : Message::other;
    case Message::summary:
      return field == 1 ? Message::value : Message::other;
    case Message::value:
      return field == 8 ? Message::tensor : Message::other;
    case Message::tensor:
    case Message::other:
      break;
  }
  return Message::other;
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

Outcome<std::string> event_skeleton(std::uint64_t payload_bytes, const ReadPayload& read) {
  std::string skeleton;
  const Status copied = Copier(read).copy(Message::event, 0, payload_bytes, skeleton);
  return copied ? Outcome<std::string>(std::move(skeleton)) : Outcome<std::string>(copied.problem());
}

}  // namespace smd::detail::wire
