// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace smd::tool {

/// The regular expression that, searched for, finds what a shell's glob stands for: `^conv` for `conv*`, `weight$` for
/// `*weight`. Nullopt if the text is no glob: it has none of `*`, `?` and `[…]`, or is more likely meant as a regular
/// expression (`conv.*`, `a|b`).
[[nodiscard]] std::optional<std::string> regex_of_glob(std::string_view text);

/// `'*weight' is a regular expression, not a glob: try 'weight$'`, if the text is a glob; else empty.
[[nodiscard]] std::string glob_for_regex(std::string_view text);

}  // namespace smd::tool
