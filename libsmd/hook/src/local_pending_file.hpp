// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output.hpp"
#include "storage/descriptor.hpp"

#include <memory>
#include <string>

namespace smd::detail::hook {

/// Makes a temporary file in `folder` (opened by O_PATH) with a name that no other writer uses,
/// `LEAF.0123456789abcdef.tmp`; `publish` renames it to `leaf`. `full_name` is for messages. Removes a file `LEAF.tmp`
/// that another writer left: the reference's hook would append to it.
[[nodiscard]] Outcome<std::unique_ptr<PendingFile>> create_local_file(storage::Descriptor folder, std::string leaf,
                                                                      std::string full_name);

}  // namespace smd::detail::hook
