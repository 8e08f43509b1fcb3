// SPDX-License-Identifier: Apache-2.0
#include "followed_steps.hpp"

#include "text.hpp"

#include <algorithm>
#include <array>

namespace smd::tool {

namespace {

// The largest number that a term can still mean; none: no bound.
std::optional<std::int64_t> bound_of(const StepTerm& term) {
  if (term.single) {
    return term.oldest ? std::nullopt : std::optional(term.number);
  }
  if (term.stride < 0) {
    return term.start;
  }
  return term.stop ? std::optional(*term.stop - 1) : std::nullopt;
}

}  // namespace

FollowedSteps::FollowedSteps(const Trial& trial, const SelectionOptions& options, const StepSpec& fallback)
    : trial_(trial), every_(static_cast<std::uint64_t>(options.every)) {
  const StepSpec& spec = options.steps ? *options.steps : fallback;
  for (const Mode mode : options.modes) {
    OfMode of{.mode = mode, .terms = spec.terms(), .seen = {}, .reached = {}};
    std::vector<std::int64_t> numbers;
    for (const ModeStep step : trial.steps(mode)) {
      numbers.push_back(step.value);
    }
    for (StepTerm& term : of.terms) {
      fix(term, numbers);
    }
    of.seen.assign(of.terms.size(), false);
    modes_.push_back(std::move(of));
  }
}

// Turns what counts from an end into numbers.
void FollowedSteps::fix(StepTerm& term, const std::vector<std::int64_t>& numbers) const {
  const auto from_end = [&](std::int64_t back) {
    const auto size = static_cast<std::int64_t>(numbers.size());
    return back >= -size ? std::optional(numbers[static_cast<std::size_t>(size + back)]) : std::nullopt;
  };
  if (term.single) {
    if (term.oldest && !numbers.empty()) {
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
  if (modes_.size() != 1 || modes_.front().mode != Mode::global || modes_.front().terms.empty()) {
    return std::nullopt;
  }
  std::int64_t least = INT64_MAX;
  for (const StepTerm& term : modes_.front().terms) {
    if (term.single ? term.oldest : (!term.start || term.stride < 0)) {
      return std::nullopt;
    }
    least = std::min(least, term.single ? term.number : *term.start);
  }
  return least <= 0 ? std::nullopt : std::optional(GlobalStep(least - 1));
}

bool FollowedSteps::choose(const FollowEvent& step) {
  bool chosen = false;
  for (OfMode& of : modes_) {
    if (of.mode != Mode::global && step.mode != of.mode) {
      continue;
    }
    const std::int64_t number = of.mode == Mode::global ? step.step.value : step.mode_step.value;
    // A job restarted without its checkpoint counts its mode steps anew: the first global step answers.
    if (of.mode != Mode::global && trial_.global_step(of.mode, ModeStep(number)) != step.step) {
      continue;
    }
    of.reached = std::max(of.reached.value_or(number), number);
    chosen = chosen || of.terms.empty();
    for (std::size_t i = 0; i < of.terms.size(); ++i) {
      StepTerm& term = of.terms[i];
      if (term.single && term.oldest) {
        term.oldest = false;
        term.number = number;
      }
      const bool now = !(term.single && term.number < 0 && number >= 0) &&
                       !StepSpec({term}).choose(std::array<std::int64_t, 1>{number}).indices.empty();
      of.seen[i] = of.seen[i] || now;
      chosen = chosen || now;
    }
  }
  return chosen && count_++ % every_ == 0;
}

bool FollowedSteps::over() const noexcept {
  return std::all_of(modes_.begin(), modes_.end(), [](const OfMode& of) {
    return !of.terms.empty() && std::all_of(of.terms.begin(), of.terms.end(), [&](const StepTerm& term) {
      const std::optional<std::int64_t> bound = bound_of(term);
      return bound && of.reached && *of.reached >= *bound;
    });
  });
}

void FollowedSteps::report_missing(bool ended, Diagnostics& messages) const {
  for (const OfMode& of : modes_) {
    for (std::size_t i = 0; i < of.terms.size(); ++i) {
      const StepTerm& term = of.terms[i];
      if (!term.single || of.seen[i]) {
        continue;
      }
      const std::string name = (of.mode == Mode::global ? "step " : std::string(mode_text(of.mode)) + " step ") +
                               (term.oldest ? "first" : std::to_string(term.number));
      if (term.number >= 0 && of.reached && *of.reached > term.number) {
        messages.fail("StepUnavailable", name + " was not saved" + as_far_as_read(trial_), ExitStatus::no);
      } else if (ended) {
        messages.fail("NoMoreData", name + " never came, the job has ended" + as_far_as_read(trial_), ExitStatus::no);
      }
    }
  }
}

}  // namespace smd::tool
