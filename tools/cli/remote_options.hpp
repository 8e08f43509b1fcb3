// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/remote.hpp>
#include <span>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"

namespace smd::tool {

/// How trials on S3 are reached: the options that commands which read or write them have.
/// `own` and these.
[[nodiscard]] std::vector<OptionSpec> with_remote_options(std::span<const OptionSpec> own);
/// A signal that an Interruption gets ends requests.
[[nodiscard]] RemoteOptions remote_options(const CommandLine& line);

/// What goes on with a remote store is said by `messages`, which must outlive all that is opened with the options.
void say_remote(RemoteOptions& options, Diagnostics& messages);

}  // namespace smd::tool
