// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace smd::tool {

/// Whether a local folder is a trial, or has one as its debug-output.
[[nodiscard]] bool is_trial_folder(const std::string& path);

/// What an operand is that cannot be opened as a trial, and what to do: an archive or a compressed file, a folder above
/// trials (names three of them), something within one (names the trial), a trial and a tensor's name in one. A clause
/// without the operand itself. Empty if nothing can be told, and for S3. Looks at a bounded number of files.
[[nodiscard]] std::string instead_of_trial(const std::string& path);

}  // namespace smd::tool
