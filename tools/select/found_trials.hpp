// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/reading_options.hpp"

namespace smd::tool {

/// Returns the paths of the trials at and below a place, in byte order. Reports what could not be searched, of each
/// kind of problem three and then how many more, and with a note that there is none.
[[nodiscard]] std::vector<std::string> found_trials(const std::string& place, const ReadingOptions& reading,
                                                    Diagnostics& messages);

}  // namespace smd::tool
