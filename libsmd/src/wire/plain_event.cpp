// SPDX-License-Identifier: Apache-2.0
#include "wire/plain_event.hpp"

#include <new>

namespace smd::detail::wire {
namespace {

/// Keys: field number times 8, plus the wire type.
constexpr std::byte wall_time_key{1 << 3 | 1}, step_key{2 << 3}, summary_key{5 << 3 | 2}, value_key{1 << 3 | 2},
    tag_key{1 << 3 | 2}, number_key{2 << 3 | 5}, tensor_key{8 << 3 | 2};

bool is_ascii(std::span<const std::byte> text) noexcept {
  std::uint64_t all = 0;
  for (; text.size() >= sizeof all; text = text.subspan(sizeof all)) {
    all |= load_little<std::uint64_t>(text);
  }
  for (const std::byte b : text) {
    all |= std::to_integer<std::uint64_t>(b);
  }
  return (all & 0x8080808080808080) == 0;
}

/// The unread part of a payload. Each member function returns false if something else is next.
class Rest {
 public:
  explicit Rest(std::span<const std::byte> rest) noexcept : at_(rest.data()), end_(at_ + rest.size()) {}

  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  bool key(std::byte wanted) noexcept {
    if (at_ == end_ || *at_ != wanted) {
      return false;
    }
    ++at_;
    return true;
  }
  bool varint(std::uint64_t& number) noexcept {
    number = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 63; shift += 7) {  // negative ones take ten bytes
      const auto byte = std::to_integer<std::uint64_t>(*at_++);
      number |= (byte & 0x7F) << shift;
      if (byte < 0x80) {
        return true;
      }
    }
    return false;
  }
  bool take(std::uint64_t bytes, std::span<const std::byte>& taken) noexcept {
    if (bytes > size()) {
      return false;
    }
    taken = {at_, static_cast<std::size_t>(bytes)};
    at_ += bytes;
    return true;
  }
  /// Reads key and length of a message that reaches to the end.
  bool open(std::byte wanted) noexcept {
    std::uint64_t length = 0;
    return key(wanted) && varint(length) && length == size();
  }

 private:
  const std::byte* at_;
  const std::byte* end_;
};

/// Makes `values` hold one value. Returns false if memory runs out.
bool make_room(EventOutline& event) noexcept try {
  event.values.resize(1);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace

bool outline_plain_event(std::span<const std::byte> payload, EventOutline& event) noexcept {
  Rest rest(payload);
  std::span<const std::byte> bytes;
  if (!rest.key(wall_time_key) || !rest.take(sizeof(double), bytes)) {
    return false;
  }
  event.wall_time = std::bit_cast<double>(load_little<std::uint64_t>(bytes));
  std::uint64_t number = 0;
  if (rest.key(step_key) && !rest.varint(number)) {
    return false;
  }
  event.step = static_cast<std::int64_t>(number);
  if (!rest.open(summary_key) || !rest.open(value_key) || !rest.key(tag_key) || !rest.varint(number) ||
      !rest.take(number, bytes) || bytes.empty() || !is_ascii(bytes)) {
    return false;
  }
  if (event.values.size() != 1 && !make_room(event)) {
    return false;
  }
  SummaryValue& value = event.values.front();
  value.tag = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (rest.key(number_key)) {
    if (rest.size() != sizeof(float) || !rest.take(sizeof(float), bytes)) {
      return false;
    }
    value.kind = SummaryKind::simple_value;
    value.number = std::bit_cast<float>(load_little<std::uint32_t>(bytes));
    value.message = {};
  } else {
    if (!rest.open(tensor_key) || !rest.take(rest.size(), value.message)) {
      return false;
    }
    value.kind = SummaryKind::tensor;
    value.number = 0;
  }
  value.metadata.reset();
  event.kind = EventKind::summary;
  event.session = SessionStatus::unspecified;
  event.plain = true;
  event.whole.clear();
  return true;
}

std::span<const std::byte> between_step_and_number(std::span<const std::byte> payload) noexcept {
  EventOutline event;
  Rest rest(payload);
  std::span<const std::byte> wall_time;
  std::uint64_t step = 0;
  if (!outline_plain_event(payload, event) || event.values.front().kind != SummaryKind::simple_value ||
      !rest.key(wall_time_key) || !rest.take(sizeof(double), wall_time) || !rest.key(step_key) || !rest.varint(step)) {
    return {};
  }
  return payload.last(rest.size()).first(rest.size() - sizeof(float));
}

}  // namespace smd::detail::wire
