// SPDX-License-Identifier: Apache-2.0
#include "value_view.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "follow/followed_trials.hpp"
#include "follow/following.hpp"
#include "operands/operands.hpp"
#include "rows/cell.hpp"
#include "rows/curves.hpp"
#include "select/explanations.hpp"
#include "select/saved_forms.hpp"
#include "select/select.hpp"
#include "select/slice.hpp"
#include "select/trial_times.hpp"

#include <smd/snapshot.hpp>

#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace smd::tool::tensor {

namespace {

constexpr std::size_t batch_size = 16384;
// Values up to this size are read whole and checked before the first byte is written.
constexpr std::uint64_t checked_bytes = std::uint64_t{16} << 20;

// Whether the trial holds the value itself, so that there is nothing to read: a single number of a log.
bool is_held(const Place& place) {
  return place.form() == ValueForm::number &&
         (place.type->dtype == Dtype::float32 || place.type->dtype == Dtype::float64);
}

bool is_single(const TensorValue& value) { return is_real(value.dtype()) && value.view().size() == 1; }

/// What the view shows of an entry: its value; with --hist, if it has none, its saved buckets. Null if nothing.
const Place* shown_of(const TensorOptions& options, const TensorEntry& entry) noexcept {
  if (entry.value) {
    return &*entry.value;
  }
  const SavedReduction* const buckets = options.view == TensorViewKind::hist ? saved_buckets(entry) : nullptr;
  return buckets != nullptr ? &buckets->place : nullptr;
}

/// The default of `--step`: `last`, but all for `--spark`, `--pivot` and for the curves of `-f svg`.
StepSpec default_steps(const TensorOptions& options) {
  const bool curves = options.view == TensorViewKind::spark || options.view == TensorViewKind::pivot ||
                      (options.svg() && options.view == TensorViewKind::values);
  return curves ? StepSpec() : StepSpec::parse("last");
}

/// `first`, `last` and negative numbers count the steps at which a tensor has what is shown of it. Borrows `options`.
SelectionNeeds selection_needs(const TensorOptions& options) {
  return {.fallback = default_steps(options),
          .counts = [&options](const TensorEntry& entry) { return shown_of(options, entry) != nullptr; },
          .own_steps_of_names = true};
}

/// What is selected of a trial, and what was found of it.
struct ValueSelection : Selection {
  /// Of `named`: the steps at which there is a value.
  std::map<std::string, std::vector<GlobalStep>, std::less<>> found = {};
  /// Selected by patterns, but saved without values.
  std::map<std::string, SavedForms, std::less<>> without_values = {};
};

/// The smoothed series of a trial's scalars: each over all of its steps, also those that are not selected.
class Smoothing {
 public:
  explicit Smoothing(const TensorOptions& options) : options_(options) {}

  /// Reads what came to the series since the last call. `key`: of a single number. Nullopt if its step is not complete.
  [[nodiscard]] std::optional<double> at(const Trial& trial, const ValueKey& key) {
    SmoothedSeries& series = series_[{key.mode, std::string(key.tensor), std::string(key.worker)}];
    series.weight = *options_.smooth;
    if (series.find(key.step.value) == nullptr) {
      read(trial, key, series);
    }
    const SmoothedSeries::Point* const found = series.find(key.step.value);
    return found == nullptr ? std::nullopt : std::optional(found->mean);
  }

  /// Called before a followed step: begins anew if the trial's past has changed since the last call.
  void refresh(const Trial& trial) {
    if (past_.changed(trial)) {
      series_.clear();
    }
  }

 private:
  void read(const Trial& trial, const ValueKey& key, SmoothedSeries& series) const {
    EntryQuery query = {.tensors = {std::string(key.tensor)}, .workers = {std::string(key.worker)}};
    if (!series.points.empty()) {
      const GlobalStep last(series.points.back().step);
      query.steps =
          key.step < last ? std::vector{key.step} : mapped(TrialSnapshot::last(trial).steps(last), &SnapshotStep::step);
    }
    std::vector<WantedValue> wanted;
    std::vector<std::int64_t> steps;
    const auto put = [&series](std::int64_t step, const TensorView& value) {
      series.put(step, Elements(value).number(0));
    };
    trial.for_each_entry(query, [&](const TensorEntry& entry) {
      if (!entry.value || entry.mode != key.mode) {
        return true;
      }
      if (is_held(*entry.value) && !options_.slice) {
        const Place& place = *entry.value;
        put(entry.step.value, {place.type->dtype, {}, std::as_bytes(std::span(&place.number, 1))});
      } else {
        wanted.push_back({*entry.value, query.tensors.front()});
        steps.push_back(entry.step.value);
      }
      return true;
    });
    trial.read(
        wanted,
        [&](std::size_t i, ReadResult&& result) {
          if (result.value && is_single(*result.value)) {
            put(steps[i], result.value->view());
          }
          return true;
        },
        {.jobs = options_.reading.jobs},
        [this](std::size_t /*i*/, Extent& value) { return !options_.slice || narrow(value, *options_.slice).empty(); });
  }

