// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace smd::tool {

/// Whether a local folder is a trial, or contains one as its debug-output.
[[nodiscard]] bool is_trial_folder(const std::string& path);

/// For an operand that cannot be opened as a trial, a clause that says what it is and what to do: an archive or a
/// compressed file, a folder above trials (names three of them), something within a trial (names the trial), the names
/// of a trial and a tensor in one. The clause leaves out the operand. Empty if nothing is known, and for S3. Looks at a
/// bounded number of files.
[[nodiscard]] std::string instead_of_trial(const std::string& path);

/// For a local folder that holds runs, and so is no trial: a clause that names the trials of other layouts below it.
/// Empty if there are none.
[[nodiscard]] std::string beside_runs(const std::string& path);

}  // namespace smd::tool
