// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"

#include <smd/problem.hpp>

#include <functional>
#include <string>
#include <unordered_set>

namespace smd::detail::layout {

/// `Layout::check_names` for a debugger trial.
void check_trial_names(storage::Storage& storage, const std::unordered_set<std::string>& event_files,
                       const std::function<void(Problem)>& report);

}  // namespace smd::detail::layout