  const TensorOptions& options_;
  std::map<std::tuple<Mode, std::string, std::string>, SmoothedSeries> series_;  // by mode, tensor, worker
  KnownPast past_;
};

/// What rows show beside the selected values that depends on earlier ones.
struct Earlier {
  Smoothing smoothing;
  StartTime start = {};
};

/// Reads the values that are selected of a trial, and passes them to the view in the documented order.
class SelectedValues {
 public:
  /// `earlier`: null if the values are only announced.
  SelectedValues(const Trial& trial, const TensorOptions& options, ValueSelection& selection, ValueView& view,
                 Diagnostics& messages, Earlier* earlier = nullptr)
      : trial_(trial),
        options_(options),
        selection_(selection),
        view_(view),
        messages_(messages),
        smoothing_(earlier == nullptr ? nullptr : &earlier->smoothing),
        progress_("reading values", [this] {
          std::uint64_t count = 0;
          for_each_value([&count](const TensorEntry&) { ++count; });
          return count;
        }) {
    if (earlier != nullptr && options.output.names("elapsed")) {
      started_ = earlier->start.of(trial, messages);
    }
  }

  void announce() {
    for_each_value([&](const TensorEntry& entry) { view_.announce(key_of(entry)); });
  }

  // Whether any value was shown.
  bool run() {
    if (takes_all_of_one() && view_.show_held(trial_, selection_.tensors.front(), options_.reading.jobs, progress_)) {
      return found_ = shown_ = true;
    }
    for_each_value([&](const TensorEntry& entry) {
      found_ = true;
      if (!selection_.every_step && is_named(entry.tensor)) {
        std::vector<GlobalStep>& found = selection_.found[std::string(entry.tensor)];
        if (found.empty() || found.back() != entry.step) {
          found.push_back(entry.step);
        }
      }
      take(entry);
    });
    read_batch();
    if (refused_ && !shown_) {
      messages_.raise(ExitStatus::no);
    }
    return shown_;
  }

  [[nodiscard]] bool found() const noexcept { return found_; }

 private:
  /// Whether all values of one tensor, of all workers, are wanted.
  [[nodiscard]] bool takes_all_of_one() const noexcept {
    return selection_.every_step && selection_.tensors.size() == 1 && !options_.selection.worker && !options_.slice;
  }

  [[nodiscard]] ValueKey key_of(const TensorEntry& entry) const {
    ValueKey key{entry.tensor, entry.worker, entry.step, entry.mode, entry.mode_step, place_of(entry)};
    key.superseded = entry.superseded;
    key.buckets = !entry.value;
    if (options_.several_trials) {
      key.trial = trial_.name();
    }
    return key;
  }

  /// Sets when a value was written.
  void set_time(ValueKey& key, double wall_time) const {
    key.wall_time = wall_time;
    key.elapsed = wall_time - started_;
  }

  template <class Visit>
  void for_each_value(Visit&& visit) {
    // Steps chosen from several modes hold whatever each mode saved, so the mode itself no longer matters.
    trial_.for_each_entry(entry_query(options_.selection, selection_), [&](const TensorEntry& entry) {
      if (!selection_.every_step && !selection_.steps.wants(entry.tensor, entry.step)) {
        return true;
      }
      if (shown_of(options_, entry) != nullptr) {
        visit(entry);
      } else if (!is_named(entry.tensor)) {
        selection_.without_values[std::string(entry.tensor)].add(entry);
      }
      return true;
    });
  }

  [[nodiscard]] bool is_named(std::string_view tensor) const {
    return std::ranges::binary_search(selection_.named, tensor);
  }

  void smooth(ValueKey& key) {
    if (options_.smooth) {
      key.smooth = smoothing_->at(trial_, key);
    }
  }

