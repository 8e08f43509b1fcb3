// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::text {

/// Returns the words of a name, in lower case (ASCII): the parts between `/`, `_`, `-`, `.` and blanks, split further
/// by camel case (`valLoss`, `L2Norm`, `HTTPError`). No word is empty.
[[nodiscard]] std::vector<std::string> split_words(std::string_view name);

/// The part of the data on which a value was measured, by a word of its name.
enum class Side : std::uint8_t {
  none,
  train,
  eval,
  test,  ///< Counts as `eval` if no name is of that side.
};

/// Returns the side that a word in lower case names. `dev` names one only as the first word: `std_dev` has no side.
[[nodiscard]] Side side_of_word(std::string_view word, bool first_word) noexcept;

/// Returns what a function or a member makes of each item, with a separator between.
template <class Iterator, class Function>
[[nodiscard]] std::string joined(Iterator item, Iterator end, std::string_view separator, Function&& text) {
  std::string all;
  for (bool first = true; item != end; ++item) {
    all += std::exchange(first, false) ? std::string_view() : separator;
    all += std::invoke(text, *item);
  }
  return all;
}
template <class Items, class Function>
[[nodiscard]] std::string joined(const Items& items, std::string_view separator, Function&& text) {
  return joined(items.begin(), items.end(), separator, text);
}

/// Returns at most so many items: `a, b and 3 more`.
template <class Items, class Function = std::identity>
[[nodiscard]] std::string listed(const Items& items, std::size_t most, Function&& text = {}) {
  const auto end = std::next(items.begin(), static_cast<std::ptrdiff_t>(std::min(items.size(), most)));
  const std::string first = joined(items.begin(), end, ", ", text);
  return items.size() > most ? first + " and " + std::to_string(items.size() - most) + " more" : first;
}

/// Appends a part to a list with a separator between; an empty part is left out.
inline void append_part(std::string& list, std::string_view part, std::string_view separator = ", ") {
  list += list.empty() || part.empty() ? std::string_view() : separator;
  list += part;
}

/// Returns `1 step`, `3 steps`: a number and the plural of a noun that takes an s.
[[nodiscard]] std::string counted(std::size_t number, std::string_view noun);

/// Returns `1 step is`, `3 steps are`: with the verb that follows.
[[nodiscard]] std::string counted(std::size_t number, std::string_view noun, std::string_view is, std::string_view are);

/// Returns the first three names, escaped: `a, b, c and 2 more`.
[[nodiscard]] std::string first_names(const std::vector<std::string_view>& names);

}  // namespace smd::text
