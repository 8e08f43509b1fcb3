// SPDX-License-Identifier: Apache-2.0
// Parses the input as a collections file, merges its content with itself, which must change nothing, and writes it
// again.
#include "layout/debugger/collections_file.hpp"

#include "hook/src/file_text.hpp"
#include "source.hpp"
#include "support/padded.hpp"
#include "target.hpp"
#include "text/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace smd;
using namespace smd::detail;

SMD_FUZZ_ENTRY(collections)(const std::uint8_t* data, std::size_t size) {
  ProblemList notes(limits::problems_per_file);
  const std::string given = test::padded(std::string(reinterpret_cast<const char*>(data), size));
  const auto parsed = layout::parse_collections_file(fuzz::bytes_of(given), notes);
  for (const Problem& note : notes.all()) {
    SMD_REQUIRE(!note.text.empty());
  }
  if (!parsed) {
    SMD_REQUIRE(parsed.problem().kind == ProblemKind::damaged && !parsed.problem().text.empty());
    SMD_REQUIRE(!parsed.problem().offset || *parsed.problem().offset <= size);
    return 0;
  }
  for (const auto& [name, collection] : parsed->collections) {
    SMD_REQUIRE(name.size() <= limits::name_bytes);
    SMD_REQUIRE(collection.name == name);
  }
  const auto united = [&parsed](int times) {
    layout::CollectionsUnion all;
    for (int i = 0; i < times; ++i) {
      all.add(std::map(parsed->collections));
    }
    return all.take();
  };
  SMD_REQUIRE(united(2) == united(3));

  const std::string written = test::padded(hook::collections_text(parsed->collections, 1));
  ProblemList notes_again(limits::problems_per_file);
  const auto again = layout::parse_collections_file(fuzz::bytes_of(written), notes_again);
  SMD_REQUIRE(again && again->num_workers == 1);
  SMD_REQUIRE(again->collections.size() == parsed->collections.size());
  for (const auto& [name, collection] : parsed->collections) {
    const auto found = again->collections.find(name);
    SMD_REQUIRE(found != again->collections.end());
    SMD_REQUIRE(found->second.tensor_names == collection.tensor_names);
    SMD_REQUIRE(found->second.include_regex == collection.include_regex);
  }
  return 0;
}