  void take(const TensorEntry& entry) {
    const Place& place = *shown_of(options_, entry);
    if (is_held(place) && !options_.slice) {
      read_batch();
      ValueKey key = key_of(entry);
      set_time(key, place.wall_time);
      smooth(key);
      view_.show_number(key, place);
      shown_ = true;
      progress_.advance();
      return;
    }
    if (view_.streams() && entry.value && !options_.slice && place.length > checked_bytes) {
      read_batch();
      stream(place, key_of(entry));
      return;
    }
    keys_.push_back(key_of(entry));
    values_.push_back({place, entry.value ? entry.tensor
                                          : std::string_view(names_.emplace_back(
                                                reduction_tensor_name(buckets_name, entry.tensor)))});
    if (keys_.size() >= batch_size) {
      read_batch();
    }
  }

  // Shows a value that is too large to be held.
  void stream(const Place& place, const ValueKey& key) {
    ValueReader reader(trial_, {.stop = [this] {
                         progress_.advance(0);  // it may take long
                         return false;
                       }});
    if (Extent* const value = reader.open(place, key.tensor)) {
      if (value->dtype() != Dtype::string) {
        view_.show_blocks(*value);
      } else if (const std::optional<TensorValue> whole = value->value()) {
        view_.show(key, *whole);
      }
    }
    if (reader.problem()) {
      say(*reader.problem(), key);
    } else {
      shown_ = true;
    }
    progress_.advance();
  }

  void say(const Problem& problem, const ValueKey& key) {
    messages_.report_record(problem, trial_.path(), value_name(key));
    refused_ = refused_ || problem.kind == ProblemKind::warning;
  }

  void read_batch() {
    if (values_.empty()) {
      return;
    }
    std::vector<std::string> misfits(options_.slice ? values_.size() : 0);
    const auto narrow_to_slice = [&](std::size_t i, Extent& value) {
      misfits[i] = keys_[i].buckets ? "only the histogram of the whole was saved" : narrow(value, *options_.slice);
      return misfits[i].empty();
    };
    trial_.read(
        values_,
        [&](std::size_t i, ReadResult&& result) {
          progress_.advance();
          set_time(keys_[i], result.wall_time);
          if (result.value) {
            if (is_single(*result.value)) {
              smooth(keys_[i]);
            }
            view_.show(keys_[i], *result.value);
            shown_ = true;
          } else if (result.problem) {
            say(*result.problem, keys_[i]);
          } else {
            messages_.fail("Usage", "--slice: " + single_quoted(keys_[i].tensor) + ": " + misfits[i],
                           ExitStatus::usage);
          }
          return true;
        },
        {.jobs = options_.reading.jobs},
        options_.slice ? narrow_to_slice : std::function<bool(std::size_t, Extent&)>());
    keys_.clear();
    values_.clear();
    names_.clear();
  }

