// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/payload.hpp"
#include "text/json_reader.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <smd/step.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::layout {

/// The content of one index file.
struct ParsedIndex {
  Mode mode = Mode::global;
  std::int64_t mode_step = 0;
  std::uint32_t payload = no_id;     ///< Position in `Tables::payloads`; `no_id` if it has no entries.
  std::uint32_t event_file = no_id;  ///< Id in `Tables::paths`; `no_id` if it is the expected path.
};

/// Parses index files (docs/format.md) into tables of its own. Each thread needs its own parser.
class IndexParser {
 public:
  IndexParser() = default;
  IndexParser(const IndexParser&) = delete;
  IndexParser& operator=(const IndexParser&) = delete;
  ~IndexParser() = default;

  /// Parses one file. Leaves out damaged entries and describes them in `refused`, without the file's name. The result
  /// refers to `tables()`. @pre `Buffer::padding` readable bytes follow `text`; `refused` is empty
  Outcome<ParsedIndex> parse(std::span<const std::byte> text, std::string_view expected_event_path,
                             ProblemList& refused);

  /// Frees the memory that a long file took, except that of `tables()`.
  void trim() noexcept { json_.reset(); }

  /// What the files share.
  [[nodiscard]] Tables& tables() noexcept { return tables_; }

 private:
  /// A recent payload text, and the payload parsed from it. The text starts behind `meta`.
  struct Recent {
    std::string text;
    std::uint32_t payload = no_id;
  };
  /// Whether a file has a list of entries, and which of them are refused.
  struct EntryList;

  void remember(std::string_view text, std::uint32_t payload);
  Outcome<ParsedIndex> parse_fully(std::string_view text, std::string_view expected, ProblemList& refused);
  template <class Read>
  EntryList read_list(text::JsonValue& value, std::string_view list, Read read);
  [[nodiscard]] std::string read_tensor(text::JsonValue& value, std::optional<std::string_view>& name);
  [[nodiscard]] std::string read_shape(text::JsonValue& value, std::optional<std::string_view>& name);
  [[nodiscard]] std::uint32_t name_id(std::string_view name);
  [[nodiscard]] std::uint32_t keep_payload();

  Tables tables_;
  std::optional<text::JsonReader> json_;
  std::array<Recent, 8> recent_;
  std::size_t next_recent_ = 0;
  SharedLists<NameList> name_lists_{tables_.name_lists};
  SharedLists<std::vector<SavedShape>> shape_lists_{tables_.shape_lists};
  // The file being parsed:
  NameList names_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> lengths_;
  std::vector<SavedShape> shapes_;
  std::uint32_t last_list_ = no_id;  ///< The names of the file before.
};

}  // namespace smd::detail::layout
