// SPDX-License-Identifier: Apache-2.0
#include "select/select_steps.hpp"

#include "cli/mapped.hpp"
#include "select/explanations.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace smd::tool {

namespace {

/// A step at which something was saved, and the mode that its worker claims; nullopt: any mode that a worker claims.
struct SavedStep {
  GlobalStep step;
  std::optional<Mode> claim;

  bool operator==(const SavedStep&) const = default;
};

/// How many of a trial's steps may be read some at a time; 0 if reading a few means to read the whole trial.
std::size_t steps_worth_reading(const Trial& trial) {
  return trial.layout().marks_steps ? trial.listed_steps().size() : 0;
}

bool same_step(const SelectedStep& a, const SelectedStep& b) { return a.step == b.step; }

/// The entries of tensors that may count, in order.
EntryQuery query_of(const SelectionOptions& options, std::span<const std::string> tensors, bool incomplete) {
  return {.tensors = {tensors.begin(), tensors.end()}, .workers = options.workers(), .include_incomplete = incomplete};
}

/// The steps of the trial, or those of each tensor, ascending; of tensors only those `within`, if it is given.
std::vector<std::vector<SavedStep>> saved_steps(const Trial& trial, const StepRequest& request, bool incomplete,
                                                std::optional<std::vector<GlobalStep>> within = {}) {
  if (!request.counts) {
    return {mapped(trial.steps(incomplete), [](GlobalStep step) { return SavedStep{step, std::nullopt}; })};
  }
  const std::span<const std::string> tensors = request.tensors;
  std::vector<std::vector<SavedStep>> saved(tensors.size());
  EntryQuery query = query_of(request.options, tensors, incomplete);
  query.steps = std::move(within);
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    const auto tensor = std::ranges::lower_bound(tensors, entry.tensor);
    if (tensor != tensors.end() && *tensor == entry.tensor && request.counts(entry)) {
      std::vector<SavedStep>& own = saved[static_cast<std::size_t>(tensor - tensors.begin())];
      const SavedStep step{entry.step, entry.mode};
      if (own.empty() || own.back() != step) {
        own.push_back(step);
      }
    }
    return true;
  });
  return saved;
}

std::vector<SelectedStep> in_mode(const Trial& trial, std::span<const SavedStep> saved, Mode mode) {
  std::vector<SelectedStep> steps;
  for (const SavedStep& at : saved) {
    const bool claimed = mode == Mode::global || at.claim.value_or(mode) == mode;
    if (const std::optional<std::int64_t> number = claimed ? number_in(trial, mode, at.step) : std::nullopt) {
      steps.push_back({at.step, mode, ModeStep(*number)});
    }
  }
  if (mode != Mode::global) {  // whose numbers ascend already
    std::ranges::sort(steps, {}, &SelectedStep::mode_step);
  }
  steps.erase(std::unique(steps.begin(), steps.end(), same_step), steps.end());
  return steps;
}

class StepSelector {
 public:
  StepSelector(Trial& trial, const StepRequest& request, Diagnostics* messages)
      : trial_(trial), request_(request), options_(request.options), messages_(messages) {}

  TensorSteps select() {
    read_what_is_needed();
    TensorSteps result;
    for (std::size_t i = 0; i < saved_.size(); ++i) {
      std::vector<SelectedStep> chosen = choose(i);
      if (!request_.counts) {
        result.steps = std::move(chosen);
        return result;
      }
      if (request_.reports_each || !saved_[i].empty()) {
        result.add(request_.tensors[i], chosen);
      }
    }
    result.sort();
    if (messages_ != nullptr) {
      for (const auto& [place, lacking] : lacking_) {
        say_fewer_steps(options_.modes[place.first], request_.spec.terms()[place.second], lacking.tensors,
                        lacking.steps_of_first, *messages_);
      }
      note_counted_anew(saved_);
    }
    return result;
  }

 private:
  /// The tensors that have too few steps for a term that counts from an end.
  struct Lacking {
    std::vector<std::string> tensors;
    std::size_t steps_of_first = 0;
  };

  [[nodiscard]] bool reports_each() const { return request_.reports_each && messages_ != nullptr; }

