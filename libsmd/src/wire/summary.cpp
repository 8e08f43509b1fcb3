// SPDX-License-Identifier: Apache-2.0
#include "wire/summary.hpp"

#include "text/escape.hpp"
#include "wire/message.hpp"
#include "wire/plain_event.hpp"

#include <iterator>

namespace smd::detail::wire {
namespace {

using protozero::pbf_reader;

struct TagNotUtf8 : protozero::exception {
  [[nodiscard]] const char* what() const noexcept override { return "tag that is no UTF-8"; }
};

void scan_plugin(pbf_reader plugin, SummaryMetadata& metadata) {
  while (next_field(plugin)) {
    switch (plugin.tag()) {
      case 1:
        metadata.plugin = text_of(plugin);
        break;
      case 2:
        metadata.content = bytes_of(plugin);
        break;
      default:
        skip_field(plugin);
    }
  }
}

void scan_metadata(pbf_reader reader, SummaryMetadata& metadata) {
  while (next_field(reader)) {
    switch (reader.tag()) {
      case 1:
        scan_plugin(message_of(reader), metadata);
        break;
      case 4:
        metadata.data_class = varint_of(reader);
        break;
      default:
        skip_field(reader);
    }
  }
}

/// Scans one Summary.Value into the last of `event.values`.
class ValueScan {
 public:
  explicit ValueScan(EventOutline& event) : event_(event), value_(event.values.emplace_back()) {}

  void scan(pbf_reader reader) {
    std::string_view node_name;
    while (next_field(reader)) {
      switch (reader.tag()) {
        case 1:
          value_.tag = text_of(reader);
          break;
        case 2:
          value_.number = float_of(reader);
          hold(SummaryKind::simple_value);
          break;
        case 3:  // histogram, in the old format
          (void)view_of(reader);
          hold(SummaryKind::none);
          break;
        case 4:
          hold(SummaryKind::image, bytes_of(reader));
          break;
        case 5:
          hold(SummaryKind::histogram, bytes_of(reader));
          break;
        case 6:
          hold(SummaryKind::audio, bytes_of(reader));
          break;
        case 7:
          node_name = text_of(reader);
          break;
        case 8:
          hold(SummaryKind::tensor, bytes_of(reader));
          break;
        case 9:
          if (!value_.metadata) {
            value_.metadata.emplace();
          }
          scan_metadata(message_of(reader), *value_.metadata);
          break;
        default:
          skip_field(reader);
      }
    }
    if (value_.tag.empty()) {
      value_.tag = node_name;
    }
    if (!valid_utf8(value_.tag)) {
      throw TagNotUtf8{};
    }
  }

 private:
  /// In a oneof, the last field counts.
  void hold(SummaryKind kind) {
    if (value_.kind != kind) {
      event_.plain = event_.plain && value_.kind == SummaryKind::none;
      value_.kind = kind;
      value_.message = {};
      whole_ = nullptr;
    }
  }
  /// Repeated occurrences of a message are parts of one message, so they are concatenated.
  void hold(SummaryKind kind, std::span<const std::byte> message) {
    const bool again = value_.kind == kind;
    hold(kind);
    if (!again) {
      value_.message = message;
      return;
    }
    event_.plain = false;
    if (whole_ == nullptr) {
      whole_ = &event_.whole.emplace_front(value_.message.begin(), value_.message.end());
    }
    whole_->insert(whole_->end(), message.begin(), message.end());
    value_.message = *whole_;
  }

  EventOutline& event_;
  SummaryValue& value_;
  std::vector<std::byte>* whole_ = nullptr;
};

void scan_summary(pbf_reader summary, EventOutline& event) {
  while (next_field(summary)) {
    if (summary.tag() == 1) {
      ValueScan(event).scan(message_of(summary));
    } else {
      skip_field(summary);
    }
  }
}

void scan_session(pbf_reader session, EventOutline& event) {
  while (next_field(session)) {
    if (session.tag() == 1) {
      const std::uint64_t status = varint_of(session);
      event.session = status <= 3 ? static_cast<SessionStatus>(status) : SessionStatus::unspecified;
    } else {
      skip_field(session);
    }
  }
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

void scan_event(pbf_reader reader, EventOutline& event) {
  while (next_field(reader)) {
    const std::uint32_t field = reader.tag();
    if (field == 1) {
      event.wall_time = double_of(reader);
    } else if (field == 2) {
      event.step = static_cast<std::int64_t>(varint_of(reader));
    } else if (field >= 3 && field - 3 < std::size(kind_of_field)) {
      const EventKind kind = kind_of_field[field - 3];
      become(event, kind);
      pbf_reader message = message_of(reader);
      if (kind == EventKind::summary) {
        scan_summary(message, event);
      } else if (kind == EventKind::session_log) {
        scan_session(message, event);
      }
    } else {
      skip_field(reader);
    }
  }
}

}  // namespace

Status outline_event(std::span<const std::byte> payload, EventOutline& event) {
  if (outline_plain_event(payload, event)) {
    return ok();
  }
  event.wall_time = 0;
  event.step = 0;
  event.kind = EventKind::nothing;
  event.session = SessionStatus::unspecified;
  event.values.clear();
  event.plain = true;
  event.whole.clear();
  return guarded([&]() -> Status {
    scan_event(reader_of(payload), event);
    return ok();
  });
}

}  // namespace smd::detail::wire
