// SPDX-License-Identifier: Apache-2.0
// Parses the input as a record's payload, whole and outlined; both must agree. Writes the result again.
#include "wire/event.hpp"

#include "target.hpp"
#include "text/limits.hpp"
#include "wire/encode.hpp"
#include "wire/outline.hpp"

#include <smd/tensor_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::wire;

namespace {

constexpr std::string_view tag = "a";

void check_value(const Value& value) {
  const auto count = element_count(value.shape);
  SMD_REQUIRE(count && value.shape.size() <= limits::dimensions);
  if (value.dtype == Dtype::string) {
    SMD_REQUIRE(strings({value.dtype, value.shape, value.bytes}).size() == *count);
  } else {
    SMD_REQUIRE(value.bytes.size() == (*count - value.repeats) * item_size(value.dtype));
  }
  if (value.dtype == Dtype::boolean) {
    SMD_REQUIRE(is_normal_boolean(value.bytes));
  }
  if (value.repeats > 0) {
    return;  // when written, it has all of its elements
  }
  std::string written;
  append_event(written, {tag, value.wall_time, value.step, {}, {}}, {value.dtype, value.shape, value.bytes});
  const auto again = parse_value(std::as_bytes(std::span(written.data(), written.size())), tag);
  SMD_REQUIRE(again && again->dtype == value.dtype && again->shape == value.shape && again->step == value.step);
  SMD_REQUIRE(std::equal(again->bytes.begin(), again->bytes.end(), value.bytes.begin(), value.bytes.end()));
}

}  // namespace

SMD_FUZZ_ENTRY(event)(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  // The first byte determines how much of the rest the outline may see.
  const auto payload = std::as_bytes(std::span(data + 1, size - 1));
  const auto head = payload.first(std::min<std::size_t>(data[0], payload.size()));
  const auto whole = parse_value(payload, tag);
  if (whole) {
    check_value(*whole);
  } else {
    SMD_REQUIRE(whole.problem().kind == ProblemKind::damaged && !whole.problem().text.empty());
  }
  const auto place = find_content(head, payload.size());
  if (place) {
    SMD_REQUIRE(place->offset <= head.size() && place->offset + place->bytes > head.size() &&
                place->offset + place->bytes <= payload.size());
    const auto value = parse_outline(*place, head, payload.subspan(place->offset + place->bytes), tag);
    if (!value) {
      SMD_REQUIRE(!whole);
    } else if (*value) {
      SMD_REQUIRE(whole && whole->dtype == (*value)->dtype && whole->shape == (*value)->shape &&
                  whole->step == (*value)->step && whole->bytes.size() == place->bytes);
    }
  }
  return 0;
}