  /// The request for one of the tensors.
  [[nodiscard]] StepRequest one(std::size_t i) const {
    StepRequest request = request_;
    request.tensors = request.counts ? request.tensors.subspan(i, 1) : request.tensors;
    return request;
  }

  // The trial was opened with at least the first of `ranges_to_read` of the whole SPEC. There index files count by
  // their names alone; here only complete steps of the mode (and of the tensor) count.
  void read_what_is_needed() {
    const StepNeed need = request_.spec.all() ? StepNeed() : request_.spec.need();
    switch (need.kind) {
      case StepNeed::Kind::newest:
      case StepNeed::Kind::oldest:
        read_until(trial_, need, [&](std::size_t count) {
          collect(need.kind, count);
          bool enough = true;
          bool certain = true;  // as far as was read, no mode step can have been claimed before
          for (const std::vector<SavedStep>& saved : saved_) {
            for (const Mode mode : options_.modes) {
              const std::vector<SelectedStep> steps = in_mode(trial_, saved, mode);
              enough = enough && steps.size() >= need.count;
              certain = certain && !steps.empty() && steps.back().mode_step.value == steps.back().step.value;
            }
          }
          if (enough && !certain) {
            read_all();
          }
          return enough;
        });
        return;
      case StepNeed::Kind::windows:
        for (const StepRange& range : ranges_to_read(request_.spec, options_.modes)) {
          trial_.load_range(range);
        }
        break;
      case StepNeed::Kind::everything:
        break;
    }
    saved_ = saved_steps(trial_, request_, options_.incomplete);
  }

  /// Collects the candidates of all tensors in one pass. Takes only as many steps as needed of the end that is counted
  /// from if the order of steps determines the last one, or if steps between those that were read may be missing.
  void collect(StepNeed::Kind end, std::size_t count) {
    std::optional<std::vector<GlobalStep>> within;
    const bool ordered = options_.modes == std::vector{Mode::global} && options_.every == 1;
    const bool partly_read = request_.beside.empty() && trial_.steps(true).size() < trial_.listed_steps().size();
    if (request_.counts && (ordered || partly_read) && count < steps_worth_reading(trial_)) {
      within = trial_.steps(true);
      const std::size_t others = within->size() - std::min(within->size(), count);
      const auto first =
          end == StepNeed::Kind::newest ? within->begin() : within->end() - static_cast<std::ptrdiff_t>(others);
      within->erase(first, first + static_cast<std::ptrdiff_t>(others));
    }
    saved_ = saved_steps(trial_, request_, options_.incomplete, std::move(within));
  }

  void read_all() {
    trial_.load_range(StepRange());
    saved_ = saved_steps(trial_, request_, options_.incomplete);
  }

  std::vector<SelectedStep> choose(std::size_t i) {
    const StepSpec& spec = request_.spec;
    if (reports_each() && request_.counts && (counts_from_end(spec) || spec.all()) && saved_[i].empty() &&
        !has_candidates(trial_, options_, request_.tensors[i], request_.counts)) {
      say_no_value(trial_, options_, request_.tensors[i], std::nullopt, *messages_);
      return {};
    }
    std::vector<SelectedStep> chosen;
    std::ranges::copy_if(request_.beside, std::back_inserter(chosen), [&](const SelectedStep& step) {
      return options_.every == 1 ||
             std::ranges::any_of(saved_[i], [&](const SavedStep& own) { return own.step == step.step; });
    });
    bool told = false;
    for (std::size_t m = 0; m < options_.modes.size(); ++m) {
      const Mode mode = options_.modes[m];
      std::vector<SelectedStep> candidates = in_mode(trial_, saved_[i], mode);
      if (candidates.empty() && reports_each()) {
        read_all();
        candidates = in_mode(trial_, saved_[i], mode);
        if (candidates.empty()) {
          say_no_step_in(mode, trial_, one(i), *messages_);
          told = true;
        }
      }
      if (!candidates.empty()) {
        told = choose_in(m, i, candidates, chosen) || told;
      }
    }
    std::ranges::stable_sort(chosen, {}, &SelectedStep::step);
    chosen.erase(std::unique(chosen.begin(), chosen.end(), same_step), chosen.end());
    std::vector<SelectedStep> kept;
    for (std::size_t k = 0; k < chosen.size(); k += static_cast<std::size_t>(options_.every)) {
      kept.push_back(chosen[k]);
    }
    if (kept.empty() && reports_each()) {
      say_no_step_chosen(trial_, one(i), told, *messages_);
    }
    return kept;
  }