  const Trial& trial_;
  const TensorOptions& options_;
  ValueSelection& selection_;
  ValueView& view_;
  Diagnostics& messages_;
  double started_ = 0;  // when the trial's first value was written
  Smoothing* smoothing_;
  Progress progress_;
  std::vector<ValueKey> keys_;
  std::vector<WantedValue> values_;
  std::deque<std::string> names_;  // of buckets among them
  bool found_ = false;
  bool shown_ = false;
  bool refused_ = false;  // some value is sound, and of a type that is not read
};

// `trial` may be null. Tensors chosen by patterns, not by name, may turn out to have no values.
void report_nothing(Trial* trial, const TensorOptions& options, const ValueSelection& selection, bool found,
                    Diagnostics& messages) {
  const auto say = [&](const auto& wanted, const std::string& form, const std::string& command) {
    auto chosen = selection.without_values;
    std::erase_if(chosen, [&](const auto& one) { return !wanted(one.second); });
    if (chosen.empty()) {
      return;
    }
    const std::string text = "no values, only " + form + ", were saved of " + quoted_list(keys_of(chosen), 3) + "; " +
                             command + " prints them";
    if (found) {
      messages.note(text);
    } else {
      messages.fail("TensorUnavailableForStep", text, ExitStatus::no);
    }
  };
  say([](const SavedForms& forms) { return !forms.reductions.empty() && !forms.only_buckets(); }, "reductions",
      "smd-reduce -r saved");
  say([](const SavedForms& forms) { return forms.only_buckets(); }, "empty histograms", "--hist");
  say([](const SavedForms& forms) { return forms.reductions.empty(); }, "shapes", "smd-ls -l");
  if (!found && selection.without_values.empty()) {
    say_nothing_selected(trial, options.selection, messages);
  }
}

/// Whether a step was asked for by its number alone.
bool asked_singly(const Trial& trial, const SelectionOptions& options, GlobalStep step) {
  return std::ranges::any_of(options.steps.value_or(StepSpec()).terms(), [&](const StepTerm& term) {
    return term.single && !term.oldest &&
           std::ranges::any_of(options.modes, [&](Mode mode) { return number_in(trial, mode, step) == term.number; });
  });
}

/// Reports what of the named tensors was not found, and why. Call it after all entries were seen.
void report_missing(const Trial& trial, const SelectionOptions& options, ValueSelection& selection,
                    Diagnostics& messages) {
  for (const std::string& name : selection.named) {
    std::vector<GlobalStep>& found = selection.found[name];
    std::ranges::sort(found);
    const std::vector<GlobalStep>& wanted = selection.steps.own[name];
    std::vector<GlobalStep> missing;
    std::set_difference(wanted.begin(), wanted.end(), found.begin(), found.end(), std::back_inserter(missing));
    if (found.empty()) {
      missing.resize(std::min<std::size_t>(missing.size(), 1));  // once for all of them
    } else {
      std::erase_if(missing, [&](GlobalStep step) { return !asked_singly(trial, options, step); });
    }
    for (const GlobalStep step : missing) {
      say_no_value(trial, options, name, step, messages);
    }
  }
}

/// Resolves names, patterns and steps. Reports what is missing, with status 1.
ValueSelection select_values(Trial& trial, const TensorOptions& options, Diagnostics& messages) {
  const SelectionNeeds needs = selection_needs(options);
  ValueSelection result{select(trial, options.selection, needs, messages)};
  if (counts_from_end(options.selection.steps.value_or(needs.fallback))) {
    for (const std::string& name : result.tensors) {
      if (!result.steps.own.contains(name) && !has_candidates(trial, options.selection, name, needs.counts)) {
        result.without_values.emplace(name, forms_of(trial, name));
      }
    }
  }
  return result;
}

/// Shows the values of one trial after the other. If the view must know all of them beforehand, the trials stay open
/// until the last one has been seen.
class ShownTrials {
 public:
  ShownTrials(const TensorOptions& options, const std::vector<std::string>& trials, OutputFile& out,
              Diagnostics& messages)
      : options_(options), trials_(trials), out_(out), messages_(messages) {}

  /// Whether the output holds what was asked for, or the part of it that could be read.
  bool run() {
    const StepSpec spec = options_.selection.steps.value_or(default_steps(options_));
    const StepRange read_first =  // more is read if needed
        options_.needs_whole_series() ? StepRange() : range_to_read_of_tensors(options_.selection, spec);
    KeptTrials kept(options_.reading.trial_options(read_first), messages_);
    for (const std::string& trial : trials_) {
      kept.open(trial, [this](Trial& trial) { return visit(trial); });
    }
    for (Opened& opened : opened_) {
      if (!opened.selection.empty()) {
        SelectedValues(opened.trial, options_, opened.selection, *view_, messages_).announce();
      }
    }
    for (Opened& opened : opened_) {
      const AboutTrial about(opened.trial.name());
      try {
        show(opened);
      } catch (const Error& error) {
        messages_.fail(error, opened.trial.name());
      }
    }
    const bool whole = view_ && (shown_ || !options_.binary());
    if (whole) {
      view_->finish();
    }
    kept.close();
    return whole;
  }

  /// --follow: the same of values as steps complete, until the jobs end.
  bool follow() {
    ValueSelection selection;
    std::map<std::size_t, Earlier> earlier;  // by operand
    bool found = false;
    const FollowSetup setup{.following = options_.following,
                            .selection = options_.selection,
                            .reading = options_.reading,
                            .needs = selection_needs(options_),
                            .whole_steps = options_.view == TensorViewKind::pivot,
                            .listed = options_.operands.front() == "-",
                            .opened = [this](Trial& trial) {
                              if (options_.needs_whole_series()) {
                                trial.load_range(StepRange());
                              }
                              open_view();
                            }};
    const bool visited =
        follow_trials(trials_, setup, messages_, [&](std::size_t operand, Trial& trial, Selection&& at_step) {
          view_->set_trial(trials_[operand]);
          static_cast<Selection&>(selection) = std::move(at_step);
          if (!selection.empty()) {
            Earlier& of_trial = earlier.try_emplace(operand, Earlier{.smoothing = Smoothing(options_)}).first->second;
            of_trial.smoothing.refresh(trial);
            SelectedValues reader(trial, options_, selection, *view_, messages_, &of_trial);
            shown_ = reader.run() || shown_;
            found = reader.found() || found;
          }
          if (view_->lays_out()) {
            for (std::size_t i = 0; i < trials_.size(); ++i) {
              expect(trials_[i], i == operand ? &trial : nullptr);
            }
          }
          view_->end_step();
        });
    if (!view_) {
      return false;
    }
    view_->finish();
    if (visited && !found && messages_.status() == ExitStatus::yes) {
      report_nothing(nullptr, options_, selection, false, messages_);
    }
    return shown_ || !options_.binary();
  }

