// SPDX-License-Identifier: Apache-2.0
#include "follow/followed_steps.hpp"

#include "cli/mapped.hpp"
#include "select/explanations.hpp"

#include <algorithm>
#include <array>
#include <smd/snapshot.hpp>

namespace smd::tool {

namespace {

// The largest number that a term can still select; INT64_MAX: no bound.
std::int64_t bound_of(const StepTerm& term) {
  if (term.single) {
    return term.oldest ? INT64_MAX : term.number;
  }
  return term.stride < 0 ? term.start.value_or(INT64_MAX) : term.stop ? *term.stop - 1 : INT64_MAX;
}

}  // namespace

FollowedSteps::FollowedSteps(Trial& trial, const SelectionOptions& options, const SelectionNeeds& needs)
    : trial_(trial),
      grow_(!trial.layout().marks_steps),
      behind_(options.names),
      all_known_(!options.names.empty() && options.regexes.empty() && options.collections.empty()),
      every_(static_cast<std::uint64_t>(options.every)) {
  const StepSpec& spec = options.steps ? *options.steps : needs.fallback;
  const NoRefresh as_it_stands(trial);
  const bool own_steps = needs.counts && counts_from_end(spec);
  if (grow_ || own_steps) {
    known_ = trial.steps();
  }
  if (own_steps) {
    SelectionOptions all_steps = options;
    all_steps.every = 1;
    own_ = select_steps_of_tensors(trial, all_steps, spec, tensors_at(trial, options, std::nullopt), needs.counts,
                                   nullptr);
  }
  for (const Mode mode : options.modes) {
    const std::vector<std::int64_t> numbers = mapped(trial.steps(mode), &ModeStep::value);
    OfMode& of = modes_.emplace_back(OfMode{.mode = mode});
    for (StepTerm term : spec.terms()) {
      const bool from_end = counts_from_end(term);
      fix(term, numbers);
      const bool comes = from_end && !term.single && !term.stop && term.stride > 0;
      of.terms.push_back({term, by_tensor() && from_end, comes, by_tensor() && from_end});
    }
  }
}

// Turns positions that count from an end into numbers.
void FollowedSteps::fix(StepTerm& term, const std::vector<std::int64_t>& numbers) const {
  const auto from_end = [&](std::int64_t back) {
    const auto size = static_cast<std::int64_t>(numbers.size());
    return back >= -size ? std::optional(numbers[static_cast<std::size_t>(size + back)]) : std::nullopt;
  };
  if (term.single) {
    if (by_tensor() && (term.oldest || term.number < -1)) {
      term.oldest = false;
      term.number = std::min<std::int64_t>(term.number, -1);  // selected by `own_`; no step to come is
    } else if (term.oldest && !numbers.empty()) {
      term.oldest = false;
      term.number = numbers.front();
    } else if (!term.oldest && term.number == -1) {  // the last, and what follows it
      term.single = false;
      term.start = from_end(-1);
    } else if (!term.oldest && term.number < 0) {
      const std::optional<std::int64_t> number = from_end(term.number);
      term.number = number.value_or(term.number);  // else no step has such a number
    }
    return;
  }
  if (term.start && *term.start < 0) {
    term.start = from_end(*term.start).value_or(numbers.empty() ? 0 : numbers.front());
  } else if (!term.start && term.stride < 0) {
    term.start = numbers.empty() ? -1 : numbers.back();
  }
  if (term.stop && *term.stop < 0) {
    term.stop = from_end(*term.stop).value_or(INT64_MIN + 1);
  }
}

std::optional<GlobalStep> FollowedSteps::after() const {
  const auto all_that_comes = [](const OfMode& of) { return std::ranges::any_of(of.terms, &Term::comes); };
  if (grow_ && std::ranges::any_of(modes_, all_that_comes)) {
    return std::nullopt;  // even if the job goes back
  }
  if (modes_.size() != 1 || modes_.front().mode != Mode::global || modes_.front().terms.empty()) {
    return std::nullopt;
  }
  std::int64_t least = by_tensor() ? own_.steps.front().step.value : INT64_MAX;
  for (const auto& [term, from_end, comes, seen] : modes_.front().terms) {
    if (term.single ? term.oldest : (!term.start || term.stride < 0)) {
      return std::nullopt;
    }
    least = std::min(least, term.single ? term.number : *term.start);
  }
  return least <= 0 ? std::nullopt : std::optional(GlobalStep(least - 1));
}

bool FollowedSteps::choose(const FollowEvent& step) {
  // If steps can grow, what the first look finds existed before, and everything else is new, whatever its step.
  const bool known = step.arrivals.first == 0 && std::ranges::binary_search(known_, step.step);
  const bool new_since = grow_ && !known;
  bool chosen = false;
  for (OfMode& of : modes_) {
    if (const std::optional<std::int64_t> number = number_in(trial_, of.mode, step.step)) {
      chosen = chooses(of, *number, known, new_since) || chosen;
    }
  }
  reached_ = std::max(reached_, step.step);
  if (grow_) {
    whole_.came(step.step, Time::clock::now());
    if (step.step.value > modes_.front().bound()) {
      std::erase_if(behind_, [&](const std::string& name) {
        return any_entry(trial_, {.tensors = {name}, .steps = {{step.step}}});
      });
    }
  }
  own_step_.reset();
  if (!chosen && !new_since && own_.has(step.step)) {
    own_step_ = step.step;
    chosen = true;
  }
  return chosen && keeps(step.step);
}

/// Whether --every keeps a step that is otherwise chosen.
bool FollowedSteps::keeps(GlobalStep step) {
  if (every_ == 1) {
    return true;
  }
  const auto [known, is_new] = kept_.try_emplace(step, false);
  if (is_new) {
    known->second = count_++ % every_ == 0;
    counts_late_ = counts_late_ || std::next(known) != kept_.end();
  }
  return known->second;
}

/// `known`: the step existed when the following began, so that tensors' own steps decide for terms that count from the
/// end. `new_since`: its values did not exist then, though its number may be low.
bool FollowedSteps::chooses(OfMode& of, std::int64_t number, bool known, bool new_since) {
  of.reached = std::max(of.reached.value_or(number), number);
  bool chosen = of.terms.empty();
  for (auto& [term, from_end, comes, seen] : of.terms) {
    if (known && from_end) {
      continue;
    }
    if (term.single && term.oldest) {
      term.oldest = false;
      term.number = number;
    }
    const bool now =
        (new_since && comes) || (!(term.single && term.number < 0 && number >= 0) &&
                                 !StepSpec({term}).choose(std::array<std::int64_t, 1>{number}).indices.empty());
    seen = seen || now;
    chosen = chosen || now;
  }
  return chosen;
}

bool FollowedSteps::wants(std::string_view tensor) const { return !own_step_ || own_.wants(tensor, *own_step_); }

std::int64_t FollowedSteps::OfMode::bound() const {
  std::int64_t bound = terms.empty() ? INT64_MAX : INT64_MIN;
  for (const Term& term : terms) {
    bound = std::max(bound, bound_of(term.step));
  }
  return bound;
}

std::optional<FollowedSteps::Time> FollowedSteps::over_at() const {
  const GlobalStep own_last = own_.steps.empty() ? GlobalStep(INT64_MIN) : own_.steps.back().step;
  if (grow_ && !(all_known_ && behind_.empty() && trial_.workers().size() < 2)) {
    return whole_.whole_at(std::max(own_last, GlobalStep(modes_.front().bound())));
  }
  const bool passed =
      reached_ >= own_last && std::ranges::all_of(modes_, [](const OfMode& of) { return of.reached >= of.bound(); });
  return passed ? std::optional(Time::min()) : std::nullopt;
}

void FollowedSteps::report_missing(bool ended, Diagnostics& messages) const {
  const TrialSnapshot snapshot = TrialSnapshot::last(trial_);
  for (const OfMode& of : modes_) {
    for (const auto& [term, from_end, comes, seen] : of.terms) {
      if (!term.single || seen) {
        continue;
      }
      const std::string name = kind_of_step(of.mode) + " " + (term.oldest ? "first" : std::to_string(term.number));
      const std::string_view tag = term.oldest || term.number < 0
                                       ? std::string_view(ended ? "NoMoreData" : "StepNotYetAvailable")
                                       : snapshot.unavailable_tag({of.mode, ModeStep(term.number)});
      if (tag == "StepUnavailable") {
        messages.fail(tag, name + " was not saved" + as_far_as_read(trial_), ExitStatus::no);
      } else if (tag == "NoMoreData") {
        messages.fail(tag, name + " never came, the job has ended" + as_far_as_read(trial_), ExitStatus::no);
      }
    }
  }
}

}  // namespace smd::tool
