// SPDX-License-Identifier: Apache-2.0
// Parses the input as a record of TensorBoard's writers, and each of its values in every way; whole and outlined
// reading must agree, and what a scan takes of a value must be what is read of it.
#include "wire/summary.hpp"

#include "target.hpp"
#include "text/json.hpp"
#include "text/limits.hpp"
#include "wire/outline.hpp"

#include <smd/tensor.hpp>
#include <smd/tensor_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::wire;

namespace {

void check_summary_value(const Value& value) {
  const auto count = element_count(value.shape);
  SMD_REQUIRE(count && value.shape.size() <= limits::dimensions);
  if (value.dtype == Dtype::string) {
    SMD_REQUIRE(strings({value.dtype, value.shape, value.bytes}).size() == *count);
  } else {
    SMD_REQUIRE(value.bytes.size() == (*count - value.repeats) * item_size(value.dtype));
  }
  SMD_REQUIRE(value.dtype != Dtype::boolean || is_normal_boolean(value.bytes));
}

template <class T>
void check_damage(const Outcome<T>& outcome) {
  SMD_REQUIRE(outcome || (outcome.problem().kind == ProblemKind::damaged && !outcome.problem().text.empty()));
}

/// A field of a message: key, length and content.
std::string field(char key, std::string_view content) {
  std::string out(1, key);
  std::size_t left = content.size();
  for (; left > 0x7F; left >>= 7) {
    out += static_cast<char>(0x80 | (left & 0x7F));
  }
  out += static_cast<char>(left);
  return out.append(content);
}

/// A tensor as the only value of an event.
Outcome<Value> parse_tensor(std::span<const std::byte> message) {
  const std::string_view tensor(reinterpret_cast<const char*>(message.data()), message.size());
  const std::string event = field(5 << 3 | 2, field(1 << 3 | 2, field(1 << 3 | 2, "t") + field(8 << 3 | 2, tensor)));
  return parse_value(std::as_bytes(std::span(event)), "t", ValueKinds::summaries);
}

/// What a scan takes from the message of a value; it need not be of that kind.
void check_message(std::span<const std::byte> message) {
  check_damage(histogram_sums(message));
  const auto buckets = bucket_span(message);
  check_damage(buckets);
  const auto type = parse_tensor(message);
  check_damage(type);
  SMD_REQUIRE(!buckets || (type && type->shape.size() == 2 && type->shape[1] == 3));
  const auto scalar = scalar_of_tensor(message);
  SMD_REQUIRE(!scalar || (type && type->dtype == scalar->dtype && element_count(type->shape) == 1));
}

void check_metadata(const SummaryMetadata& metadata) {
  for (const Hyperparameter& parameter : hyperparameters(metadata.content)) {
    SMD_REQUIRE(!text::json_error(parameter.json));  // a list at the limit lies in none
  }
}

/// The last value of a name, which counts: read, and against what the outline says of it.
void check_last(std::span<const std::byte> payload, const SummaryValue& found) {
  const auto value = parse_value(payload, found.tag, ValueKinds::summaries);
  check_damage(value);
  if (value) {
    check_summary_value(*value);
  }
  SMD_REQUIRE(!value || found.kind != SummaryKind::none);
  SMD_REQUIRE(value || found.kind != SummaryKind::simple_value);
  if (found.kind == SummaryKind::tensor) {
    const auto scalar = scalar_of_tensor(found.message);
    const bool single = value && value->dtype != Dtype::string && element_count(value->shape) == 1 &&
                        value->bytes.size() <= sizeof(std::uint64_t);
    SMD_REQUIRE(scalar.has_value() == single);
    for (std::size_t at = 0; single && at < value->bytes.size(); ++at) {
      SMD_REQUIRE(value->bytes[at] == static_cast<std::byte>(scalar->bits >> (8 * at)));
    }
  }
  for (const ValueForm part : {ValueForm::images, ValueForm::clips}) {
    const auto some = parse_value(payload, found.tag, ValueKinds::summaries, part);
    SMD_REQUIRE(static_cast<bool>(some) == static_cast<bool>(value));
    if (some) {
      check_summary_value(*some);
      SMD_REQUIRE(some->bytes.empty() || !some->owned || some->bytes.data() == some->owned.get());
      SMD_REQUIRE(some->bytes.size() <= value->bytes.size());
    }
  }
}

void check_outline(std::span<const std::byte> payload, std::span<const std::byte> head, std::string_view tag) {
  const auto place = find_content(head, payload.size());
  if (!place) {
    return;
  }
  const auto whole = parse_value(payload, tag, ValueKinds::summaries);
  const auto value =
      parse_outline(*place, head, payload.subspan(place->offset + place->bytes), tag, ValueKinds::summaries);
  if (!value) {
    SMD_REQUIRE(!whole);
  } else if (*value) {
    SMD_REQUIRE(whole && whole->dtype == (*value)->dtype && whole->shape == (*value)->shape &&
                whole->step == (*value)->step && whole->bytes.size() == place->bytes);
  }
}

/// Nothing in a small payload is large enough to be left out.
void check_skeleton(std::span<const std::byte> payload, const EventOutline& whole) {
  const auto skeleton = event_skeleton(payload.size(), [&](std::uint64_t at, std::uint64_t bytes) {
    SMD_REQUIRE(at <= payload.size() && bytes <= payload.size() - at);
    return Outcome<std::span<const std::byte>>(payload.subspan(at, bytes));
  });
  check_damage(skeleton);
  if (!skeleton) {
    return;  // it has groups
  }
  EventOutline event;
  SMD_REQUIRE(outline_event(std::as_bytes(std::span(*skeleton)), event));
  SMD_REQUIRE(event.kind == whole.kind && event.step == whole.step && event.values.size() == whole.values.size());
  for (std::size_t i = 0; i < event.values.size(); ++i) {
    SMD_REQUIRE(event.values[i].tag == whole.values[i].tag && event.values[i].kind == whole.values[i].kind);
    SMD_REQUIRE(std::ranges::equal(event.values[i].message, whole.values[i].message));
  }
}

}  // namespace

SMD_FUZZ_ENTRY(summary)(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  // The first byte determines how much of the rest the outline may see.
  const auto payload = std::as_bytes(std::span(data + 1, size - 1));
  const auto head = payload.first(std::min<std::size_t>(data[0], payload.size()));
  check_message(payload);
  check_metadata({{}, payload, 0});
  EventOutline event;
  const Status status = outline_event(payload, event);
  check_damage(status);
  if (!status) {
    SMD_REQUIRE(!parse_value(payload, "a", ValueKinds::summaries));
    return 0;
  }
  SMD_REQUIRE(event.kind == EventKind::summary || event.values.empty());
  check_skeleton(payload, event);
  // Reading a value looks at all of them.
  for (std::size_t at = event.values.size() - std::min<std::size_t>(event.values.size(), 20); at < event.values.size();
       ++at) {
    const SummaryValue& value = event.values[at];
    check_message(value.message);
    if (value.metadata) {
      check_metadata(*value.metadata);
    }
    const auto same = [&value](const SummaryValue& other) { return other.tag == value.tag; };
    if (std::none_of(event.values.begin() + static_cast<std::ptrdiff_t>(at) + 1, event.values.end(), same)) {
      check_last(payload, value);
      check_outline(payload, head, value.tag);
    }
  }
  return 0;
}
