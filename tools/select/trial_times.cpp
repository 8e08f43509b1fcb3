// SPDX-License-Identifier: Apache-2.0
#include "select/trial_times.hpp"

#include "cli/mapped.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace smd::tool {

std::string_view job_status(const Trial& trial) {
  if (trial.layout().marks_steps) {
    return trial.ended() ? "ended" : "running";
  }
  return trial.exit_code() ? "ended" : "unknown";
}

std::int64_t age_of(const FileTotals& files) {
  const auto age = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() - files.newest).count();
  return std::max<std::int64_t>(age, 0);
}

namespace {

/// A record whose time is to be read.
struct TimedRecord {
  Place place;
  std::string name;
};

/// Calls `consider(place, name)` for each part of an entry; `name` makes the tensor's name in that record.
template <class Consider>
void for_each_part(const TensorEntry& entry, Consider&& consider) {
  if (entry.value) {
    consider(*entry.value, [&] { return std::string(entry.tensor); });
  }
  for (const SavedReduction& reduction : entry.reductions) {
    consider(reduction.place, [&] { return reduction_tensor_name(reduction.name, entry.tensor); });
  }
}

/// Calls `take(i, time)` for each record that is readable, and reports the others.
void read_times(const Trial& trial, const std::vector<TimedRecord>& records, Diagnostics& messages,
                const std::function<void(std::size_t, double)>& take) {
  const std::vector<WantedValue> wanted = mapped(records, [](const TimedRecord& record) {
    return WantedValue{record.place, record.name};
  });
  const auto take_result = [&](std::size_t i, ReadResult&& result) {
    if (result.problem) {
      messages.report_once(*result.problem, trial.path());
    } else {
      take(i, result.wall_time);
    }
    return true;
  };
  trial.read(wanted, take_result, {}, [](std::size_t, Extent&) { return false; });
}

}  // namespace

std::vector<std::optional<StepTime>> step_times(const Trial& trial, std::span<const GlobalStep> steps,
                                                const EntryQuery& query, Diagnostics& messages) {
  std::vector<std::optional<StepTime>> times(steps.size());
  std::vector<std::optional<TimedRecord>> smallest(steps.size());
  std::size_t at = 0;
  const auto consider = [&](const Place& place, const auto& name) {
    if (!place.has_record()) {
      std::optional<StepTime>& time = times[at];
      time = time ? StepTime{std::fmin(time->earliest, place.wall_time), std::fmax(time->latest, place.wall_time)}
                  : StepTime{place.wall_time, place.wall_time};
    } else if (!smallest[at] || place.length < smallest[at]->place.length) {
      smallest[at] = {place, name()};
    }
  };
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    while (at < steps.size() && steps[at] < entry.step) {
      ++at;
    }
    if (at < steps.size() && steps[at] == entry.step) {
      for_each_part(entry, consider);
    }
    return at < steps.size();
  });
  std::vector<TimedRecord> wanted;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < smallest.size(); ++i) {
    if (smallest[i] && !times[i]) {
      wanted.push_back(*std::move(smallest[i]));
      places.push_back(i);
    }
  }
  read_times(trial, wanted, messages, [&](std::size_t i, double time) { times[places[i]] = StepTime{time, time}; });
  return times;
}

double first_time(const Trial& trial, Diagnostics& messages) {
  std::vector<GlobalStep> steps = trial.steps(true);
  steps.resize(std::min<std::size_t>(steps.size(), 1));
  if (!trial.layout().marks_steps) {  // the job may have gone back
    steps = mapped(trial.summaries(), &TensorSummary::first_step);
    detail::sort_each_once(steps);
  }
  std::optional<double> first;
  const auto take_time = [&first](double time) { first = std::fmin(first.value_or(time), time); };
  std::map<std::string, TimedRecord> records;  // the first one of each file
  const auto consider = [&](const Place& place, const auto& name) {
    if (!place.has_record()) {
      take_time(place.wall_time);
    } else if (const auto [known, fresh] = records.try_emplace(*place.file);
               fresh || place.offset < known->second.place.offset) {
      known->second = {place, name()};
    }
  };
  trial.for_each_entry({.steps = steps, .include_incomplete = true}, [&](const TensorEntry& entry) {
    for_each_part(entry, consider);
    return true;
  });
  const std::vector<TimedRecord> wanted = mapped(records, [](const auto& record) { return record.second; });
  read_times(trial, wanted, messages, [&](std::size_t, double time) { take_time(time); });
  return first.value_or(std::nan(""));
}

Pace pace_of(const Trial& trial, std::span<const GlobalStep> steps, Diagnostics& messages) {
  constexpr std::size_t recent = 100;
  if (steps.size() < 2) {
    bool has_time = false;  // a record has one, which need not be read
    const auto consider = [&](const Place& place, const auto& /*name*/) {
      has_time = has_time || place.has_record() || !std::isnan(place.wall_time);
    };
    trial.for_each_entry({.steps = {{steps.begin(), steps.end()}}, .include_incomplete = true},
                         [&](const TensorEntry& entry) {
                           for_each_part(entry, consider);
                           return !has_time;
                         });
    return {.duration = has_time ? std::optional(0.0) : std::nullopt, .rate = {}};
  }
  // PyTorch's add_hparams writes a step 0 after all others: then the rate is that from the step behind it.
  const auto starts = steps.last(std::min(recent + 1, steps.size())).first(trial.layout().marks_steps ? 1 : 2);
  std::vector<GlobalStep> ends = {steps.front(), starts.front(), starts.back(), steps.back()};
  if (!trial.layout().marks_steps) {
    // After a job went back, the times of each tensor still ascend with its steps, but not those of all together.
    for (const TensorSummary& tensor : trial.summaries()) {
      ends.insert(ends.end(), {tensor.first_step, tensor.last_step});
    }
  }
  detail::sort_each_once(ends);
  const auto times = step_times(trial, ends, {.steps = ends, .include_incomplete = true}, messages);
  const auto& first = times.front();
  const auto& last = times.back();
  Pace pace;
  if (first && last && !std::isnan(last->latest - first->earliest)) {
    StepTime whole = *first;
    for (const std::optional<StepTime>& time : times) {
      whole.earliest = std::fmin(whole.earliest, time.value_or(whole).earliest);
      whole.latest = std::fmax(whole.latest, time.value_or(whole).latest);
    }
    pace.duration = whole.latest - whole.earliest;
  }
  for (const GlobalStep start : starts) {
    const auto& late = times[static_cast<std::size_t>(std::ranges::find(ends, start) - ends.begin())];
    if (!pace.rate && late && last && last->earliest > late->earliest) {
      const auto number = [](GlobalStep step) { return static_cast<std::uint64_t>(step.value); };
      pace.rate = static_cast<double>(number(steps.back()) - number(start)) / (last->earliest - late->earliest);
    }
  }
  return pace;
}

}  // namespace smd::tool
