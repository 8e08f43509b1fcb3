// SPDX-License-Identifier: Apache-2.0
#include "select/trial_times.hpp"

#include <algorithm>
#include <chrono>
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

std::vector<std::optional<StepTime>> step_times(const Trial& trial, std::span<const GlobalStep> steps,
                                                const EntryQuery& query, Diagnostics& messages) {
  std::vector<std::optional<StepTime>> times(steps.size());
  struct Smallest {
    Place place;
    std::string name;
  };
  std::vector<std::optional<Smallest>> smallest(steps.size());
  std::size_t at = 0;
  const auto consider = [&](const Place& place, const auto& name) {
    if (!place.has_record()) {
      std::optional<StepTime>& time = times[at];
      time = time ? StepTime{std::min(time->earliest, place.wall_time), std::max(time->latest, place.wall_time)}
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
      if (entry.value) {
        consider(*entry.value, [&] { return std::string(entry.tensor); });
      }
      for (const SavedReduction& reduction : entry.reductions) {
        consider(reduction.place, [&] { return reduction_tensor_name(reduction.name, entry.tensor); });
      }
    }
    return at < steps.size();
  });
  std::vector<WantedValue> wanted;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < smallest.size(); ++i) {
    if (smallest[i] && !times[i]) {
      wanted.push_back({smallest[i]->place, smallest[i]->name});
      places.push_back(i);
    }
  }
  const auto take = [&](std::size_t i, ReadResult&& result) {
    if (result.problem) {
      messages.report(*result.problem, trial.path());
    } else {
      times[places[i]] = StepTime{result.wall_time, result.wall_time};
    }
    return true;
  };
  trial.read(wanted, take, {}, [](std::size_t, Extent&) { return false; });
  return times;
}

double first_time(const Trial& trial, Diagnostics& messages) {
  std::vector<GlobalStep> steps = trial.steps(true);
  steps.resize(std::min<std::size_t>(steps.size(), 1));
  std::optional<double> first;
  const auto take_time = [&first](double time) { first = std::min(first.value_or(time), time); };
  std::map<std::string, std::pair<Place, std::string>> records;  // the first one of each file
  const auto consider = [&](const Place& place, const auto& name) {
    if (!place.has_record()) {
      take_time(place.wall_time);
    } else if (const auto [known, fresh] = records.try_emplace(*place.file);
               fresh || place.offset < known->second.first.offset) {
      known->second = {place, std::string(name())};
    }
  };
  trial.for_each_entry({.steps = steps, .include_incomplete = true}, [&](const TensorEntry& entry) {
    if (entry.value) {
      consider(*entry.value, [&] { return entry.tensor; });
    }
    for (const SavedReduction& reduction : entry.reductions) {
      consider(reduction.place, [&] { return reduction_tensor_name(reduction.name, entry.tensor); });
    }
    return true;
  });
  std::vector<WantedValue> wanted;
  wanted.reserve(records.size());
  for (const auto& [file, record] : records) {
    wanted.push_back({record.first, record.second});
  }
  const auto take = [&](std::size_t, ReadResult&& result) {
    if (result.problem) {
      messages.report(*result.problem, trial.path());
    } else {
      take_time(result.wall_time);
    }
    return true;
  };
  trial.read(wanted, take, {}, [](std::size_t, Extent&) { return false; });
  return first.value_or(0);
}

Pace pace_of(const Trial& trial, std::span<const GlobalStep> steps, Diagnostics& messages) {
  constexpr std::size_t recent = 100;
  if (steps.size() < 2) {
    return {.duration = steps.empty() ? std::nullopt : std::optional(0.0), .rate = {}};
  }
  const GlobalStep before = steps[steps.size() - 1 - std::min(recent, steps.size() - 1)];
  std::vector<GlobalStep> ends = {steps.front(), before, steps.back()};
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const auto times = step_times(trial, ends, {.steps = ends, .include_incomplete = true}, messages);
  const auto& first = times.front();
  const auto& late = times[times.size() - 2];
  const auto& last = times.back();
  Pace pace;
  if (first && last) {
    pace.duration = std::max(last->latest - first->earliest, 0.0);
  }
  if (late && last && last->earliest > late->earliest) {
    pace.rate = static_cast<double>(steps.back().value - before.value) / (last->earliest - late->earliest);
  }
  return pace;
}

}  // namespace smd::tool
