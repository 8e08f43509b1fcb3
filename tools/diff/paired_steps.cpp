// SPDX-License-Identifier: Apache-2.0
#include "paired_steps.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace smd::tool::diff {

namespace {

using Steps = std::vector<SelectedStep>;

/// Identifies a step in both trials: the mode and its number.
using StepNumber = std::pair<Mode, std::int64_t>;

class StepPairing {
 public:
  StepPairing(const ComparedTrial& a, const ComparedTrial& b, const DiffCommandOptions& options, Diagnostics& messages)
      : a_(a), b_(b), options_(options), messages_(messages) {}

  std::vector<PairedStep> run() {
    if (a_.selection.steps.own.empty() && b_.selection.steps.own.empty()) {
      pair_all();
    } else {
      pair_own();
    }
    return std::move(pairs_);
  }

 private:
  [[nodiscard]] StepNumber number_of(const SelectedStep& step) const {
    const auto& modes = options_.selection.modes;
    const bool global = contains(modes, Mode::global);
    return global ? StepNumber{Mode::global, step.step.value} : StepNumber{step.mode, step.mode_step.value};
  }

  /// Whether single steps are compared whatever their numbers. A range of numbers means the same numbers in both
  /// trials.
  [[nodiscard]] bool takes_any_number() const {
    return !options_.selection.steps || counts_from_end(*options_.selection.steps);
  }

  void pair_all() {
    const Steps& a = a_.selection.steps.steps;
    const Steps& b = b_.selection.steps.steps;
    if (a.empty() || b.empty()) {
      return;  // the reason was reported
    }
    if (options_.steps_b) {
      refuse_if(a.size() != b.size(), fmt::format("--steps-b: {} of B for {} of A: choose as many",
                                                  counted(b.size(), "step"), counted(a.size(), "step")));
      for (std::size_t i = 0; i < a.size(); ++i) {
        pairs_.push_back({a[i], b[i], std::nullopt});
      }
      return;
    }
    if (a.size() == 1 && b.size() == 1 && takes_any_number()) {
      pairs_.push_back({a.front(), b.front(), std::nullopt});
      return;
    }
    const auto [left_of_a, left_of_b] = pair_equal(a, b, [&](const SelectedStep& of_a, const SelectedStep& of_b) {
      pairs_.push_back({of_a, of_b, std::nullopt});
    });
    if (pairs_.empty()) {
      messages_.fail("StepUnavailable",
                     fmt::format("no step is in both: A has {}, B has {}; -s and --steps-b match steps in order",
                                 described(a), described(b)),
                     ExitStatus::no);
      return;
    }
    note_left("A", left_of_a, b_.trial);
    note_left("B", left_of_b, a_.trial);
  }

  /// Calls `pair` with the steps of one number. Returns those of A and of B that have no partner.
  template <class Pair>
  std::array<std::vector<StepNumber>, 2> pair_equal(const Steps& a, const Steps& b, Pair pair) const {
    std::map<StepNumber, const SelectedStep*> of_b;
    for (const SelectedStep& step : b) {
      of_b.emplace(number_of(step), &step);
    }
    std::vector<StepNumber> left;  // of A
    for (const SelectedStep& step : a) {
      if (const auto found = of_b.find(number_of(step)); found != of_b.end()) {
        pair(step, *found->second);
        of_b.erase(found);
      } else {
        left.push_back(number_of(step));
      }
    }
    return {std::move(left), keys_of(of_b)};
  }

  static std::string described(const Steps& steps) {
    return steps.size() == 1 ? fmt::format("step {}", steps.front().step.value)
                             : fmt::format("{}, {} to {}", counted(steps.size(), "step"), steps.front().step.value,
                                           steps.back().step.value);
  }

  static bool is_incomplete(const Trial& trial, const StepNumber& number) {
    const std::optional<GlobalStep> step = number.first == Mode::global
                                               ? GlobalStep(number.second)
                                               : trial.global_step(number.first, ModeStep(number.second));
    const std::optional<StepInfo> info = step ? trial.step_info(*step) : std::nullopt;
    return info && !info->complete;
  }

  void note_left(std::string_view which, const std::vector<StepNumber>& left, const Trial& other) {
    const auto incomplete = static_cast<std::size_t>(
        std::ranges::count_if(left, [&](const StepNumber& number) { return is_incomplete(other, number); }));
    const auto note = [&](std::size_t count, std::string_view why) {
      if (count > 0) {
        messages_.note(fmt::format("{} of {} {} {} the other trial and {} not compared", counted(count, "step"), which,
                                   count == 1 ? "is not" : "are not", why, count == 1 ? "is" : "are"));
      }
    };
    note(left.size() - incomplete, "in");
    note(incomplete, "complete in");
  }

