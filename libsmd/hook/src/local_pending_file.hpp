// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/problem.hpp>

#include "output.hpp"
#include "storage/descriptor.hpp"

#include <memory>
#include <string>

namespace smd::detail::hook {

/// Returns the problem of writing `file` for an errno value.
[[nodiscard]] Problem write_problem(int error, std::string file);

/// Makes a temporary file in `folder` (opened by O_PATH) with a name that no other writer uses,
/// `LEAF.0123456789abcdef.tmp`; `publish` renames it to `leaf`. `full_name` is for messages. Removes a file `LEAF.tmp`
/// that another writer left: the reference's hook would append to it.
[[nodiscard]] Outcome<std::unique_ptr<PendingFile>> create_local_file(storage::Descriptor folder, std::string leaf,
                                                                      std::string full_name);

}  // namespace smd::detail::hook
