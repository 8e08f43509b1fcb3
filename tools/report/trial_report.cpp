// SPDX-License-Identifier: Apache-2.0
// What the page shows of a trial, beside what `Survey` gathers.
#include "trial_report.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "rows/buckets.hpp"
#include "rows/elements.hpp"
#include "select/saved_forms.hpp"
#include "select/select.hpp"
#include "select/trial_times.hpp"
#include "text/loss_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_in_tally = 8000;  // of one rule, or one for each tensor

// The entries of tensors that the first workers by name saved at the steps that are examined.
void for_each_examined(const Trial& trial, std::vector<std::string> tensors, const EvaluationOptions& steps,
                       const std::function<void(const TensorEntry&)>& visit) {
  EntryQuery query = {
      .tensors = std::move(tensors), .steps = steps.steps, .mode = steps.mode, .workers = steps.workers};
  query.first_worker_only = true;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    if ((!steps.start || entry.step >= *steps.start) && (!steps.end || entry.step < *steps.end)) {
      visit(entry);
    }
    return true;
  });
}

constexpr std::size_t most_maps = 24;
constexpr std::size_t most_columns_of_map = 64;
constexpr std::uint64_t largest_record = std::uint64_t{1} << 20;  // of a picture or text
constexpr std::size_t longest_text = 2000;

using SavedAt = std::pair<GlobalStep, Place>;

std::vector<SavedAt> places_of(const Trial& trial, const std::string& tensor, const EvaluationOptions& steps) {
  std::vector<SavedAt> places;
  for_each_examined(trial, {tensor}, steps, [&](const TensorEntry& entry) {
    if (const SavedReduction* const buckets = saved_buckets(entry)) {
      places.emplace_back(entry.step, buckets->place);
    }
  });
  if (places.size() > most_columns_of_map) {
    for (std::size_t i = 0; i < most_columns_of_map; ++i) {  // each comes from behind
      places[i] = places[i * (places.size() - 1) / (most_columns_of_map - 1)];
    }
    places.resize(most_columns_of_map);
  }
  return places;
}

HeatMap read_map(const Trial& trial, const std::string& tensor, const std::vector<SavedAt>& places) {
  const std::string name = reduction_tensor_name(buckets_name, tensor);
  const std::vector<WantedValue> wanted = mapped(places, [&](const SavedAt& at) {
    return WantedValue{at.second, name};
  });
  HeatMap map;
  trial.read(wanted, [&](std::size_t i, ReadResult&& result) {
    std::optional<BucketCounts> counts = result.value ? counts_of_buckets(result.value->view()) : std::nullopt;
    if (counts && !counts->counts.empty()) {
      map.columns.push_back(
          {static_cast<double>(places[i].first.value), std::move(counts->edges), std::move(counts->counts)});
    }
    return true;
  });
  return map;
}

// Whether a note is about a loss, by its name, and not about a text that says which loss it is.
bool is_about_loss(const Problem& note) {
  const std::string& name = note.tensor;
  return smd::text::is_loss_name(name) && !name.ends_with("type") && !name.ends_with("fn") && !name.ends_with("name");
}

}  // namespace

void FindingTally::add(const Finding& finding) {
  TensorFindings& of = tensors_[finding.tensor.value_or(std::string())];
  ++count_;
  const bool kept = finding.step && of.count % every_ == 0;
  ++of.count;
  if (kept) {
    of.marks.push_back({*finding.step, shown_message(finding)});
    if (++marks_ > most_in_tally && marks_ > 2 * tensors_.size()) {
      every_ *= 2;
      marks_ = 0;
      for (auto& [tensor, found] : tensors_) {
        halve(found.marks);
        marks_ += found.marks.size();
      }
    }
  }
}

const TensorHistory* TrialReport::history(std::string_view tensor) const {
  const auto found = histories.tensors.find(tensor);
  return found == histories.tensors.end() ? nullptr : &found->second;
}

std::vector<const RuleResult*> TrialReport::all_results() const {
  const auto address = [](const RuleResult& result) { return &result; };
  std::vector<const RuleResult*> all = mapped(results, address);
  std::ranges::copy(mapped(passed_over, address), std::back_inserter(all));
  return all;
}

TrialFacts facts_of(const Trial& trial) {
  TrialFacts facts = {.layout = std::string(trial.layout().name),
                      .status = std::string(job_status(trial)),
                      .tensors = trial.tensor_names().size(),
                      .last_complete = trial.last_complete_step(),
                      .exit_code = trial.exit_code(),
                      .hyperparameters = trial.hyperparameters()};
  const std::vector<Mode> claimed = trial.modes();  // by any worker; a step's own is that of its first
  std::set<Mode> modes(claimed.begin(), claimed.end());
  for (const StepInfo& info : trial.step_infos()) {
    ++facts.steps;
    facts.bytes += info.bytes;
    modes.insert(info.mode);
    facts.first_step = facts.first_step.value_or(info.step);
    facts.last_step = info.step;
    for (const std::string& name : info.workers) {
      WorkerFacts& worker = facts.workers[name];
      ++worker.steps;
      worker.last_step = info.step;
    }
  }
  facts.modes = mapped(modes, [](Mode mode) { return std::string(to_string(mode)); });
  facts.collections = keys_of(trial.collections());
  facts.has_weights = !trial.tensor_names({.collections = {"weights"}}).empty();
  facts.scalars = trial.tensor_names({.collections = {"scalars"}});
  facts.superseded = sum_of(trial.superseded(), [](const auto& one) { return one.second; });
  for (const OtherValue& other : trial.other_values()) {
    if (other.kind == "alert") {
      facts.alerts.push_back(other.name);
    }
  }
  for (const Problem& problem : trial.problems()) {
    switch (problem.kind) {
      case ProblemKind::absent:
      case ProblemKind::not_found:
      case ProblemKind::access_denied:
      case ProblemKind::io:
      case ProblemKind::network:
      case ProblemKind::damaged:
      case ProblemKind::warning:
      case ProblemKind::stopped:
        facts.problems.push_back(to_string(problem));
        break;
      case ProblemKind::remark:
        facts.notes.push_back(to_string(problem));
        [[fallthrough]];
      case ProblemKind::note:
        if (facts.lost_loss.empty() && is_about_loss(problem)) {
          facts.lost_loss = to_string(problem);
        }
        break;
      case ProblemKind::not_yet:
      case ProblemKind::other_trial:
        break;
    }
  }
  facts.incomplete = incomplete_steps(trial);
  return facts;
}

