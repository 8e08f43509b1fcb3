// SPDX-License-Identifier: Apache-2.0
#include "text/nearest.hpp"

#include "text/ascii.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace smd::detail {

namespace {

/// Longer names are not typed by hand and not worth the quadratic time.
constexpr std::size_t longest = 256;
/// The most character comparisons; beyond it only substrings are searched for. A hint is not worth minutes.
constexpr std::size_t most_work = 50'000'000;

/// Returns, for each place in `b`, the smallest edit distance between `a` and a text that ends there and begins at the
/// first character of `b` or, with `anywhere`, at any.
std::vector<std::size_t> distances(std::string_view a, std::string_view b, bool anywhere) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), anywhere ? last.begin() : last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = text::to_lower(a[i - 1]) == text::to_lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && text::to_lower(a[i - 1]) == text::to_lower(b[j - 2]) &&
          text::to_lower(a[i - 2]) == text::to_lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last;
}

/// Distance, tie-breaker, and name.
using Candidate = std::tuple<std::size_t, std::size_t, std::string_view>;

std::vector<std::string> best(std::vector<Candidate> found, std::size_t most) {
  std::ranges::sort(found);
  found.resize(std::min(most, found.size()));
  return mapped(found, [](const Candidate& one) { return std::string(std::get<2>(one)); });
}

}  // namespace

std::string folded(std::string_view name) {
  std::string result(name);
  std::transform(result.begin(), result.end(), result.begin(), text::to_lower);
  return result;
}

std::size_t edit_distance(std::string_view a, std::string_view b) { return distances(a, b, false).back(); }

std::vector<std::string> nearest(std::string_view typed, std::span<const std::string_view> names, std::size_t most) {
  std::vector<Candidate> found;
  const std::string wanted = folded(typed);
  std::size_t work = 0;
  if (wanted.size() <= longest) {
    for (const std::string_view name : names) {
      if (name.size() > longest) {
        continue;
      }
      const std::string candidate = folded(name);
      const std::size_t allowed = std::max<std::size_t>(1, std::max(wanted.size(), candidate.size()) / 3);
      const std::size_t gap =
          wanted.size() > candidate.size() ? wanted.size() - candidate.size() : candidate.size() - wanted.size();
      const bool part = wanted.size() >= 3 && candidate.find(wanted) != std::string::npos;
      const std::size_t cost = wanted.size() * candidate.size();
      const bool compare = gap <= allowed && work + cost <= most_work;
      work += compare ? cost : 0;
      const std::size_t away = compare ? edit_distance(wanted, candidate) : allowed + 1;
      if (away <= allowed && away < candidate.size()) {
        found.emplace_back(away, 0, name);
      } else if (part) {
        found.emplace_back(allowed + 1, gap, name);
      }
    }
  }
  return best(std::move(found), most);
}

std::vector<std::string> nearest(std::string_view typed, std::span<const std::string> names, std::size_t most) {
  return nearest(typed, std::vector<std::string_view>(names.begin(), names.end()), most);
}

std::string did_you_mean(std::span<const std::string> names) {
  if (names.empty()) {
    return {};
  }
  const auto quoted = [](const std::string& name) { return "'" + text::excerpt(name) + "'"; };
  const std::string others = text::joined(names.first(names.size() - 1), ", ", quoted);
  return "; did you mean " + others + (others.empty() ? "" : " or ") + quoted(names.back()) + "?";
}

std::vector<std::string> nearest_holding(std::string_view part, std::span<const std::string_view> names,
                                         std::size_t most) {
  constexpr std::size_t shortest = 3;  // shorter names resemble anything
  std::vector<Candidate> found;
  std::size_t work = 0;
  if (part.size() >= shortest && part.size() <= longest) {
    const std::size_t allowed = std::max<std::size_t>(1, part.size() / 4);
    for (const std::string_view name : names) {
      work += part.size() * name.size();
      if (name.size() > longest || work > most_work) {
        continue;
      }
      if (const std::size_t away = std::ranges::min(distances(part, name, true)); away <= allowed) {
        found.emplace_back(away, name.size(), name);
      }
    }
  }
  return best(std::move(found), most);
}

}  // namespace smd::detail
