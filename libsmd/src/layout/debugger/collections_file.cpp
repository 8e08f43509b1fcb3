// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/collections_file.hpp"

#include "layout/debugger/collections_reader.hpp"
#include "layout/debugger/json_text.hpp"
#include "text/json_events.hpp"

#include <algorithm>
#include <string_view>

namespace smd::detail::layout {

Outcome<CollectionsFile> parse_collections_file(std::span<const std::byte> bytes, ProblemList& notes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) {
    return damaged("the file is empty", 0);
  }
  if (CollectionsReader plain; text::scan_json(text, plain)) {
    return std::move(plain).finish(false, notes);
  }
  CollectionsReader reader;
  const auto error = text::read_json(text, reader);
  if (!error) {
    return std::move(reader).finish(false, notes);
  }
  Problem trouble = damaged_json(*error);
  // Valid JSON may hold texts that are not Unicode and numbers of any size: only these are lost, not the file.
  CollectionsReader again;
  if (error->fault == text::JsonFault::too_deep || text::read_json(blank_out_unrepresentable(text), again)) {
    return trouble;
  }
  Outcome<CollectionsFile> file = std::move(again).finish(true, notes);
  const auto is_damage = [](const Problem& note) { return note.kind == ProblemKind::damaged; };
  if (file && std::none_of(notes.kept().begin(), notes.kept().end(), is_damage)) {
    trouble.text = "a text with half a surrogate pair, or a number beyond a double, is left out";
    notes.add(std::move(trouble));
  }
  return file;
}

}  // namespace smd::detail::layout
