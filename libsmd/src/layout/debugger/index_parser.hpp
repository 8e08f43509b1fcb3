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

/// The content of one index file.
struct ParsedIndex {
  Mode mode = Mode::global;
  std::int64_t mode_step = 0;
  std::uint32_t payload = no_id;     ///< Position in `IndexTables::payloads`; `no_id` if it has no entries.
  std::uint32_t event_file = no_id;  ///< Id in `IndexTables::paths`; `no_id` if it is the expected path.
};

/// The content of index files, shared among them. Filled by one parser.
using IndexTables = Tables;

/// Parses index files (docs/format.md) into tables of its own. Each thread needs its own parser.
class IndexParser {
 public:
  IndexParser();
  ~IndexParser();
  IndexParser(IndexParser&&) noexcept;
  IndexParser& operator=(IndexParser&&) noexcept;

  /// Parses one file. Leaves out damaged entries and describes them in `refused`, without the file's name. The result
  /// refers to `tables()`. @pre `Buffer::padding` readable bytes follow `text`; `refused` is empty
  Outcome<ParsedIndex> parse(std::span<const std::byte> text, std::string_view expected_event_path,
                             ProblemList& refused);

  /// Frees the memory that a long file took, except that of `tables()`.
  void trim() noexcept;

  [[nodiscard]] IndexTables& tables() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::detail::layout
