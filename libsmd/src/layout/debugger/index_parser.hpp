// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <smd/step.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "layout/payload.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"

namespace smd::detail::layout {

/// What one index file says of its step.
struct ParsedIndex {
  Mode mode = Mode::global;
  std::int64_t mode_step = 0;
  std::uint32_t payload = no_id;     ///< Position in `IndexTables::payloads`; `no_id` if it lists nothing.
  std::uint32_t event_file = no_id;  ///< Id in `IndexTables::paths`; `no_id` if it is the expected path.
};

/// What index files said, shared among them. Filled by one parser.
using IndexTables = Tables;

/// Parses index files (docs/format.md) into tables of its own. One a thread.
class IndexParser {
 public:
  IndexParser();
  ~IndexParser();
  IndexParser(IndexParser&&) noexcept;
  IndexParser& operator=(IndexParser&&) noexcept;

  /// Parses one file. `text` is followed by `Buffer::padding` readable bytes. Entries that are damaged by themselves
  /// are left out and described in `refused` (without the file's name), which is empty at first. What it returns stays
  /// valid in `tables()`.
  Outcome<ParsedIndex> parse(std::span<const std::byte> text, std::string_view expected_event_path,
                             ProblemList& refused);

  /// Gives back the memory that a long file took beside what `tables()` holds.
  void trim() noexcept;

  [[nodiscard]] IndexTables& tables() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::detail::layout
