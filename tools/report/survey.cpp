// SPDX-License-Identifier: Apache-2.0
#include "survey.hpp"

#include "cli/mapped.hpp"
#include "text/words.hpp"

#include <smd/reduction.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <cmath>

namespace smd::tool::report {

namespace {

constexpr std::array<Reduction, measures> measured = {{{.kind = ReductionKind::l2},
                                                       {.kind = ReductionKind::mean},
                                                       {.kind = ReductionKind::min},
                                                       {.kind = ReductionKind::max},
                                                       {.kind = ReductionKind::zero_fraction}}};
constexpr auto mean_measure = static_cast<std::size_t>(Measure::mean);
constexpr std::array<Reduction, 3> counted = {
    {{.kind = ReductionKind::count}, {.kind = ReductionKind::nan}, {.kind = ReductionKind::inf}}};

// A tensor takes some kilobytes, and a row of the page.
constexpr std::size_t most_tensors = 10'000;
// Percentiles keep the elements of a value in memory, so larger values have none.
constexpr std::uint64_t largest_sampled = std::uint64_t{8} << 20;
constexpr std::size_t most_samples = 96;
// Bytes of the values kept: one of each weight that is compared with the step before.
constexpr std::uint64_t most_compared = std::uint64_t{32} << 20;
// A record no larger may be a scalar: its values are gathered of all workers, and it has no percentiles.
constexpr std::uint64_t largest_scalar = 512;

// Of a fan. A single NaN must not hide how the other elements are spread.
constexpr Reduction among_numbers(ReductionKind kind, double percent = 0) {
  return {.kind = kind, .percent = percent, .omit_nan = true};
}
constexpr std::array<Reduction, fan_names.size()> spread = {
    {among_numbers(ReductionKind::min), among_numbers(ReductionKind::percentile, 5),
     among_numbers(ReductionKind::percentile, 25), among_numbers(ReductionKind::percentile, 50),
     among_numbers(ReductionKind::percentile, 75), among_numbers(ReductionKind::percentile, 95),
     among_numbers(ReductionKind::max)}};

bool may_be_scalar(const Unit& unit) { return unit.has_value() && unit.record_bytes() <= largest_scalar; }

// Fractions are only computed: no saved statistic has their name. Of a value of a worker that is not the first, only
// scalars are shown.
bool is_measured(const Unit& unit, bool first, std::size_t measure) {
  return !unit.has_value() ? measure != static_cast<std::size_t>(Measure::zero_fraction)
                           : first || (measure == mean_measure && may_be_scalar(unit));
}

// The statistic whose curve the page draws; of the others it shows the extremes.
Measure drawn_of(Role role) noexcept {
  switch (role) {
    case Role::gradient:
    case Role::weight:
    case Role::bias:
      return Measure::l2;
    case Role::activation:
      return Measure::zero_fraction;
    case Role::loss:
    case Role::other:
      break;
  }
  return Measure::mean;
}

// A collection whose name holds one of these words is one of activations.
constexpr std::array<std::string_view, 6> activation_words = {"relu", "activation", "sigmoid",
                                                              "tanh", "gelu",       "layers"};

}  // namespace

Survey::Survey(SurveyOptions options) : options_(std::move(options)) {
  histories_.seconds = ThinCurve(options_.columns);
}

void Survey::begin() { selection_ = select(options_.tensors); }

Role Survey::role_of(std::string_view tensor) {
  if (const auto known = roles_.find(tensor); known != roles_.end()) {
    return known->second;
  }
  const auto put = [&](const TensorQuery& query, Role role) {
    for (std::string& name : base_trial().tensor_names(query)) {
      roles_.try_emplace(std::move(name), role);
    }
  };
  // The first of these collections that holds a tensor decides.
  put({.collections = {"losses"}}, Role::loss);
  put({.collections = {"gradients"}}, Role::gradient);
  put({.collections = {"weights"}}, Role::weight);
  put({.collections = {"biases"}}, Role::bias);
  for (const auto& collection : base_trial().collections()) {
    const std::string& name = collection.first;
    if (std::ranges::any_of(activation_words, [&](auto word) { return name.find(word) != name.npos; })) {
      put({.collections = {name}}, Role::activation);
    }
  }
  put({}, Role::other);
  return roles_.try_emplace(std::string(tensor), Role::other).first->second;
}

Survey::Tracks::value_type* Survey::track_of(std::string_view tensor, Tracks::iterator& at) {
  if (at == tracks_.end() || at->first != tensor) {
    at = tracks_.find(tensor);
  }
  if (at == tracks_.end()) {
    if (surveyed_ == most_tensors) {
      return nullptr;
    }
    at = tracks_.try_emplace(std::string(tensor)).first;
    Track& track = at->second;
    track.role = role_of(tensor);
    track.excluded = !options_.exclude.empty() &&
                     base_trial().tensor_names({.names = {std::string(tensor)}, .exclude = options_.exclude}).empty();
    surveyed_ += track.excluded ? 0 : 1;
  }
  return &*at++;
}

std::vector<Survey::Surveyed> Survey::surveyed(const StepTensors& step) {
  std::vector<Surveyed> all;
  auto at = tracks_.begin();
  std::optional<std::string_view> name;
  Tracks::value_type* track = nullptr;
  std::uint64_t left_out = 0;
  for (const Unit& unit : step.units(selection_)) {
    const bool first = name != unit.tensor();
    if (first) {
      name = unit.tensor();
      track = track_of(*name, at);
      left_out += track == nullptr ? 1 : 0;
    }
    if (track != nullptr && !track->second.excluded) {
      all.push_back({unit, *track, first});
    }
  }
  histories_.tensors_left_out = std::max(histories_.tensors_left_out, left_out);
  return all;
}

bool Survey::compares(const Unit& unit, Track& track) {
  if (track.role != Role::weight || !unit.has_value()) {
    return false;
  }
  if (!track.compared) {
    track.compared = compared_bytes_ + unit.record_bytes() <= most_compared;
    (*track.compared ? compared_bytes_ : too_large_) += *track.compared ? unit.record_bytes() : 1;
  }
  return *track.compared;
}

void Survey::ask_percentiles(StepNeeds& step, const Unit& unit, Track& track) {
  if (!unit.has_value() || unit.record_bytes() <= largest_scalar || unit.record_bytes() > largest_sampled) {
    return;
  }
  Plan& plan = track.plans[unit.mode()];
  if (plan.steps++ % plan.every != 0) {
    return;
  }
  if (++plan.sampled > most_samples) {
    plan.sampled = (plan.sampled + 1) / 2;
    plan.every *= 2;
  }
  plan.asked.push_back(unit.step());
  for (const Reduction& reduction : spread) {
    step.computed(unit, reduction);
  }
}

// The evaluator finds answers fastest in the order in which they were asked for, which `gather` keeps.
void Survey::set_required_tensors(StepNeeds& step) {
  for (const auto& [unit, tensor, first] : surveyed(step)) {
    for (std::size_t i = 0; i < measures; ++i) {
      if (is_measured(unit, first, i)) {
        step.measure(unit, measured[i]);
      }
    }
    if (unit.has_value()) {
      for (const Reduction& reduction : counted) {
        step.computed(unit, reduction);
      }
    }
    if (!first) {
      continue;
    }
    ask_percentiles(step, unit, tensor.second);
    if (compares(unit, tensor.second)) {
      step.value(unit);
    }
  }
  if (options_.tensors.all && options_.exclude.empty()) {
    step.wall_time();  // of records that are read anyway
  }
}

struct Survey::Measured {
  std::array<std::optional<double>, measures> numbers = {};
  std::optional<double> elements = {};
  std::uint64_t nan = 0;
  std::uint64_t inf = 0;
  bool finite = true;
};

Survey::Measured Survey::measure(StepView& step, const Unit& unit, bool first) {
  Measured all;
  for (std::size_t i = 0; i < measures; ++i) {
    std::optional<double>& number = all.numbers[i];
    number = is_measured(unit, first, i) ? step.measure(unit, measured[i]) : std::nullopt;
    all.finite = all.finite && (!number || std::isfinite(*number));
  }
  if (unit.has_value()) {
    all.elements = step.computed(unit, counted[0]);
    all.nan = static_cast<std::uint64_t>(step.computed(unit, counted[1]).value_or(0));
    all.inf = static_cast<std::uint64_t>(step.computed(unit, counted[2]).value_or(0));
    all.finite = all.elements ? all.nan + all.inf == 0 : all.finite;  // a sum of squares may overflow without them
  }
  return all;
}

void Survey::invoke_at_step(StepView& step) {
  for (const auto& [unit, tensor, first] : surveyed(step)) {
    const Measured now = measure(step, unit, first);
    Track& track = tensor.second;
    if (track.history == nullptr) {
      track.history = &histories_.tensors[tensor.first];
      track.history->role = track.role;
    }
    TensorHistory& history = *track.history;
    // ExplodingTensor passes over the same: the first value of each worker.
    const bool start = now.inf == 1 && now.elements == 1.0 && step.series(unit).size() == 1 &&
                       contains(smd::text::split_words(tensor.first), "best");
    if (!now.finite && !start && !history.first_not_finite) {
      history.first_not_finite = unit.step();
    }
    if (now.elements) {
      history.elements = std::max(history.elements.value_or(0), static_cast<std::uint64_t>(*now.elements));
      history.nan += now.nan;
      history.inf += now.inf;
    }
    const std::optional<double>& mean = now.numbers[mean_measure];
    if (history.role == Role::loss && mean) {
      const auto loss = history.losses.try_emplace(unit.mode(), true, !base_trial().layout().has_modes).first;
      loss->second.add({unit.step().value, *mean});
    }
    if (may_be_scalar(unit)) {
      gather_worker(unit, history, mean);
    }
    if (first) {
      gather(step, unit, track, now);
      step.evaluated();
    }
  }
  gather_time(step);
  histories_.left_out = too_large_;
}

void Survey::gather(StepView& step, const Unit& unit, Track& track, const Measured& now) {
  TensorHistory& history = *track.history;
  const auto [mode, is_new] = history.modes.try_emplace(unit.mode());
  ModeHistory& series = mode->second;
  if (is_new) {
    series.curves.fill(ThinCurve(0));
    series.curves[static_cast<std::size_t>(drawn_of(history.role))] = ThinCurve(options_.columns);
    series.update_ratio = ThinCurve(options_.columns);
  }
  for (std::size_t i = 0; i < measures; ++i) {
    if (now.numbers[i]) {
      series.curves[i].add(unit.step(), unit.mode_step(), *now.numbers[i]);
    } else {
      series.curves[i].skip();
    }
  }
  if (std::ranges::any_of(now.numbers, [](const auto& number) { return number.has_value(); })) {
    history.first_step = history.steps == 0 ? unit.step() : history.first_step;
    history.last_step = unit.step();
    ++history.steps;
  }
  gather_fan(step, unit, track, now, series.fan);
  if (track.compared.value_or(false)) {
    gather_update(step, unit, track, series, now.finite);
  }
}

void Survey::gather_worker(const Unit& unit, TensorHistory& history, const std::optional<double>& number) {
  // A page compares those of two roles; of others only norms of gradients are of interest, which are scalars.
  if (history.role != Role::loss && history.role != Role::other && !history.scalar()) {
    return;
  }
  const std::pair worker = {std::string(unit.worker()), unit.mode()};
  if (number) {
    const auto curve = history.workers.try_emplace(worker, options_.columns).first;
    curve->second.add(unit.step(), unit.mode_step(), *number);
  } else if (const auto curve = history.workers.find(worker); curve != history.workers.end()) {
    curve->second.skip();
  }
}

void Survey::gather_fan(const StepView& step, const Unit& unit, Track& track, const Measured& now, Fan& fan) {
  const auto plan = track.plans.find(unit.mode());
  if (plan == track.plans.end() || !unit.has_value()) {
    return;
  }
  if (!now.elements) {
    fan.gaps.skip();
    return;
  }
  fan.nan += now.nan;
  FanSample sample = {.step = unit.step(), .place = fan.gaps.add(unit.mode_step().value)};
  std::deque<GlobalStep>& asked = plan->second.asked;
  while (!asked.empty() && asked.front() < unit.step()) {  // of a step that was skipped
    asked.pop_front();
  }
  if (asked.empty() || asked.front() != unit.step()) {
    return;
  }
  for (std::size_t i = 0; i < spread.size(); ++i) {
    sample.numbers[i] = step.computed(unit, spread[i]).value_or(std::nan(""));
  }
  fan.samples.push_back(sample);
  if (fan.samples.size() > most_samples) {
    halve(fan.samples);
    fan.every *= 2;
  }
}

void Survey::gather_update(const StepView& step, const Unit& unit, Track& track, ModeHistory& series, bool finite) {
  const TensorValue* const value = step.value(unit);
  if (value == nullptr) {
    series.update_ratio.skip();
    if (unit.has_value()) {  // unknown; a weight that was not saved is compared with the one saved last before
      track.before.erase(unit.mode());
    }
    return;
  }
  TensorValue& before = track.before[unit.mode()];
  if (!before.bytes().empty() && before.shape() == value->shape()) {
    comparer_.clear();
    comparer_.add(before.view(), value->view());
    const Difference difference = comparer_.result();
    // A difference of numbers that are not finite means nothing: NaN equals NaN.
    finite = finite && std::isfinite(difference.max_abs.value_or(0));
    if (!finite || difference.rel_l2) {
      series.update_ratio.add(unit.step(), unit.mode_step(), finite ? *difference.rel_l2 : std::nan(""));
    }
  }
  before = *value;
}

void Survey::gather_time(const StepView& step) {
  const std::optional<double> written = step.wall_time();
  if (!written || *written <= 0) {  // some layouts have no times
    return;
  }
  // A restored file may be older than the one before, and copies often have one time.
  if (histories_.last_write && *written > *histories_.last_write) {
    histories_.seconds.add(step.step(), ModeStep(step.step().value), *written - *histories_.last_write);
  }
  histories_.last_write = std::max(*written, histories_.last_write.value_or(*written));
}

}  // namespace smd::tool::report
