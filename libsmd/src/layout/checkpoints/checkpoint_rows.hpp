// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/checkpoints/checkpoint_listing.hpp"
#include "layout/layout.hpp"
#include "layout/name_collections.hpp"
#include "layout/name_table.hpp"
#include "storage/storage.hpp"
#include "types/problem_list.hpp"

#include <cstdint>
#include <utility>
#include <vector>

/// Makes rows of the catalog from headers and logs.
namespace smd::detail::layout {

/// Returns a row for each step of a log, without ids.
[[nodiscard]] std::vector<LogRow> list_log_rows(const TrainerLog& log);

/// Tensors, each once, by their ids in a table, with the kind of some of their values.
struct FreshNames {
  NameTable::Texts texts;
  std::vector<std::pair<std::uint32_t, ValueKind>> kinds;
};

/// Fills `loaded` with the rows whose ids are at least `first_id`, and returns their tensors' names, for collections.
/// If two files of one step have the same tensor, that of the first file counts, and `problems` reports it.
[[nodiscard]] FreshNames fill_rows(storage::Storage& storage, const CheckpointListing& listing, std::uint64_t first_id,
                                   LoadedSteps& loaded, ProblemList& problems);

}  // namespace smd::detail::layout
