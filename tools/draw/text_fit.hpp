// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smd::tool {

/// About how wide displayable text (`cli/escape.hpp`) is, in heights of its font (em): a little more than a
/// sans-serif font takes.
[[nodiscard]] double text_width(std::string_view text);

/// Returns any bytes made displayable and, if wider than `width`, with `…` in place of the middle: names of tensors
/// differ at their ends.
[[nodiscard]] std::string shortened(std::string_view text, double width);

/// Returns any bytes made displayable, in at most `most` lines that are no wider than `width`, broken at spaces if
/// there are any; text that is too long is shortened.
[[nodiscard]] std::vector<std::string> text_lines(std::string_view text, double width, std::size_t most);

}  // namespace smd::tool