  /// Adds the steps chosen in one mode. Returns whether it was reported that a step is missing.
  bool choose_in(std::size_t m, std::size_t i, std::span<const SelectedStep> candidates,
                 std::vector<SelectedStep>& chosen) {
    const Mode mode = options_.modes[m];
    const StepChoice choice = request_.spec.choose(numbers_of(candidates));
    for (const std::size_t index : choice.indices) {
      chosen.push_back(candidates[index]);
      if (reports_each()) {
        note_repeated(trial_, candidates[index], *messages_);
      }
    }
    GlobalStep& last = last_.try_emplace(mode, candidates.back().step).first->second;
    last = std::max(last, candidates.back().step);
    if (reports_each()) {
      note_counted_anew(std::span(saved_).subspan(i, 1));
    }
    for (const StepTerm* const term : choice.missing) {
      if (reports_each()) {
        say_missing(mode, *term, trial_, one(i), *messages_);
      } else {
        Lacking& lacking = lacking_[{m, static_cast<std::size_t>(term - request_.spec.terms().data())}];
        lacking.steps_of_first = lacking.tensors.empty() ? candidates.size() : lacking.steps_of_first;
        lacking.tensors.push_back(request_.tensors[i]);
      }
    }
    return !choice.missing.empty();
  }

  /// Notes, once for each mode whose last step was chosen, what was saved after it.
  void note_counted_anew(std::span<const std::vector<SavedStep>> saved) {
    for (const Mode mode : options_.modes) {
      const auto last = last_.find(mode);
      if (mode == Mode::global || last == last_.end() || !asks_for_last(request_.spec)) {
        continue;
      }
      std::vector<GlobalStep> steps;
      for (const std::vector<SavedStep>& own : saved) {
        std::ranges::transform(own, std::back_inserter(steps), [](const auto& at) { return at.step; });
      }
      std::ranges::sort(steps);
      note_saved_since(trial_, mode, last->second, steps, *messages_);
    }
    last_.clear();
  }

  Trial& trial_;
  const StepRequest& request_;
  const SelectionOptions& options_;
  Diagnostics* messages_;
  std::vector<std::vector<SavedStep>> saved_;                       // of each tensor, or of the trial
  std::map<std::pair<std::size_t, std::size_t>, Lacking> lacking_;  // by mode and term
  std::map<Mode, GlobalStep> last_;  // the newest of the candidates with the last numbers
};

// If there are more windows, their hull is read in one go.
constexpr std::size_t most_windows = 8;

StepRange hull(const std::vector<StepRange>& windows) {
  StepRange result = windows.front();
  for (const StepRange& window : windows) {
    result.first = std::min(result.first, window.first);
    result.end = result.end && window.end ? std::optional(std::max(*result.end, *window.end)) : std::nullopt;
  }
  return result;
}

}  // namespace

bool TensorSteps::wants(std::string_view tensor, GlobalStep step) const {
  if (own.empty()) {
    return true;
  }
  const auto found = own.find(tensor);
  return found != own.end() && std::ranges::binary_search(found->second, step);
}

bool TensorSteps::has(GlobalStep step) const {
  return std::ranges::binary_search(steps, step, {}, &SelectedStep::step);
}

std::vector<SelectedStep> TensorSteps::of(std::string_view tensor) const {
  std::vector<SelectedStep> wanted;
  std::ranges::copy_if(steps, std::back_inserter(wanted),
                       [&](const SelectedStep& step) { return wants(tensor, step.step); });
  return wanted;
}

void TensorSteps::add(const std::string& tensor, std::span<const SelectedStep> chosen) {
  std::ranges::transform(chosen, std::back_inserter(own[tensor]), &SelectedStep::step);
  steps.insert(steps.end(), chosen.begin(), chosen.end());
}

void TensorSteps::sort() {
  std::ranges::stable_sort(steps, {}, &SelectedStep::step);
  steps.erase(std::unique(steps.begin(), steps.end(), same_step), steps.end());
}

