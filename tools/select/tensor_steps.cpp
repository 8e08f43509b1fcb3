// SPDX-License-Identifier: Apache-2.0
#include "select/tensor_steps.hpp"

#include "cli/text.hpp"
#include "select/repeated_steps.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace smd::tool {

namespace {

bool only_names(const SelectionOptions& options) {
  return !options.names.empty() && options.regexes.empty() && options.collections.empty();
}

bool same_step(const SelectedStep& a, const SelectedStep& b) { return a.step == b.step; }

/// The steps of one tensor in one mode, by their numbers there, ascending.
struct OwnSteps {
  std::vector<std::int64_t> numbers;
  std::vector<SelectedStep> steps;
};

class TensorStepSelector {
 public:
  TensorStepSelector(Trial& trial, const SelectionOptions& options, const StepSpec& spec,
                     std::span<const std::string> tensors, const EntryFilter& counts, Diagnostics* messages)
      : trial_(trial), options_(options), tensors_(tensors), counts_(counts), messages_(messages) {
    std::vector<StepTerm> from_end;
    std::vector<StepTerm> numbered;
    for (const StepTerm& term : spec.terms()) {
      (counts_from_end(term) ? from_end : numbered).push_back(term);
    }
    from_end_ = StepSpec(std::move(from_end));
    if (!numbered.empty()) {
      numbered_ = StepSpec(std::move(numbered));
    }
  }

  TensorSteps select() {
    if (tensors_.empty()) {
      return {};
    }
    choose_numbered();
    collect();
    TensorSteps result;
    std::vector<std::vector<std::string>> lacking(options_.modes.size() * from_end_.terms().size());
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      if (!saved_[t].empty()) {
        result.add(tensors_[t], chosen_of(t, lacking));
      }
    }
    result.sort();
    if (messages_ != nullptr) {
      say_lacking(lacking);
      say_counted_anew();
    }
    return result;
  }

 private:
  // Steps given by their numbers are the same for all tensors.
  void choose_numbered() {
    if (!numbered_ || messages_ == nullptr) {
      return;
    }
    SelectionOptions options = options_;
    options.steps = numbered_;
    options.every = 1;
    shared_ = select_steps(trial_, options, *numbered_, *messages_);
  }

