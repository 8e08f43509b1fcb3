// SPDX-License-Identifier: Apache-2.0
#include "wire/event.hpp"

#include "text/escape.hpp"
#include "wire/message.hpp"
#include "wire/tensor_proto.hpp"

#include <fmt/format.h>

#include <vector>

namespace smd::detail::wire {
namespace {

using protozero::pbf_reader;

/// Field numbers, by message.
namespace field_number {
constexpr std::uint32_t event_wall_time = 1, event_step = 2, event_summary = 5, last_of_event = 9;
constexpr std::uint32_t summary_value = 1;
constexpr std::uint32_t value_tag = 1, value_tensor = 8, value_metadata = 9;
constexpr std::uint32_t metadata_plugin = 1, plugin_name = 1, plugin_content = 2;
}  // namespace field_number

/// The most pieces into which a tensor may be split. Known writers do not split tensors; the limit keeps the list of
/// pieces small.
constexpr std::size_t most_pieces = 64;

struct TooManyPieces : protozero::exception {
  [[nodiscard]] const char* what() const noexcept override { return "message is split into too many pieces"; }
};

/// The pieces of a tensor: usually one, which needs no allocation.
class Pieces {
 public:
  void add(std::span<const std::byte> piece) {
    if (count_++ == 0) {
      first_ = piece;
      return;
    }
    if (count_ == 2) {
      all_.assign(1, first_);
    }
    all_.push_back(piece);
  }
  void clear() noexcept { count_ = 0; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::span<const std::span<const std::byte>> all() const noexcept {
    return count_ < 2 ? std::span(&first_, count_) : std::span(all_);
  }

 private:
  std::size_t count_ = 0;
  std::span<const std::byte> first_;
  std::vector<std::span<const std::byte>> all_;  // used if there is more than one
};

/// One Summary.Value.
struct ValueParts {
  std::string_view tag;
  bool other_kind = false;  ///< It holds a `simple_value`, an image or another kind.
  bool replaced = false;    ///< Such a value replaced a tensor.
  Pieces tensor;
};

/// One Event.
struct EventParts {
  double wall_time = 0;
  std::int64_t step = 0;
  bool has_summary = false;
  bool replaced = false;     ///< Another kind of event replaced a summary.
  std::size_t values = 0;    ///< Number of values.
  std::size_t matching = 0;  ///< Number of values with the requested tag.
  ValueParts wanted;         ///< The last value with the requested tag.
  std::string_view other_tag;
};

/// Checks what writers say of a value's mode: its index file says it too, and counts.
void check_metadata(pbf_reader metadata) {
  for_each_field(metadata, [](pbf_reader& field) {
    if (field.tag() == field_number::metadata_plugin) {
      for_each_field(message_of(field), [](pbf_reader& part) {
        if (part.tag() == field_number::plugin_name || part.tag() == field_number::plugin_content) {
          (void)view_of(part);
        }
      });
    }
  });
}

ValueParts scan_value(pbf_reader value) {
  ValueParts parts;
  for_each_field(value, [&](pbf_reader& field) {
    switch (field.tag()) {
      case field_number::value_tag:
        parts.tag = text_of(field);
        break;
      case 2:  // simple_value
      case 3:  // histogram, in the old format
      case 4:  // image
      case 5:  // histo
      case 6:  // audio
        parts.other_kind = true;
        parts.replaced = parts.replaced || parts.tensor.size() != 0;
        parts.tensor.clear();  // in a oneof, the last field counts
        break;
      case field_number::value_tensor:
        if (parts.tensor.size() == most_pieces) {
          throw TooManyPieces{};
        }
        parts.other_kind = false;
        parts.tensor.add(bytes_of(field));
        break;
      case field_number::value_metadata:
        check_metadata(message_of(field));
        break;
      default:
        break;
    }
  });
  return parts;
}

void scan_summary(pbf_reader summary, std::string_view tag, EventParts& event) {
  event.has_summary = true;
  for_each_field(summary, [&](pbf_reader& field) {
    if (field.tag() != field_number::summary_value) {
      return;
    }
    ++event.values;
    ValueParts value = scan_value(message_of(field));
    if (value.tag == tag) {
      ++event.matching;
      event.wanted = std::move(value);
    } else {
      event.other_tag = value.tag;
    }
  });
}

EventParts scan_event(std::span<const std::byte> payload, std::string_view tag) {
  EventParts event;
  for_each_field(reader_of(payload), [&](pbf_reader& field) {
    if (field.tag() == field_number::event_wall_time) {
      event.wall_time = double_of(field);
    } else if (field.tag() == field_number::event_step) {
      event.step = static_cast<std::int64_t>(varint_of(field));
    } else if (field.tag() == field_number::event_summary) {
      scan_summary(message_of(field), tag, event);
    } else if (field.tag() > field_number::event_step && field.tag() <= field_number::last_of_event) {
      const EventParts before = std::move(event);  // in a oneof, the last field counts
      event = {};
      event.wall_time = before.wall_time;
      event.step = before.step;
      event.replaced = before.replaced || before.has_summary;
    }
  });
  return event;
}

Outcome<std::optional<Value>> parse_unguarded(std::span<const std::byte> payload, std::string_view tag,
                                              std::optional<std::uint64_t> outlined) {
  const EventParts event = scan_event(payload, tag);
  if (!event.has_summary) {
    return damaged("record's event has no summary");
  }
  if (event.values == 0) {
    return damaged("record's summary has no value");
  }
  if (event.matching == 0) {
    return damaged(fmt::format("record holds tensor '{}', not '{}'", printable(event.other_tag), printable(tag)));
  }
  const auto wrong = [tag](std::string_view what) {
    return damaged(fmt::format("tensor '{}': {}", printable(tag), what));
  };
  if (event.matching > 1) {
    return wrong(fmt::format("{} values of that name in one record", event.matching));
  }
  const ValueParts& wanted = event.wanted;
  if (wanted.other_kind || wanted.tensor.size() == 0) {
    return wrong(wanted.other_kind ? "record holds a value of another kind, not a tensor"
                                   : "record holds no value, not a tensor");
  }
  TensorParts parts = scan_tensor(wanted.tensor.all());
  if (outlined) {
    // The content may belong to a tensor that was replaced.
    const bool replaced = event.replaced || wanted.replaced;
    if (replaced || event.values != 1 || wanted.tensor.size() != 1 || has_elements(parts)) {
      return std::optional<Value>{};
    }
  }
  Outcome<Value> value = decode_tensor(std::move(parts), wanted.tensor.all(), outlined, ValueKinds::tensors);
  if (!value) {
    return wrong(value.problem().text);
  }
  value->wall_time = event.wall_time;
  value->step = event.step;
  return std::optional<Value>(std::move(*value));
}

}  // namespace

Outcome<std::optional<Value>> parse_event(std::span<const std::byte> payload, std::string_view tag,
                                          std::optional<std::uint64_t> outlined, ValueKinds kinds, ValueForm form) {
  return guarded([&] {
    return kinds == ValueKinds::summaries ? parse_summary_value(payload, tag, outlined, form)
                                          : parse_unguarded(payload, tag, outlined);
  });
}

Outcome<Value> parse_value(std::span<const std::byte> payload, std::string_view tag, ValueKinds kinds, ValueForm form) {
  Outcome<std::optional<Value>> value = parse_event(payload, tag, {}, kinds, form);
  if (!value) {
    return std::move(value.problem());
  }
  return std::move(**value);  // always set, except for outlines
}

std::span<std::byte> Value::own(std::uint64_t size) {
  owned = std::make_shared_for_overwrite<std::byte[]>(size);
  bytes = {owned.get(), static_cast<std::size_t>(size)};
  return {owned.get(), bytes.size()};
}

void fill_repeated(std::span<std::byte> into, std::span<const std::byte> element) noexcept {
  for (std::size_t at = 0; at < into.size(); at += element.size()) {
    std::memcpy(into.data() + at, element.data(), element.size());
  }
}

bool is_normal_boolean(std::span<const std::byte> bytes) noexcept {
  std::byte all{0};
  for (const std::byte b : bytes) {
    all |= b;
  }
  return (all & std::byte{0xFE}) == std::byte{0};
}

void normalise_boolean(std::span<std::byte> bytes) noexcept {
  for (std::byte& b : bytes) {
    b = static_cast<std::byte>(b != std::byte{0});
  }
}

}  // namespace smd::detail::wire
