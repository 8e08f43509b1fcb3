// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rows/cell.hpp"
#include "selected.hpp"

#include <smd/trial.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smd::tool::ls {

/// What was saved of one tensor at the chosen steps by the chosen workers.
struct TensorFacts {
  TensorSummary summary;
  std::optional<Place> value;  ///< Of the latest step that has one, by the first worker; if asked for.
  std::string dtype;           ///< Of that record; empty if it is not known; see `read_types`.
  std::vector<Place> others;   ///< Records that may have another shape or dtype; if asked for.
  bool shape_varies = false;   ///< Whether it varies over steps or workers.
  bool dtype_varies = false;
  PlaceCell written = {};  ///< Of the first record; see `locate_first`.
};

/// One row per name that was saved in the selection, in the order of `names` (byte order). `locate`: find `value` and
/// `others` too.
[[nodiscard]] std::vector<TensorFacts> tensor_facts(const Trial& trial, const Selection& selection,
                                                    const std::vector<std::string>& names,
                                                    const SelectionOptions& options, bool locate);

/// Finds where the first record of each row was written.
void locate_first(const Trial& trial, std::vector<TensorFacts>& facts);

/// Reads the beginnings of each row's records: `dtype`, the shape if none was saved by itself, and whether they vary. A
/// `value` that cannot be read is reported, and its type remains unknown.
void read_types(const Trial& trial, std::vector<TensorFacts>& facts, Diagnostics& messages);

/// The collections of each tensor, by name, in byte order. Tensors of no collection are absent.
[[nodiscard]] std::map<std::string, std::vector<std::string>, std::less<>> collections_of(const Trial& trial);

/// Finds whether a tensor's shape or dtype may change over the steps and workers of `query`: sets `shape_varies` from
/// shapes saved by themselves, and adds to `others` one record for each worker and each length of records. Records of
/// one worker and of the same length are taken to have one shape and dtype, unless the last is different.
/// @param facts by name, in byte order.
void find_variants(const Trial& trial, const EntryQuery& query, std::vector<TensorFacts>& facts);

}  // namespace smd::tool::ls