  static Steps own_steps(const ComparedTrial& side, const std::string& tensor) {
    const std::vector<std::string>& tensors = side.selection.tensors;
    return std::ranges::binary_search(tensors, tensor) ? side.selection.steps.of(tensor) : Steps();
  }

  void pair_own() {
    std::set<std::string> tensors;
    for (const ComparedTrial* const side : {&a_, &b_}) {
      for (const std::string& tensor : side->selection.tensors) {
        tensors.emplace(side->names.shown(tensor));
      }
    }
    using Key = std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>;
    std::map<Key, PairedStep> found;
    const auto add = [&](const std::string& tensor, const std::optional<SelectedStep>& a,
                         const std::optional<SelectedStep>& b) {
      const auto number = [](const auto& step) { return step ? std::optional(step->step.value) : std::nullopt; };
      PairedStep& pair = found.try_emplace({number(a), number(b)}, PairedStep{a, b, {{}}}).first->second;
      pair.tensors->push_back(tensor);
    };
    const auto& spec = options_.selection.steps;
    const auto is_end = [](const StepTerm& term) { return term.oldest || (term.single && term.number == -1); };
    const bool ends = spec && !spec->all() && std::ranges::all_of(spec->terms(), is_end);  // such as first,last
    std::vector<std::string_view> without;
    std::size_t left_over = 0;
    for (const std::string& tensor : tensors) {
      const Steps a = own_steps(a_, a_.names.own(tensor));
      const Steps b = own_steps(b_, b_.names.own(tensor));
      if (options_.steps_b || a.empty() || b.empty() || (a.size() == 1 && b.size() == 1)) {
        for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
          const auto nth = [i](const Steps& of) { return i < of.size() ? std::optional(of[i]) : std::nullopt; };
          add(tensor, nth(a), nth(b));
        }
        continue;
      }
      if (ends) {
        add(tensor, a.front(), b.front());  // of the two, each trial has at least one
        add(tensor, a.back(), b.back());
        continue;
      }
      std::size_t pairs = 0;
      const auto [left_of_a, left_of_b] = pair_equal(a, b, [&](const auto& of_a, const auto& of_b) {
        add(tensor, of_a, of_b);
        ++pairs;
      });
      if (pairs == 0) {
        without.push_back(tensor);
      } else {
        left_over += left_of_a.size() + left_of_b.size();
      }
    }
    if (!without.empty()) {
      messages_.fail("StepUnavailable",
                     fmt::format("no chosen step of {} is in both; -s and --steps-b match steps in order",
                                 text::first_names(without)),
                     ExitStatus::no);
    }
    if (left_over != 0) {
      messages_.note(fmt::format("{} not compared: no chosen step of the other trial has the same number",
                                 counted(left_over, "value", "is", "are")));
    }
    for (auto& [key, pair] : found) {
      pairs_.push_back(std::move(pair));
    }
    std::ranges::stable_sort(pairs_, {}, &PairedStep::place);
  }

  const ComparedTrial& a_;
  const ComparedTrial& b_;
  const DiffCommandOptions& options_;
  Diagnostics& messages_;
  std::vector<PairedStep> pairs_;
};

std::vector<TensorEntry> entries_of(const ComparedTrial& side, const std::optional<SelectedStep>& step,
                                    const PairedStep& pair, const NameRange& names) {
  std::vector<TensorEntry> entries;
  if (!step || side.selection.empty()) {
    return entries;
  }
  const std::vector<std::string>& all = pair.tensors ? *pair.tensors : side.selection.tensors;
  const auto begin = names.first ? std::ranges::lower_bound(all, *names.first) : all.begin();
  const auto end = names.end ? std::ranges::lower_bound(all, *names.end) : all.end();
  if (begin >= end) {
    return entries;
  }
  std::vector<std::string> chosen(begin, end);
  const EntryQuery query =
      entry_query(side.options, pair.tensors ? side.names.own_names(chosen) : std::move(chosen), std::span(&*step, 1));
  side.trial.for_each_entry(query, [&](const TensorEntry& entry) {
    if (has_content(entry)) {
      entries.push_back(entry);
    }
    return true;
  });
  if (side.names.changes()) {
    std::ranges::stable_sort(entries, {}, [&](const TensorEntry& of) { return side.names.shown(of.tensor); });
  }
  return entries;
}