std::map<std::string, HeatMap> saved_histograms(const Trial& trial, const Histories& histories,
                                                const EvaluationOptions& steps) {
  std::map<std::string, HeatMap> maps;
  for (const TensorSummary& summary : trial.summaries()) {
    const bool saved = contains(summary.saved, buckets_name);
    if (!saved || !histories.tensors.contains(summary.tensor) || maps.size() == most_maps) {
      continue;
    }
    HeatMap map = read_map(trial, summary.tensor, places_of(trial, summary.tensor, steps));
    if (!map.columns.empty()) {
      maps.emplace(summary.tensor, std::move(map));
    }
  }
  return maps;
}

std::vector<LoggedMedia> logged_media(const Trial& trial, const SelectionOptions& selection,
                                      const EvaluationOptions& steps) {
  std::vector<std::string> tensors =
      trial.tensor_names({.collections = {"images", "text"}, .exclude = selection.excludes});
  if (!tensors.empty() && selection.selects_tensors()) {
    const std::vector<std::string> chosen = tensors_at(trial, selection, std::nullopt);
    std::erase_if(tensors, [&](const std::string& name) { return !contains(chosen, name); });
  }
  if (tensors.empty()) {
    return {};
  }
  tensors.resize(std::min(tensors.size(), most_media));
  std::map<std::string, std::vector<SavedAt>> ends;  // of each, the first and the last
  for_each_examined(trial, tensors, steps, [&](const TensorEntry& entry) {
    if (entry.value && entry.value->length <= largest_record) {
      auto& of = ends[std::string(entry.tensor)];
      of.resize(std::min<std::size_t>(of.size(), 1));
      of.emplace_back(entry.step, *entry.value);
    }
  });
  std::vector<LoggedMedia> media;
  std::vector<WantedValue> wanted;
  for (const std::string& tensor : tensors) {
    for (const auto& [step, place] : ends[tensor]) {
      if (media.size() < most_media) {
        media.push_back({.tensor = tensor, .step = step});
        wanted.push_back({place, tensor});
      }
    }
  }
  trial.read(wanted, [&](std::size_t i, ReadResult&& result) {
    if (result.value && result.value->dtype() == Dtype::string) {
      const std::vector<std::string_view> texts = strings(result.value->view());
      for (const std::string_view text : texts) {  // beside a picture stand its width and height, as text
        const std::string_view extension = media_extension(text);
        if (media[i].bytes.empty() && !extension.empty() && extension != "wav") {
          media[i].bytes = text;
          media[i].picture = extension;
        }
      }
      if (media[i].bytes.empty() && texts.size() == 1 && valid_utf8(texts.front())) {
        media[i].bytes = texts.front().substr(0, longest_text);
      }
    }
    return true;
  });
  std::erase_if(media, [](const LoggedMedia& one) { return one.bytes.empty(); });
  return media;
}

std::vector<LossFacts> losses_of(const TrialReport& trial) {
  const auto point = [](const ScalarValue& value) { return ChartPoint{static_cast<double>(value.step), value.number}; };
  std::vector<LossFacts> losses;
  for (const auto& [name, history] : trial.histories.tensors) {
    for (const auto& [mode, series] : history.modes) {
      const ThinCurve& curve = series.of(Measure::mean);
      if (history.role == Role::loss && !curve.empty()) {
        BestAndLast values = history.losses.at(mode);
        for (const auto& [worker, of_worker] : history.workers) {
          const ChartPoint& newest = of_worker.facts().last;
          if (worker.second == mode) {
            values.add_newest({static_cast<std::int64_t>(newest.x), newest.y});
          }
        }
        losses.push_back({name, history.modes.size() > 1 ? fmt::format(" ({})", mode_text(mode)) : "", curve.facts()});
        losses.back().facts.last = point(*values.last());
        losses.back().facts.least = values.best() ? std::optional(point(*values.best())) : std::nullopt;
      }
    }
  }
  return losses;
}

std::optional<FirstNotFinite> first_not_finite(const TrialReport& trial) {
  std::optional<FirstNotFinite> first;
  for (const auto& [name, history] : trial.histories.tensors) {
    if (history.first_not_finite && (!first || *history.first_not_finite < first->step)) {
      first = {name, *history.first_not_finite};
    }
  }
  return first;
}

}  // namespace smd::tool::report
