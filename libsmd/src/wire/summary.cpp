// SPDX-License-Identifier: Apache-2.0
#include "wire/summary.hpp"

#include "text/escape.hpp"
#include "wire/little_endian.hpp"
#include "wire/message.hpp"
#include "wire/plain_event.hpp"
#include "wire/tensor_proto.hpp"

#include <smd/tensor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace smd::detail::wire {

namespace {

using protozero::pbf_reader;

struct TagNotUtf8 : protozero::exception {
  [[nodiscard]] const char* what() const noexcept override { return "tag that is no UTF-8"; }
};

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

/// Scans one Summary.Value into the last of `event.values`.
class ValueScan {
 public:
  explicit ValueScan(EventOutline& event) : event_(event), value_(event.values.emplace_back()) {}

  void scan(pbf_reader message) {
    std::string_view node_name;
    for_each_field(message, [&](pbf_reader& reader) {
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
          break;
      }
    });
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
  for_each_field(summary, [&](pbf_reader& field) {
    if (field.tag() == 1) {
      ValueScan(event).scan(message_of(field));
    }
  });
}

void scan_session(pbf_reader session, EventOutline& event) {
  for_each_field(session, [&](pbf_reader& field) {
    if (field.tag() == 1) {
      const std::uint64_t status = varint_of(field);
      event.session = status <= 3 ? static_cast<SessionStatus>(status) : SessionStatus::unspecified;
    }
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
        scan_summary(message, event);
      } else if (kind == EventKind::session_log) {
        scan_session(message, event);
      }
    }
  });
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

// Returns the value of one tag in an event of TensorBoard's writers.
namespace {

Value number_value(float number) {
  Value value;
  store_little(value.own(sizeof number).data(), std::bit_cast<std::uint32_t>(number));
  return value;
}

/// Returns `encoded_image_string` or `encoded_audio_string` as a string value.
Value media_value(std::span<const std::byte> message) {
  std::span<const std::byte> encoded;
  for_each_field(reader_of(message), [&](pbf_reader& field) {
    if (field.tag() == 4) {
      encoded = bytes_of(field);
    }
  });
  Value value;
  value.dtype = Dtype::string;
  const std::span<std::byte> into = value.own(4 + encoded.size());
  store_little(into.data(), static_cast<std::uint32_t>(encoded.size()));
  if (!encoded.empty()) {
    std::memcpy(into.data() + 4, encoded.data(), encoded.size());
  }
  return value;
}

/// Returns the size of the first of some packed strings, including its length.
std::size_t packed_size(std::span<const std::byte> strings) noexcept {
  return 4 + std::size_t{load_little<std::uint32_t>(strings)};
}

/// Removes width and height, the first strings of the plugin `images`. [tensorboard/plugins/image/summary_v2.py]
void keep_images(Value& value) noexcept {
  if (value.shape.size() != 1 || value.shape[0] < 2) {
    return;
  }
  value.shape[0] -= 2;
  const std::size_t width = packed_size(value.bytes);
  const std::size_t both = width + packed_size(value.bytes.subspan(width));
  value.bytes = value.bytes.subspan(both);
  value.owned = {value.owned, value.owned.get() + both};  // the same memory, from there on
}

/// Keeps the first column of the plugin `audio`, without labels. [tensorboard/plugins/audio/summary_v2.py]
void keep_clips(Value& value) noexcept {
  if (value.shape.size() != 2 || value.shape[1] == 0) {
    return;
  }
  const std::int64_t columns = value.shape[1];
  value.shape.pop_back();
  std::byte* into = value.owned.get();
  for (std::int64_t column = 0; !value.bytes.empty(); column = (column + 1) % columns) {
    const std::size_t size = packed_size(value.bytes);
    if (column == 0) {
      std::memmove(into, value.bytes.data(), size);
      into += size;
    }
    value.bytes = value.bytes.subspan(size);
  }
  value.bytes = {value.owned.get(), into};
}

Outcome<Value> tensor_value(std::span<const std::byte> message, std::optional<std::uint64_t> outlined, ValueForm form) {
  const std::span pieces(&message, 1);
  Outcome<Value> value = decode_tensor(scan_tensor(pieces), pieces, outlined, ValueKinds::summaries);
  if (value && value->dtype == Dtype::string) {
    if (form == ValueForm::images) {
      keep_images(*value);
    } else if (form == ValueForm::clips) {
      keep_clips(*value);
    }
  }
  return value;
}

Outcome<Value> value_of(const SummaryValue& found, std::optional<std::uint64_t> outlined, ValueForm form) {
  switch (found.kind) {
    case SummaryKind::simple_value:
      return number_value(found.number);
    case SummaryKind::tensor:
      return tensor_value(found.message, outlined, form);
    case SummaryKind::histogram:
      return histogram_value(found.message);
    case SummaryKind::image:
    case SummaryKind::audio:
      return media_value(found.message);
    case SummaryKind::none:
      break;
  }
  return damaged("record holds no value");
}

}  // namespace

Outcome<std::optional<Value>> parse_summary_value(std::span<const std::byte> payload, std::string_view tag,
                                                  std::optional<std::uint64_t> outlined, ValueForm form) {
  EventOutline event;
  if (auto status = outline_event(payload, event); !status) {
    return std::move(status.problem());
  }
  if (event.kind != EventKind::summary) {
    return damaged("record's event has no summary");
  }
  if (event.values.empty()) {
    return damaged("record's summary has no value");
  }
  const auto found = std::find_if(event.values.rbegin(), event.values.rend(),
                                  [tag](const SummaryValue& value) { return value.tag == tag; });
  if (found == event.values.rend()) {
    return damaged(
        fmt::format("record holds tensor '{}', not '{}'", printable(event.values.back().tag), printable(tag)));
  }
  if (outlined) {
    const std::span pieces(&found->message, 1);
    // The content may belong to a tensor that was replaced, to another value, or to an earlier part of this tensor.
    if (!event.plain || event.values.size() != 1 || found->kind != SummaryKind::tensor ||
        has_elements(scan_tensor(pieces))) {
      return std::optional<Value>{};
    }
  }
  Outcome<Value> value = value_of(*found, outlined, form);
  if (!value) {
    return damaged(fmt::format("tensor '{}': {}", printable(tag), value.problem().text));
  }
  value->wall_time = event.wall_time;
  value->step = event.step;
  return std::optional<Value>(std::move(*value));
}

}  // namespace smd::detail::wire
