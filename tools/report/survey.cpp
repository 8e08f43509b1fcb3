// SPDX-License-Identifier: Apache-2.0
#include "survey.hpp"

#include <smd/difference.hpp>
#include <smd/reduction.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace smd::tool::report {

namespace {

constexpr std::array<Reduction, measures> measured = {{{.kind = ReductionKind::l2},
                                                       {.kind = ReductionKind::mean},
                                                       {.kind = ReductionKind::min},
                                                       {.kind = ReductionKind::max},
                                                       {.kind = ReductionKind::zero_fraction}}};
constexpr std::array<Reduction, 3> counted = {
    {{.kind = ReductionKind::count}, {.kind = ReductionKind::nan}, {.kind = ReductionKind::inf}}};
constexpr std::array<double, 5> percents = {5, 25, 50, 75, 95};

// Percentiles keep the elements of a value in memory, so that larger values have none.
constexpr std::uint64_t largest_sampled = std::uint64_t{8} << 20;
constexpr std::size_t most_samples = 96;
// Of weights that are compared with the step before, one value each is kept.
constexpr std::uint64_t most_compared = std::uint64_t{32} << 20;
// What is no larger may be a scalar: its values are gathered of all workers.
constexpr std::uint64_t largest_scalar = 512;

constexpr Reduction percentile(double percent) { return {.kind = ReductionKind::percentile, .percent = percent}; }

// Only what is computed: saved under the name of a share there is nothing.
bool is_measured(const Unit& unit, std::size_t measure) {
  return measure != static_cast<std::size_t>(Measure::zero_fraction) || unit.has_value();
}

}  // namespace

Survey::Survey(SurveyOptions options) : options_(std::move(options)) {
  histories_.seconds = ThinCurve(options_.columns);
}

void Survey::begin() { selection_ = select(options_.tensors); }

bool Survey::excluded(std::string_view tensor) {
  if (options_.exclude.empty()) {
    return false;
  }
  auto known = excluded_.find(tensor);
  if (known == excluded_.end()) {
    const bool none = base_trial().tensor_names({.names = {std::string(tensor)}, .exclude = options_.exclude}).empty();
    known = excluded_.emplace(tensor, none).first;
  }
  return known->second;
}

template <class Take, class More>
void Survey::visit(const StepTensors& step, Take&& take, More&& more) {
  std::string_view last;
  bool any = false;
  for (const Unit& unit : step.units(selection_)) {
    const bool first = !any || unit.tensor() != last;
    any = true;
    last = unit.tensor();
    if (!excluded(last)) {
      first ? take(unit) : more(unit);
    }
  }
}

bool Survey::compares(const Unit& unit, Role role) {
  if (role != Role::weight || !unit.has_value() || unit.record_bytes() <= largest_scalar) {
    return false;
  }
  if (compared_.contains(unit.tensor())) {
    return true;
  }
  if (compared_bytes_ + unit.record_bytes() > most_compared) {
    too_large_.emplace(unit.tensor());
    return false;
  }
  compared_bytes_ += unit.record_bytes();
  compared_.emplace(unit.tensor(), unit.record_bytes());
  return true;
}

void Survey::ask_percentiles(StepNeeds& step, const Unit& unit) {
  if (!unit.has_value() || unit.record_bytes() > largest_sampled) {
    return;
  }
  Plan& plan = plans_[{std::string(unit.tensor()), unit.mode()}];
  if (plan.steps++ % plan.every != 0) {
    return;
  }
  if (++plan.sampled > most_samples) {
    plan.sampled = (plan.sampled + 1) / 2;
    plan.every *= 2;
  }
  for (const double percent : percents) {
    step.computed(unit, percentile(percent));
  }
}

void Survey::set_required_tensors(StepNeeds& step) {
  visit(
      step,
      [&](const Unit& unit) {
        for (std::size_t i = 0; i < measures; ++i) {
          if (is_measured(unit, i)) {
            step.measure(unit, measured[i]);
          }
        }
        if (unit.has_value()) {
          for (const Reduction& reduction : counted) {
            step.computed(unit, reduction);
          }
        }
        if (unit.record_bytes() > largest_scalar) {
          ask_percentiles(step, unit);
        }
        if (compares(unit, roles_.of(base_trial(), unit.tensor()))) {
          step.value(unit);
        }
      },
      [&](const Unit& unit) {
        if (unit.has_value() && unit.record_bytes() <= largest_scalar) {
          step.measure(unit, measured[static_cast<std::size_t>(Measure::mean)]);
        }
      });
  if (options_.tensors.all && options_.exclude.empty()) {
    step.wall_time();  // of records that are read anyway
  }
}

TensorHistory& Survey::history_of(std::string_view tensor) {
  const auto known = histories_.tensors.find(tensor);
  if (known != histories_.tensors.end()) {
    return known->second;
  }
  TensorHistory& history = histories_.tensors[std::string(tensor)];
  history.role = roles_.of(base_trial(), tensor);
  return history;
}

