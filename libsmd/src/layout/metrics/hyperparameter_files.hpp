// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

namespace smd::detail::layout {

/// Takes the lines `key: value` of the files beside a log in which trainers write their parameters.
void read_hyperparameters(storage::Storage& storage, Extras& extras);

}  // namespace smd::detail::layout