TensorSteps choose_steps(Trial& trial, const StepRequest& request, Diagnostics* messages) {
  if (messages != nullptr && request.reports_each && trial.listed_steps().empty()) {
    report_no_step(trial, *messages);
    return {};
  }
  return StepSelector(trial, request, messages).select();
}

std::vector<SelectedStep> select_steps(Trial& trial, const SelectionOptions& options, const StepSpec& fallback,
                                       Diagnostics& messages) {
  return choose_steps(trial, {.options = options, .spec = options.steps.value_or(fallback)}, &messages).steps;
}

TensorSteps select_steps_of_tensors(Trial& trial, const SelectionOptions& options, const StepSpec& fallback,
                                    std::span<const std::string> tensors, const EntryFilter& counts,
                                    Diagnostics* messages) {
  std::vector<StepTerm> from_end = options.steps.value_or(fallback).terms();
  const auto numbered = std::stable_partition(from_end.begin(), from_end.end(),
                                              [](const StepTerm& term) { return counts_from_end(term); });
  std::vector<SelectedStep> beside;
  if (numbered != from_end.end() && !tensors.empty() && messages != nullptr) {
    SelectionOptions of_trial = options;
    of_trial.steps = StepSpec(std::vector<StepTerm>(numbered, from_end.end()));
    of_trial.every = 1;
    beside = select_steps(trial, of_trial, {}, *messages);
  }
  from_end.erase(numbered, from_end.end());
  return choose_steps(trial,
                      {.options = options,
                       .spec = StepSpec(std::move(from_end)),
                       .tensors = tensors,
                       .counts = counts,
                       .reports_each = false,
                       .beside = beside},
                      messages);
}

std::optional<std::int64_t> number_in(const Trial& trial, Mode mode, GlobalStep step) {
  if (mode == Mode::global) {
    return step.value;
  }
  const std::optional<ModeStep> number = trial.mode_step(step, mode);
  return number && trial.global_step(mode, *number) == step ? std::optional(number->value) : std::nullopt;
}

std::vector<std::int64_t> numbers_of(std::span<const SelectedStep> steps) {
  return mapped(steps, [](const SelectedStep& step) { return step.mode_step.value; });
}

std::vector<SelectedStep> candidates_in(const Trial& trial, const StepRequest& request, Mode mode, bool incomplete) {
  return in_mode(trial, saved_steps(trial, request, incomplete).front(), mode);
}

bool any_entry(const Trial& trial, const EntryQuery& query, const EntryFilter& counts) {
  bool any = false;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    any = !counts || counts(entry);
    return !any;
  });
  return any;
}

bool has_candidates(const Trial& trial, const SelectionOptions& options, const std::string& tensor,
                    const EntryFilter& counts) {
  return any_entry(trial, query_of(options, std::span(&tensor, 1), true), counts);
}

std::vector<StepRange> ranges_to_read(const std::optional<StepSpec>& spec, std::span<const Mode> modes) {
  const StepNeed need = !spec || spec->all() ? StepNeed() : spec->need();
  switch (need.kind) {
    case StepNeed::Kind::everything:
      break;
    case StepNeed::Kind::newest:
      return {StepRange{.newest = need.count}};
    case StepNeed::Kind::oldest:
      return {StepRange{.oldest = need.count}};
    case StepNeed::Kind::windows:
      if (modes.size() != 1 || modes.front() != Mode::global) {
        break;
      }
      return need.windows.size() > most_windows ? std::vector{hull(need.windows)} : need.windows;
  }
  return {StepRange()};
}

StepRange range_to_read_of_tensors(const SelectionOptions& options, const StepSpec& spec) {
  const bool only_names = !options.names.empty() && options.regexes.empty() && options.collections.empty();
  return counts_from_end(spec) && !only_names ? StepRange() : ranges_to_read(spec, options.modes).front();
}

void read_until(Trial& trial, const StepNeed& need, const std::function<bool(std::size_t count)>& enough) {
  const std::size_t listed = steps_worth_reading(trial);
  for (std::size_t count = need.count; !enough(count) && count < listed;) {
    count = std::max<std::size_t>(8 * count, 16);
    trial.load_range(need.kind == StepNeed::Kind::newest ? StepRange{.newest = count} : StepRange{.oldest = count});
  }
}

}  // namespace smd::tool
