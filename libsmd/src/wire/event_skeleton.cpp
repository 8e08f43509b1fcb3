// SPDX-License-Identifier: Apache-2.0
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
    while (at < end) {
      const std::uint64_t field_begin = at;
      const auto key = varint(at, end);
      if (!key || *key > UINT32_MAX) {
        return key ? damaged("a large record is no event: a field has an unusual number", field_begin) : key.problem();
      }
      std::uint64_t bytes = 0;
      switch (*key & 7U) {
        case 0:
          if (const auto value = varint(at, end); !value) {
            return value.problem();
          }
          break;
        case 1:
          bytes = 8;
          break;
        case 5:
          bytes = 4;
          break;
        case 2: {
          const auto length = varint(at, end);
          if (!length) {
            return length.problem();
          }
          bytes = *length;
          break;
        }
        default:
          return damaged("a large record is no event: a field has an unusual type", field_begin);
      }
      if (bytes > end - at) {
        return damaged("a large record is no event: a field is longer than its message", field_begin);
      }
      if (Status copied = copy_field(message, *key, field_begin, at, bytes, out); !copied) {
        return copied;
      }
      at += bytes;
    }
    return ok();
  }

 private:
  Status copy_field(Message message, std::uint64_t key, std::uint64_t field_begin, std::uint64_t content,
                    std::uint64_t bytes, std::string& out) {
    const Message in_it = inner(message, key >> 3U);
    const bool whole = in_it == Message::other ? is_needed(message, key >> 3U) || bytes <= small_bytes
                                               : in_it == Message::tensor && bytes <= small_tensor_bytes;
    if (kept_ += whole ? bytes : 0; kept_ > limits::event_bytes) {
      return damaged("its histograms, names and small values are together longer than the limit (event_bytes), " +
                     std::to_string(limits::event_bytes) + " bytes");
    }
    if (whole) {
      const auto field = read_(field_begin, content + bytes - field_begin);
      if (field) {
        out.append(reinterpret_cast<const char*>(field->data()), field->size());
      }
      return field ? ok() : Status(field.problem());
    }
    std::string kept;
    Status copied = in_it == Message::other ? ok() : copy(in_it, content, content + bytes, kept);
    protozero::write_varint(std::back_inserter(out), key);
    protozero::write_varint(std::back_inserter(out), kept.size());
    out += kept;
    return copied;
  }

  Outcome<std::uint64_t> varint(std::uint64_t& at, std::uint64_t end) {
    const auto bytes = read_(at, std::min<std::uint64_t>(end - at, protozero::max_varint_length));
    if (!bytes) {
      return bytes.problem();
    }
    const char* const begin = reinterpret_cast<const char*>(bytes->data());
    const char* next = begin;
    try {
      const std::uint64_t value = protozero::decode_varint(&next, begin + bytes->size());
      at += static_cast<std::uint64_t>(next - begin);
      return value;
    } catch (const protozero::exception&) {
      return damaged("a large record is no event: a number does not end", at);
    }
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
