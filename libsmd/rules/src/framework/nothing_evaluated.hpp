// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/window.hpp"
#include "text/words.hpp"

#include <smd/problem.hpp>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::detail::rules {

class RuleRun;

/// Returns, for people, why a rule evaluated nothing at the steps at which it was invoked: `reason`, the rule's own,
/// else what its selections lack, with similar names.
[[nodiscard]] std::string nothing_evaluated(const RuleRun& run, const std::string& reason);

/// Returns the text for a pattern that matches no tensor of the base trial, with similar names.
[[nodiscard]] std::string unmatched(const RuleRun& run, const std::string& pattern);

/// Returns a warning if some of these tensors have no histogram at steps at which their siblings have one: writers of
/// logs leave out histograms that are all NaN. Siblings are in the same run and of the same kind: gradients, weights,
/// biases, or names with the same last word. If all gradients stop (or all weights, or all biases), siblings are what
/// was saved at the same steps until then: another kind, or all that is no histogram. A tensor that is saved less often
/// throughout is not reported. Empty if there is nothing to report.
[[nodiscard]] std::string histogram_gaps(const RuleRun& run, const TensorSet& tensors);

using text::counted;
using text::first_names;

/// Returns the longest piece of plain text in each alternative of a pattern, which matching names probably contain.
[[nodiscard]] std::vector<std::string> plain_pieces(std::string_view pattern);

/// What a rule needed and could not read: records, and the files that would say which records exist.
class Unread {
 public:
  /// Adds the record of a slot, counted once.
  void add_record(const Slot& slot, const Problem& problem);
  /// As above, for a record that the rule read itself, identified by its problem.
  void add_record(const EvaluatedTrial& trial, const Problem& problem);
  /// Adds a step at which nothing was evaluated because of a record.
  void add_step(GlobalStep step) { steps_.insert(step); }
  /// Adds index files of a trial for steps that are `wanted`, and the files that define members of collections if these
  /// count. Ignores files that may still appear: their steps are not available yet.
  void add_files(const EvaluatedTrial& trial, const std::function<bool(GlobalStep)>& wanted, bool collections);

  [[nodiscard]] std::size_t count() const noexcept {
    return records() + index_files_.size() + other_files_.size() + collections_files_.size();
  }
  /// Returns the problems, each once, in the order in which they were added.
  [[nodiscard]] const std::vector<Problem>& problems() const noexcept { return problems_; }
  /// Returns `2 of 3 steps evaluated; 1 record could not be read: FILE: byte N: why`. Precondition: `count` is not 0.
  [[nodiscard]] std::string text(std::size_t steps_evaluated) const;

 private:
  void add_problem(const EvaluatedTrial& trial, const Problem& problem);

  [[nodiscard]] std::size_t records() const noexcept { return records_.size() + others_.size(); }

  std::set<KeptValues::Key> records_;
  std::set<std::string> others_;                               // problems of records that rules read themselves
  std::set<std::pair<std::size_t, std::string>> index_files_;  // by trial
  std::set<std::pair<std::size_t, std::string>> other_files_;  // as above, for layouts without index files
  std::set<std::pair<std::size_t, std::string>> collections_files_;
  std::set<GlobalStep> steps_;
  std::vector<Problem> problems_;
  std::set<std::string> texts_;  // of `problems_`
};

}  // namespace smd::detail::rules
