// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>
#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
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

/// Sum of the lengths of an entry's records.
[[nodiscard]] std::uint64_t record_bytes(const TensorEntry& entry) noexcept;

}  // namespace smd::tool::ls