 private:
  struct Opened {
    Trial& trial;
    ValueSelection selection;
    bool explained = false;  ///< It was said why there is nothing.
  };

  void open_view() {
    if (!view_) {
      view_ = make_view({out_, options_, messages_, options_.several_trials});
    }
  }

  /// Before the first row of --pivot: adds columns of a followed trial, of each selected tensor whose first value is a
  /// single number, and of each named one without a value. `trial`: null if it was not opened here.
  void expect(const std::string& name, const Trial* trial) {
    std::optional<Trial> opened;
    std::vector<std::string> tensors;
    std::set<std::string, std::less<>> seen;
    try {
      trial = trial != nullptr ? trial : &opened.emplace(Trial::open(name, options_.reading.trial_options({})));
      tensors = tensors_at(*trial, options_.selection, {});
    } catch (const Error&) {  // following it waits for it, or says what is wrong
    }
    if (!tensors.empty()) {
      ValueReader reader(*trial);
      trial->for_each_entry({.tensors = tensors}, [&](const TensorEntry& entry) {
        if (entry.value && seen.emplace(entry.tensor).second) {
          Extent* const value = reader.open(*entry.value, entry.tensor);
          if (value != nullptr && is_real(value->dtype()) &&
              (!options_.slice || narrow(*value, *options_.slice).empty()) && value->size() == 1) {
            view_->expect(name, entry.tensor);
          }
        }
        return true;
      });
    }
    for (const std::string& tensor : options_.selection.names) {
      if (!seen.contains(tensor)) {
        view_->expect(name, tensor);
      }
    }
  }

  /// Returns whether the trial stays open.
  bool visit(Trial& trial) {
    open_view();
    Opened opened{trial, {}, false};
    apart([&] {
      opened.selection = select_values(trial, options_, messages_);
      note_superseded(trial, options_.selection, default_steps(options_), options_.reading, messages_);
      note_incomplete(trial, opened.selection, options_.selection, default_steps(options_), messages_);
      opened.explained = opened.selection.empty() && messages_.status() != ExitStatus::yes;
    });
    if (!view_->plans()) {
      show(opened);
      return false;
    }
    opened_.push_back(std::move(opened));
    return true;
  }

  void show(Opened& opened) {
    if (opened.explained) {
      return;
    }
    view_->set_trial(opened.trial.name());
    apart([&] {
      bool found = false;
      if (!opened.selection.empty()) {
        Earlier earlier{.smoothing = Smoothing(options_)};
        SelectedValues reader(opened.trial, options_, opened.selection, *view_, messages_, &earlier);
        shown_ = reader.run() || shown_;
        found = reader.found();
        report_missing(opened.trial, options_.selection, opened.selection, messages_);
      }
      report_nothing(&opened.trial, options_, opened.selection, found, messages_);
    });
    view_->end_trial();
  }

  /// Whether something is still to be explained of a trial depends on what was said of it, not of others.
  void apart(const std::function<void()>& work) {
    if (!options_.several_trials) {
      work();
      return;
    }
    HeldMessages held(messages_);
    work();
    held.release();
    held.say();
  }

  const TensorOptions& options_;
  const std::vector<std::string>& trials_;
  OutputFile& out_;
  Diagnostics& messages_;
  std::unique_ptr<ValueView> view_;  // made when a trial is open: nothing is printed without any
  std::deque<Opened> opened_;
  bool shown_ = false;
};

}  // namespace

ExitStatus run(TensorOptions& options, Diagnostics& messages) {
  const std::vector<std::string> trials = options.take_names(messages);
  // If standard input was to list names and lists none, nothing is selected, not everything.
  if (options.operands.size() > 1 && lists_operands(options.operands) && !options.selection.selects_tensors()) {
    say_nothing_listed(messages);
    return ExitStatus::no;
  }
  messages.name_trials(options.several_trials);
  PictureOutput picture(options.folder ? OutputFile::discard() : options.output.open(options.binary()), options.output);
  // A file appears if it holds what was asked for, or the part of it that could be read.
  ShownTrials shown(options, trials, picture.to(), messages);
  if (options.following.follow ? shown.follow() : shown.run()) {
    picture.close(messages);
  }
  return ExitStatus::yes;
}

}  // namespace smd::tool::tensor
