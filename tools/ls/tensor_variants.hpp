// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>
#include <vector>

#include "tensor_facts.hpp"

namespace smd::tool::ls {

/// Finds whether a tensor's shape or dtype may change over the steps and workers of `query`: sets `shape_varies` from
/// shapes saved by themselves, and adds to `others` one record for each worker and each length of records. Records of
/// one worker and of the same length are taken to have one shape and dtype, unless the last is different.
/// @param facts by name, in byte order.
void find_variants(const Trial& trial, const EntryQuery& query, std::vector<TensorFacts>& facts);

}  // namespace smd::tool::ls
