// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/json.hpp"
#include "types/outcome.hpp"

#include <string_view>

namespace smd::detail {

/// Returns a fault in a JSON document as a problem, without the file's name; or what the file is instead, if its first
/// bytes tell. `text`: the document's; may be empty.
[[nodiscard]] Problem json_problem(const text::JsonError& error, std::string_view text = {});

}  // namespace smd::detail