  // Collects the entries of all tensors in one pass. If the order of steps determines the last one, only as many steps
  // as needed, from the end that is counted from; of tensors known by name, no more is read either.
  void collect() {
    const bool lazily = only_names(options_);
    const StepNeed need = from_end_.need();
    const bool one_end = need.kind == StepNeed::Kind::newest || need.kind == StepNeed::Kind::oldest;
    const bool in_order = options_.modes == std::vector{Mode::global} && options_.every == 1;
    const bool newest = need.kind == StepNeed::Kind::newest;
    const std::size_t listed = steps_worth_reading(trial_);
    for (std::size_t count = std::max<std::size_t>(need.count, 16);; count *= 8) {
      const bool all = !one_end || !(in_order || lazily) || count >= listed;
      if (lazily || all) {
        trial_.load_range(all ? StepRange() : newest ? StepRange::newest(count) : StepRange::oldest(count));
      }
      std::vector<GlobalStep> steps = trial_.steps(true);
      if (!all && steps.size() > count) {
        if (newest) {
          steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(count));
        } else {
          steps.resize(count);
        }
      }
      collect_steps(std::move(steps));
      if (all || enough(need.count)) {
        return;
      }
    }
  }

  void collect_steps(std::vector<GlobalStep> steps) {
    saved_.assign(tensors_.size(), {});
    EntryQuery query;
    query.tensors = {tensors_.begin(), tensors_.end()};
    query.steps = std::move(steps);
    query.include_incomplete = options_.incomplete;
    if (options_.worker) {
      query.workers = {*options_.worker};
    }
    trial_.for_each_entry(query, [&](const TensorEntry& entry) {
      const auto tensor = std::lower_bound(tensors_.begin(), tensors_.end(), entry.tensor);
      if (tensor != tensors_.end() && *tensor == entry.tensor && counts_(entry)) {
        std::vector<SelectedStep>& saved = saved_[static_cast<std::size_t>(tensor - tensors_.begin())];
        const SelectedStep step{entry.step, entry.mode, entry.mode_step};  // as its worker claims
        if (saved.empty() || saved.back() != step) {
          saved.push_back(step);
        }
      }
      return true;
    });
  }

  [[nodiscard]] bool enough(std::size_t count) const {
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      for (const Mode mode : options_.modes) {
        if (own_steps(t, mode).numbers.size() < count) {
          return false;
        }
      }
    }
    return true;
  }

  [[nodiscard]] OwnSteps own_steps(std::size_t tensor, Mode mode) const {
    std::vector<std::pair<std::int64_t, const SelectedStep*>> in_mode;
    for (const SelectedStep& step : saved_[tensor]) {
      if (mode == Mode::global) {
        in_mode.emplace_back(step.step.value, &step);
      } else if (step.mode == mode && trial_.global_step(mode, step.mode_step) == step.step) {
        // A job restarted without its checkpoint counts its mode steps anew: only the first global step counts.
        in_mode.emplace_back(step.mode_step.value, &step);
      }
    }
    std::stable_sort(in_mode.begin(), in_mode.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    OwnSteps own;
    for (const auto& [number, step] : in_mode) {
      if (own.numbers.empty() || own.numbers.back() != number) {
        own.numbers.push_back(number);
        own.steps.push_back(*step);
      }
    }
    return own;
  }

  std::vector<SelectedStep> chosen_of(std::size_t tensor, std::vector<std::vector<std::string>>& lacking) const {
    std::vector<SelectedStep> chosen;
    for (const SelectedStep& step : shared_) {
      const auto is_it = [&](const SelectedStep& own) { return own.step == step.step; };
      if (options_.every == 1 || std::any_of(saved_[tensor].begin(), saved_[tensor].end(), is_it)) {
        chosen.push_back(step);
      }
    }
    for (std::size_t m = 0; m < options_.modes.size(); ++m) {
      const OwnSteps own = own_steps(tensor, options_.modes[m]);
      if (own.numbers.empty()) {
        continue;
      }
      const StepChoice choice = from_end_.choose(own.numbers);
      for (const std::size_t index : choice.indices) {
        chosen.push_back(own.steps[index]);
      }
      for (const StepTerm* term : choice.missing) {
        const auto place = static_cast<std::size_t>(term - from_end_.terms().data());
        lacking[m * from_end_.terms().size() + place].push_back(tensors_[tensor]);
      }
    }
    const auto by_step = [](const SelectedStep& a, const SelectedStep& b) { return a.step < b.step; };
    std::sort(chosen.begin(), chosen.end(), by_step);
    chosen.erase(std::unique(chosen.begin(), chosen.end(), same_step), chosen.end());
    std::vector<SelectedStep> kept;
    for (std::size_t i = 0; i < chosen.size(); i += static_cast<std::size_t>(options_.every)) {
      kept.push_back(chosen[i]);
    }
    return kept;
  }

  // Once for each mode: notes what was saved after the newest of the tensors' last steps.
  void say_counted_anew() {
    if (!asks_for_last(from_end_)) {
      return;
    }
    std::vector<GlobalStep> saved;
    for (const std::vector<SelectedStep>& steps : saved_) {
      std::transform(steps.begin(), steps.end(), std::back_inserter(saved), [](const auto& step) { return step.step; });
    }
    std::sort(saved.begin(), saved.end());
    for (const Mode mode : options_.modes) {
      std::optional<GlobalStep> last;
      for (std::size_t t = 0; mode != Mode::global && t < tensors_.size(); ++t) {
        const OwnSteps own = own_steps(t, mode);
        last = own.steps.empty() ? last : std::max(last, std::optional(own.steps.back().step));
      }
      if (last) {
        note_saved_since(trial_, mode, *last, saved, *messages_);
      }
    }
  }

  void say_lacking(const std::vector<std::vector<std::string>>& lacking) {
    for (std::size_t i = 0; i < lacking.size(); ++i) {
      if (lacking[i].empty()) {
        continue;
      }
      const Mode mode = options_.modes[i / from_end_.terms().size()];
      std::string text = "there is no ";
      if (mode != Mode::global) {
        text += mode_text(mode);
        text += ' ';
      }
      text += "step ";
      text += from_end_.terms()[i % from_end_.terms().size()].text;
      text += " of ";
      text += quoted_list(lacking[i], 3);
      text += lacking[i].size() == 1 ? ": it was saved at " + counted(steps_of(lacking[i].front(), mode), "step")
                                     : ": they were saved at fewer steps";
      messages_->fail("StepUnavailable", text, ExitStatus::no);
    }
  }

  [[nodiscard]] std::size_t steps_of(const std::string& tensor, Mode mode) const {
    const auto place = std::lower_bound(tensors_.begin(), tensors_.end(), tensor);
    return own_steps(static_cast<std::size_t>(place - tensors_.begin()), mode).numbers.size();
  }

  Trial& trial_;
  const SelectionOptions& options_;
  std::span<const std::string> tensors_;
  const EntryFilter& counts_;
  Diagnostics* messages_;  // null: nothing is reported, and only terms that count from an end are used
  StepSpec from_end_;
  std::optional<StepSpec> numbered_;
  std::vector<SelectedStep> shared_;
  std::vector<std::vector<SelectedStep>> saved_;  // by tensor, ascending
};

}  // namespace

