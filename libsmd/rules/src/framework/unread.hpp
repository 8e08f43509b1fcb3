// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/window.hpp"

#include <smd/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace smd::detail::rules {

/// What a rule asked for and could not read: records, and index files that would say which records there are.
class Unread {
 public:
  /// The record of a slot, counted once. Precondition: the slot has a problem.
  void add_record(const Slot& slot);
  /// The same of a record that the rule read by itself; by its problem.
  void add_record(const EvaluatedTrial& trial, const Problem& problem);
  /// A step at which nothing was evaluated because of a record.
  void add_step(GlobalStep step) { steps_.insert(step); }
  /// Index files of a trial, of steps that are `wanted`. What may still come is not among them: such a
  /// step is not available yet.
  void add_index_files(const EvaluatedTrial& trial, const std::function<bool(GlobalStep)>& wanted);

  /// Collections files of a trial, which say what belongs to a collection.
  void add_collections_files(const EvaluatedTrial& trial);

  [[nodiscard]] std::size_t count() const noexcept {
    return records() + index_files_.size() + other_files_.size() + collections_files_.size();
  }
  /// Each once, in the order in which they were met.
  [[nodiscard]] const std::vector<Problem>& problems() const noexcept { return problems_; }
  /// `2 of 3 steps evaluated; 1 record could not be read: FILE: byte N: why`. Precondition: `count` is not 0.
  [[nodiscard]] std::string text(std::size_t steps_evaluated) const;

 private:
  void add_problem(const EvaluatedTrial& trial, const Problem& problem);

  [[nodiscard]] std::size_t records() const noexcept { return records_.size() + others_.size(); }

  std::set<KeptValues::Key> records_;
  std::set<std::string> others_;                               // read by rules themselves: what was wrong
  std::set<std::pair<std::size_t, std::string>> index_files_;  // by trial
  std::set<std::pair<std::size_t, std::string>> other_files_;  // the same of layouts that have no index files
  std::set<std::pair<std::size_t, std::string>> collections_files_;
  std::set<GlobalStep> steps_;
  std::vector<Problem> problems_;
  std::set<std::string> texts_;  // of `problems_`
};

}  // namespace smd::detail::rules
