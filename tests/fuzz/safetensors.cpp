// SPDX-License-Identifier: Apache-2.0
// Parses the input as a safetensors file: what is sound must be so by a check that knows nothing of the parser's. Its
// header must be JSON for the one parser as for the other.
#include "wire/safetensors.hpp"

#include "layout/checkpoints/shard_index.hpp"
#include "layout/checkpoints/trainer_state.hpp"
#include "text/json.hpp"
#include "text/json_reader.hpp"
#include "wire/little_endian.hpp"

#include <smd/shape.hpp>

#include "support/padded.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::wire;

namespace {

void check_entries(const SafetensorsHeader& header, std::uint64_t data, std::uint64_t size) {
  std::set<std::string> names;
  std::vector<bool> taken(size);
  bool all_sound = true;
  for (std::size_t i = 0; i < header.entries.size(); ++i) {
    const FileTensor entry = header.entries[i];
    SMD_REQUIRE(names.emplace(entry.name).second);
    all_sound = all_sound && entry.sound;
    if (!entry.sound) {
      continue;
    }
    SMD_REQUIRE(entry.offset >= data && entry.offset <= size && entry.length <= size - entry.offset);
    if (entry.unread_type.empty()) {
      const auto count = smd::element_count(smd::Shape(entry.shape.begin(), entry.shape.end()));
      SMD_REQUIRE(count && *count * item_size(entry.dtype) == entry.length);
    }
    for (std::uint64_t at = entry.offset; at < entry.offset + entry.length; ++at) {
      SMD_REQUIRE(!taken[at]);
      taken[at] = true;
    }
  }
  if (header.problems.empty() && !header.cut) {
    SMD_REQUIRE(all_sound);
    for (std::uint64_t at = data; at < size; ++at) {
      SMD_REQUIRE(taken[at]);
    }
  }
}

void check_problems(const SafetensorsHeader& header, std::uint64_t size) {
  for (const Problem& problem : header.problems.kept()) {
    SMD_REQUIRE(problem.kind == ProblemKind::damaged && problem.offset && !problem.text.empty());
  }
  SMD_REQUIRE(!header.cut || *header.cut->offset <= size);
}

/// Both parsers agree on what is JSON; the other one reads past a byte order mark, and ends at NUL.
void check_json(const std::string& text) {
  if (text.starts_with("\xEF\xBB\xBF") || text.find('\0') != text.npos) {
    return;
  }
  const auto refused = text::JsonReader().read(text, [](std::string_view, text::JsonValue&) {});
  SMD_REQUIRE(!refused || refused->offset <= text.size());
  const auto error = text::json_error(text);
  if (refused && refused->fault == text::JsonFault::no_object) {
    return;
  }
  // What is out of a double's range ends the other one; this one goes on.
  SMD_REQUIRE(error && error->fault == text::JsonFault::number ? true : refused.has_value() == error.has_value());
}

}  // namespace

SMD_FUZZ_ENTRY(safetensors)(const std::uint8_t* data, std::size_t size) {
  const std::string file = test::padded(std::string(reinterpret_cast<const char*>(data), size));
  check_json(file);
  (void)layout::global_step_of(file);
  (void)layout::parse_trainer_log(file);
  (void)layout::parse_shard_index(file);
  SafetensorsHeader header;
  const std::uint64_t length =
      size < safetensors_length_bytes
          ? 0
          : load_little<std::uint64_t>(std::as_bytes(std::span(data, safetensors_length_bytes)));
  if (check_safetensors_length(length, size, header)) {
    const std::string json = test::padded(file.substr(safetensors_length_bytes, static_cast<std::size_t>(length)));
    check_json(json);
    header = parse_safetensors(json, size);
    check_entries(header, safetensors_length_bytes + length, size);
  }
  check_problems(header, size);
  return 0;
}
