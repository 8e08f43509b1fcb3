// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/remote.hpp>
#include <span>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"

namespace smd::tool {

/// Returns `own` and the options that say how trials on S3 are reached.
[[nodiscard]] std::vector<OptionSpec> with_remote_options(std::span<const OptionSpec> own);
/// A signal that an Interruption receives ends requests.
[[nodiscard]] RemoteOptions remote_options(const CommandLine& line);

/// Sends warnings and details about a remote store to `messages`, which must outlive all that is opened with the
/// options.
void say_remote(RemoteOptions& options, Diagnostics& messages);

}  // namespace smd::tool