/// Sets both entries of a tensor to those of the first worker that saved it in both trials; leaves them if none did.
void take_common_worker(const ComparedTrial& a, const ComparedTrial& b, const PairedStep& pair, TensorEntry& of_a,
                        TensorEntry& of_b) {
  EntryQuery query = entry_query(a.options, {std::string(of_a.tensor)}, std::span(&*pair.a, 1));
  query.first_worker_only = false;
  std::map<std::string, TensorEntry, std::less<>> all_of_a;
  a.trial.for_each_entry(query, [&](const TensorEntry& entry) {
    all_of_a.emplace(entry.worker, entry);
    return true;
  });
  query = entry_query(b.options, {std::string(of_b.tensor)}, std::span(&*pair.b, 1));
  query.workers = keys_of(all_of_a);
  b.trial.for_each_entry(query, [&](const TensorEntry& entry) {
    of_a = all_of_a.find(entry.worker)->second;
    of_b = entry;
    return false;
  });
}

}  // namespace

std::vector<PairedStep> pair_steps(const ComparedTrial& a, const ComparedTrial& b, const DiffCommandOptions& options,
                                   Diagnostics& messages) {
  return StepPairing(a, b, options, messages).run();
}

bool has_content(const TensorEntry& entry) { return entry.value || !entry.reductions.empty() || entry.shape; }

std::vector<NameRange> name_ranges(const ComparedTrial& a, const ComparedTrial& b) {
  constexpr std::size_t most_names = 8192;
  const std::vector<std::string>& more = std::max(a.selection.tensors, b.selection.tensors,
                                                  [](const auto& x, const auto& y) { return x.size() < y.size(); });
  std::vector<NameRange> ranges(1);
  const bool same_names = !a.names.changes() && !b.names.changes();  // else a range of one is none of the other
  for (std::size_t i = most_names; same_names && i < more.size(); i += most_names) {
    ranges.back().end = more[i];
    ranges.push_back({more[i], std::nullopt});
  }
  return ranges;
}

std::vector<PairedEntry> pair_entries(const ComparedTrial& a, const ComparedTrial& b, std::span<const PairedStep> steps,
                                      const NameRange& names) {
  std::vector<PairedEntry> all;
  for (const PairedStep& pair : steps) {
    std::vector<TensorEntry> of_a = entries_of(a, pair.a, pair, names);
    std::vector<TensorEntry> of_b = entries_of(b, pair.b, pair, names);
    const bool first_in_both = !a.options.all_workers && a.several_workers && b.several_workers;
    const bool by_worker = a.options.all_workers || first_in_both;
    const auto before = [by_worker](std::string_view x_name, const TensorEntry& x, std::string_view y_name,
                                    const TensorEntry& y) {
      return x_name != y_name ? x_name < y_name : by_worker && x.worker < y.worker;
    };
    auto next_a = of_a.begin();
    auto next_b = of_b.begin();
    while (next_a != of_a.end() || next_b != of_b.end()) {
      PairedEntry& entry = all.emplace_back();
      entry.step = pair.a ? std::optional(pair.a->step) : std::nullopt;
      entry.step_b = pair.b ? std::optional(pair.b->step) : std::nullopt;
      const std::string_view name_a = next_a == of_a.end() ? std::string_view() : a.names.shown(next_a->tensor);
      const std::string_view name_b = next_b == of_b.end() ? std::string_view() : b.names.shown(next_b->tensor);
      if (first_in_both && next_a != of_a.end() && next_b != of_b.end() && name_a == name_b &&
          next_a->worker != next_b->worker) {
        take_common_worker(a, b, pair, *next_a, *next_b);
      }
      const bool takes_a = next_b == of_b.end() || (next_a != of_a.end() && !before(name_b, *next_b, name_a, *next_a));
      const bool takes_b = next_a == of_a.end() || (next_b != of_b.end() && !before(name_a, *next_a, name_b, *next_b));
      entry.tensor = takes_a ? name_a : name_b;
      if (takes_a) {
        entry.a = std::move(*next_a++);
      }
      if (takes_b) {
        entry.b = std::move(*next_b++);
      }
    }
  }
  if (steps.size() > 1) {
    std::ranges::stable_sort(all, {}, [](const PairedEntry& of) { return std::pair(of.tensor, of.worker()); });
  }
  return all;
}

}  // namespace smd::tool::diff