Series& Survey::series_of(TensorHistory& history, Mode mode) {
  const auto [at, is_new] = history.modes.try_emplace(mode);
  if (is_new) {
    at->second.curves.fill(ThinCurve(options_.columns));
    at->second.update_ratio = ThinCurve(options_.columns);
  }
  return at->second;
}

void Survey::invoke_at_step(StepView& step) {
  bool any = false;
  visit(
      step,
      [&](const Unit& unit) {
        any = true;
        gather(step, unit);
      },
      [&](const Unit& unit) {
        const auto number = step.measure(unit, measured[static_cast<std::size_t>(Measure::mean)]);
        if (number && unit.has_value() && unit.record_bytes() <= largest_scalar) {
          auto& curves = history_of(unit.tensor()).workers;
          curves.try_emplace({std::string(unit.worker()), unit.mode()}, options_.columns)
              .first->second.add(unit.step(), unit.mode_step(), *number);
        }
      });
  gather_time(step);
  histories_.left_out = too_large_.size();
  if (any) {
    step.evaluated();
  }
}

void Survey::gather(StepView& step, const Unit& unit) {
  TensorHistory& history = history_of(unit.tensor());
  Series& series = series_of(history, unit.mode());
  bool any = false;
  bool finite = true;
  for (std::size_t i = 0; i < measures; ++i) {
    const std::optional<double> number =
        is_measured(unit, i) ? step.measure(unit, measured[i]) : std::optional<double>();
    if (number) {
      series.curves[i].add(unit.step(), unit.mode_step(), *number);
      finite = finite && std::isfinite(*number);
      any = true;
    } else {
      series.curves[i].skip();
    }
  }
  const auto count = [&](std::size_t which) { return step.computed(unit, counted[which]); };
  if (const std::optional<double> elements = count(0)) {
    history.elements = std::max(history.elements.value_or(0), static_cast<std::uint64_t>(*elements));
    const auto nan = static_cast<std::uint64_t>(count(1).value_or(0));
    const auto inf = static_cast<std::uint64_t>(count(2).value_or(0));
    history.nan += nan;
    history.inf += inf;
    finite = nan + inf == 0;  // a sum of squares may be infinite without
  }
  if (!any) {
    return;
  }
  if (!finite && !history.first_not_finite) {
    history.first_not_finite = unit.step();
  }
  history.first_step = history.steps == 0 ? unit.step() : history.first_step;
  history.last_step = unit.step();
  ++history.steps;
  if (unit.has_value() && unit.record_bytes() <= largest_scalar) {
    if (const auto number = step.measure(unit, measured[static_cast<std::size_t>(Measure::mean)])) {
      history.workers.try_emplace({std::string(unit.worker()), unit.mode()}, options_.columns)
          .first->second.add(unit.step(), unit.mode_step(), *number);
    }
  }
  gather_fan(step, unit, series.fan);
  if (compared_.contains(unit.tensor())) {
    gather_update(step, unit, series);
  }
}

void Survey::gather_fan(const StepView& step, const Unit& unit, Fan& fan) {
  FanSample sample = {.step = unit.step()};
  bool any = false;
  const auto put = [&](std::size_t at, const std::optional<double>& number) {
    sample.numbers[at] = number.value_or(std::nan(""));
    any = any || number;
  };
  for (std::size_t i = 0; i < percents.size(); ++i) {
    put(i + 1, step.computed(unit, percentile(percents[i])));
  }
  if (!any) {
    return;
  }
  put(0, step.measure(unit, measured[static_cast<std::size_t>(Measure::min)]));
  put(fan_names.size() - 1, step.measure(unit, measured[static_cast<std::size_t>(Measure::max)]));
  fan.samples.push_back(sample);
  if (fan.samples.size() > most_samples) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < fan.samples.size(); i += 2) {
      fan.samples[kept++] = fan.samples[i];
    }
    fan.samples.resize(kept);
    fan.every *= 2;
  }
}

void Survey::gather_update(const StepView& step, const Unit& unit, Series& series) {
  const TensorValue* const value = step.value(unit);
  if (value == nullptr) {
    series.update_ratio.skip();
    return;
  }
  TensorValue& before = before_[{std::string(unit.tensor()), unit.mode()}];
  if (!before.bytes().empty() && before.shape() == value->shape()) {
    Comparer comparer;
    comparer.add(value->view(), before.view());
    const Difference difference = comparer.result();
    // Of numbers that are not finite a difference says nothing: NaN equals NaN.
    const bool finite = step.computed(unit, counted[1]) == 0.0 && step.computed(unit, counted[2]) == 0.0 &&
                        std::isfinite(difference.max_abs.value_or(0));
    if (!finite || difference.rel_l2) {
      series.update_ratio.add(unit.step(), unit.mode_step(), finite ? *difference.rel_l2 : std::nan(""));
    }
  }
  before = *value;
}

void Survey::gather_time(const StepView& step) {
  const std::optional<double> written = step.wall_time();
  if (!written || *written <= 0) {  // some layouts do not tell
    return;
  }
  if (histories_.last_write) {
    histories_.seconds.add(step.step(), ModeStep(step.step().value), *written - *histories_.last_write);
  }
  histories_.last_write = *written;
}

}  // namespace smd::tool::report
