// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smd::text {

/// The words of a name, in lower case (ASCII): parts between `/`, `_`, `-`, `.` and blanks, split further where camel
/// case begins a word (`valLoss`, `L2Norm`, `HTTPError`). No word is empty.
[[nodiscard]] std::vector<std::string> split_words(std::string_view name);

/// Which part of the data a word says that a value was measured on.
enum class Side : std::uint8_t {
  none,
  train,
  eval,
  test,  ///< Counts as `eval` where nothing else does.
};

/// The side that a word in lower case names. `dev` does so as the first word of its name only: `std_dev` is no side.
[[nodiscard]] Side side_of_word(std::string_view word, bool first_word) noexcept;

}  // namespace smd::text
