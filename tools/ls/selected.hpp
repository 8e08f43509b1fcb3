// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <smd/trial.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "rows/cell.hpp"
#include "select/select.hpp"

namespace smd::tool::ls {

/// The selected tensors that were saved at the selected steps by the selected workers, in byte order. Reports those
/// asked for by name that were not.
[[nodiscard]] std::vector<std::string> saved_names(Trial& trial, const Selection& selection,
                                                   const SelectionOptions& options, Diagnostics& messages);

/// One row for each selected step at which something selected was saved, ascending; `tensors`, `workers` and `bytes`
/// count what is selected.
[[nodiscard]] std::vector<StepInfo> saved_steps(const Trial& trial, const Selection& selection,
                                                const SelectionOptions& options);

/// In ascending rows of steps, sets the numbers of the mode asked for, if it is one, and counts only what is selected;
/// drops rows without any of it.
void narrow(std::vector<StepInfo>& infos, const Trial& trial, const Selection& selection,
            const SelectionOptions& options);

/// What was saved of one tensor at the chosen steps by the chosen workers.
struct TensorFacts {
  TensorSummary summary = {};
  std::optional<Place> value = {};  ///< Of the latest step that has one, by the first worker; if asked for.
  std::string dtype = {};           ///< Of that record; empty if it is not known; see `read_types`.
  std::vector<Place> others = {};   ///< Records that may have another shape or dtype; if asked for.
  bool shape_varies = false;        ///< Whether it varies over steps or workers.
  bool dtype_varies = false;
  PlaceCell written = {};  ///< Of the first record; see `locate_first`.
};

[[nodiscard]] inline std::string_view name_of(const TensorFacts& facts) noexcept { return facts.summary.tensor; }

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

}  // namespace smd::tool::ls
