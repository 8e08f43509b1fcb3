// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <smd/trial.hpp>
#include <string>
#include <vector>

#include "choice.hpp"

namespace smd::tool::ls {

/// What was saved of one tensor at the chosen steps by the chosen workers.
struct TensorFacts {
  TensorSummary summary;
  std::optional<TensorLocation> value;  ///< Of the latest step that has one, by the first worker; if asked for.
  std::optional<Dtype> dtype;           ///< Of that record; see `read_types`.
};

/// One row per name that was saved then, in the order of `names` (byte order). `locate`: find `value` too.
[[nodiscard]] std::vector<TensorFacts> tensor_facts(const Trial& trial, const Choice& choice,
                                                    const std::vector<std::string>& names,
                                                    const SelectionOptions& options, bool locate);

/// Reads the head of each row's record: `dtype`, and the shape where none was saved by itself. Records that cannot be
/// read are reported and leave theirs open.
void read_types(const Trial& trial, std::vector<TensorFacts>& facts, Diagnostics& messages);

/// The collections of each tensor, by name, in byte order. Tensors of no collection are absent.
[[nodiscard]] std::map<std::string, std::vector<std::string>, std::less<>> collections_of(const Trial& trial);

}  // namespace smd::tool::ls
