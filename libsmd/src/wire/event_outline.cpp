// SPDX-License-Identifier: Apache-2.0
#include "wire/event_outline.hpp"

#include "text/escape.hpp"
#include "wire/message.hpp"

#include <iterator>
#include <new>

namespace smd::detail::wire {
namespace {

using protozero::pbf_reader;

constexpr std::byte summary_key{5 << 3 | 2}, value_key{1 << 3 | 2}, tag_key{1 << 3 | 2}, number_key{2 << 3 | 5},
    tensor_key{8 << 3 | 2};

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

void scan_metadata(pbf_reader message, SummaryMetadata& metadata) {
  for_each_field(message, [&](pbf_reader& field) {
    if (field.tag() == 1) {
      for_each_field(message_of(field), [&](pbf_reader& plugin) {
        if (plugin.tag() == 1) {
          metadata.plugin = text_of(plugin);
        } else if (plugin.tag() == 2) {
          metadata.content = bytes_of(plugin);
        }
      });
    } else if (field.tag() == 4) {
      metadata.data_class = varint_of(field);
    }
  });
}

/// Scans one Summary.Value into another of `event.values`.
void scan_value(pbf_reader message, EventOutline& event) {
  SummaryValue& value = event.values.emplace_back();
  std::vector<std::byte>* whole = nullptr;
  const auto hold = [&](SummaryKind kind) {  // in a oneof, the last field counts
    if (value.kind != kind) {
      event.plain = event.plain && value.kind == SummaryKind::none;
      value.kind = kind;
      value.message = {};
      whole = nullptr;
    }
  };
  // Repeated occurrences of a message are parts of one message, so they are concatenated.
  const auto hold_message = [&](SummaryKind kind, std::span<const std::byte> part) {
    const bool again = value.kind == kind;
    hold(kind);
    if (!again) {
      value.message = part;
      return;
    }
    event.plain = false;
    if (whole == nullptr) {
      whole = &event.whole.emplace_front(value.message.begin(), value.message.end());
    }
    whole->insert(whole->end(), part.begin(), part.end());
    value.message = *whole;
  };
  std::string_view node_name;
  for_each_field(message, [&](pbf_reader& field) {
    switch (field.tag()) {
      case 1:
        value.tag = text_of(field);
        break;
      case 2:
        value.number = float_of(field);
        hold(SummaryKind::simple_value);
        break;
      case 3:  // histogram, in the old format
        (void)view_of(field);
        hold(SummaryKind::none);
        break;
      case 4:
        hold_message(SummaryKind::image, bytes_of(field));
        break;
      case 5:
        hold_message(SummaryKind::histogram, bytes_of(field));
        break;
      case 6:
        hold_message(SummaryKind::audio, bytes_of(field));
        break;
      case 7:
        node_name = text_of(field);
        break;
      case 8:
        hold_message(SummaryKind::tensor, bytes_of(field));
        break;
      case 9:
        scan_metadata(message_of(field), value.metadata ? *value.metadata : value.metadata.emplace());
        break;
      default:
        break;
    }
  });
  if (value.tag.empty()) {
    value.tag = node_name;
  }
  if (!is_ascii(std::as_bytes(std::span(value.tag))) && !valid_utf8(value.tag)) {  // the first is faster
    throw BadMessage("tag that is no UTF-8");
  }
}

void scan_session(pbf_reader session, EventOutline& event) {
  for_each_of(1, session, [&](pbf_reader& field) {
    const std::uint64_t status = varint_of(field);
    event.session = status <= 3 ? static_cast<SessionStatus>(status) : SessionStatus::unspecified;
  });
}

/// In a oneof, the last field counts.
void become(EventOutline& event, EventKind kind) {
  if (event.kind != kind) {
    event.plain = event.plain && event.kind == EventKind::nothing;
    event.kind = kind;
    event.session = SessionStatus::unspecified;
    event.values.clear();
  }
}

/// Kinds of events by field number, from 3 on.
constexpr EventKind kind_of_field[] = {EventKind::file_version, EventKind::graph,       EventKind::summary,
                                       EventKind::log_message,  EventKind::session_log, EventKind::run_metadata,
                                       EventKind::meta_graph};

void scan_event(pbf_reader event_message, EventOutline& event) {
  for_each_field(event_message, [&](pbf_reader& field) {
    if (field.tag() == 1) {
      event.wall_time = double_of(field);
    } else if (field.tag() == 2) {
      event.step = static_cast<std::int64_t>(varint_of(field));
    } else if (field.tag() >= 3 && field.tag() - 3 < std::size(kind_of_field)) {
      const EventKind kind = kind_of_field[field.tag() - 3];
      become(event, kind);
      const pbf_reader message = message_of(field);
      if (kind == EventKind::summary) {
        for_each_of(1, message, [&](pbf_reader& value) { scan_value(message_of(value), event); });
      } else if (kind == EventKind::session_log) {
        scan_session(message, event);
      }
    }
  });
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

Status outline_event(std::span<const std::byte> payload, EventOutline& event) {
  if (outline_plain_event(payload, event)) {
    return ok();
  }
  EventOutline empty;
  empty.values = std::move(event.values);  // for their memory
  empty.values.clear();
  event = std::move(empty);
  return guarded([&]() -> Status {
    scan_event(reader_of(payload), event);
    return ok();
  });
}

}  // namespace smd::detail::wire
