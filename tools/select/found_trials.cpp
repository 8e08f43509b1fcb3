// SPDX-License-Identifier: Apache-2.0
#include "select/found_trials.hpp"

#include <map>
#include <utility>

#include "cli/operands.hpp"

namespace smd::tool {

std::vector<std::string> found_trials(const std::string& place, const ReadingOptions& reading, Diagnostics& messages) {
  constexpr std::size_t shown = 3;
  std::vector<std::string> paths;
  try {
    std::vector<Problem> problems;
    TrialOptions options = reading.trial_options();
    say_remote(options, messages);
    paths = find_trials(place, &problems, options);
    std::map<std::pair<ProblemKind, std::string>, std::size_t> counts;
    for (const Problem& problem : problems) {
      if (++counts[{problem.kind, problem.text}] <= shown) {
        messages.report(problem, {});
      }
    }
    for (const auto& [key, count] : counts) {
      if (count > shown) {
        messages.report({key.first, place, {}, std::to_string(count - shown) + " more below it: " + key.second}, {});
      }
    }
    if (paths.empty()) {
      messages.note(place + ": there is no trial at or below it");
    }
  } catch (const Error& error) {
    fail_to_open(error, place, messages);
  }
  return paths;
}

}  // namespace smd::tool