bool TensorSteps::wants(std::string_view tensor, GlobalStep step) const {
  if (own.empty()) {
    return true;
  }
  const auto found = own.find(tensor);
  return found != own.end() && std::binary_search(found->second.begin(), found->second.end(), step);
}

void TensorSteps::add(const std::string& tensor, std::span<const SelectedStep> chosen) {
  std::vector<GlobalStep>& of_tensor = own[tensor];
  for (const SelectedStep& step : chosen) {
    of_tensor.push_back(step.step);
  }
  steps.insert(steps.end(), chosen.begin(), chosen.end());
}

void TensorSteps::sort() {
  std::sort(steps.begin(), steps.end(), [](const SelectedStep& a, const SelectedStep& b) { return a.step < b.step; });
  steps.erase(std::unique(steps.begin(), steps.end(), same_step), steps.end());
}

bool counts_from_end(const StepTerm& term) noexcept {
  return term.single ? term.oldest || term.number < 0 : term.start.value_or(0) < 0 || term.stop.value_or(0) < 0;
}

bool counts_from_end(const StepSpec& spec) noexcept {
  return std::any_of(spec.terms().begin(), spec.terms().end(),
                     [](const StepTerm& term) { return counts_from_end(term); });
}

TensorSteps own_steps_from_end(Trial& trial, const SelectionOptions& options, const StepSpec& spec,
                               std::span<const std::string> tensors, const EntryFilter& counts) {
  return TensorStepSelector(trial, options, spec, tensors, counts, nullptr).select();
}

StepRange range_to_read_of_tensors(const SelectionOptions& options, const StepSpec& spec) {
  return counts_from_end(spec) && !only_names(options) ? StepRange() : range_to_read(spec, options.modes);
}

TensorSteps select_steps_of_tensors(Trial& trial, const SelectionOptions& options, const StepSpec& fallback,
                                    std::span<const std::string> tensors, const EntryFilter& counts,
                                    Diagnostics& messages) {
  return TensorStepSelector(trial, options, options.steps.value_or(fallback), tensors, counts, &messages).select();
}

}  // namespace smd::tool
