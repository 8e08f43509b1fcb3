// SPDX-License-Identifier: Apache-2.0
// Parses the input as an index file: twice with one parser, which must recognise it, and with a new one, which must
// agree.
#include "layout/debugger/index_parser.hpp"

#include "base/buffer.hpp"
#include "target.hpp"
#include "text/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::layout;

namespace {

constexpr std::size_t framing_bytes = 16;  // around a record's payload: lengths in index files include them

void check_shape_list(const Tables& tables, std::uint32_t shapes) {
  SMD_REQUIRE(shapes < tables.shape_lists.size());
  for (const SavedShape& saved : tables.shape_lists[shapes]) {
    SMD_REQUIRE(saved.name < tables.names.size());
    SMD_REQUIRE(saved.original == no_id || saved.original < tables.names.size());
    SMD_REQUIRE(saved.shape.size() <= limits::dimensions);
  }
}

void check_payload(const Tables& tables, const ParsedIndex& parsed) {
  SMD_REQUIRE(parsed.event_file == no_id || parsed.event_file < tables.paths.size());
  if (parsed.payload == no_id) {
    return;
  }
  SMD_REQUIRE(parsed.payload < tables.payloads.size());
  const Payload& payload = tables.payloads[parsed.payload];
  if (payload.count != 0) {
    SMD_REQUIRE(payload.names < tables.name_lists.size());
    const NameList& names = tables.name_lists[payload.names];
    SMD_REQUIRE(names.size() == payload.count);
    for (std::uint32_t i = 0; i < payload.count; ++i) {
      SMD_REQUIRE(names[i] < tables.names.size() && tables.names[names[i]].size() <= limits::name_bytes);
      SMD_REQUIRE(payload.start(i) <= INT64_MAX && payload.length(i) <= limits::record_bytes + framing_bytes);
    }
  }
  if (payload.shapes != no_id) {
    check_shape_list(tables, payload.shapes);
  }
}

}  // namespace

SMD_FUZZ_ENTRY(index)(const std::uint8_t* data, std::size_t size) {
  // On the heap, with exactly the promised size, so that any access beyond it is detected.
  std::vector<std::byte> padded(size + Buffer::padding);
  if (size != 0) {
    std::memcpy(padded.data(), data, size);
  }
  const std::span<const std::byte> text(padded.data(), size);
  constexpr std::string_view expected = "events/000000000000/000000000000_worker_0.tfevents";

  IndexParser parser;
  ProblemList refused(limits::problems_per_file);
  const auto first = parser.parse(text, expected, refused);
  for (const Problem& problem : refused.kept()) {
    SMD_REQUIRE(!problem.text.empty());
  }
  if (!first) {
    SMD_REQUIRE(first.problem().kind == ProblemKind::damaged && !first.problem().text.empty());
    SMD_REQUIRE(!first.problem().offset || *first.problem().offset <= size);
  } else {
    check_payload(parser.tables(), *first);
  }

  ProblemList refused_again(limits::problems_per_file);
  const auto second = parser.parse(text, expected, refused_again);
  SMD_REQUIRE(static_cast<bool>(first) == static_cast<bool>(second));
  IndexParser fresh;
  ProblemList refused_fresh(limits::problems_per_file);
  const auto third = fresh.parse(text, expected, refused_fresh);
  SMD_REQUIRE(static_cast<bool>(first) == static_cast<bool>(third));
  SMD_REQUIRE(refused.all() == refused_fresh.all() && refused.all() == refused_again.all());
  if (first) {
    check_payload(parser.tables(), *second);
    SMD_REQUIRE(second->mode == first->mode && second->mode_step == first->mode_step &&
                second->event_file == first->event_file);
    SMD_REQUIRE(third->mode == first->mode && third->mode_step == first->mode_step &&
                third->payload == first->payload && third->event_file == first->event_file);
    SMD_REQUIRE((first->payload == no_id) == (second->payload == no_id));
  }
  return 0;
}
