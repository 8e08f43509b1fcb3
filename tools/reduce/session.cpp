// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "cli/text.hpp"
#include "select/explanations.hpp"
#include "select/trial_times.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace smd::tool::reduce {

namespace {

bool counts(const TensorEntry& entry) { return entry.value || !entry.reductions.empty(); }

constexpr std::size_t piece_rows = 512;         // if there are many: what is known of them stays in the caches
constexpr std::size_t most_statistics = 8192;   // of a piece: they are held until it is shown
constexpr std::size_t enough_pieces = 64;       // to keep threads busy to the end
constexpr std::size_t enough_requests = 512;    // the same for those to a remote store
constexpr std::uint64_t piece_bytes = 1 << 20;  // less is not worth another thread

// On a remote store each file costs a round trip, and one request has all that is read together of a file: then a piece
// is of one file, or of few if there are very many.
class FileCuts {
 public:
  explicit FileCuts(const Session& session) {
    if (!is_remote_path(session.trial.path())) {
      return;
    }
    std::optional<GlobalStep> last;
    session.for_each_entry([&](const TensorEntry& entry) {
      if (last != entry.step && entry.value) {
        last = entry.step;
        if (files_.empty() || *files_.back().second != *entry.value->file) {
          files_.emplace_back(entry.step, entry.value->file);
        }
      }
    });
    each_ = std::max<std::size_t>(files_.size() / enough_requests, 1);
  }

  // Whether a piece ends before this step.
  bool before(GlobalStep step) {
    while (next_ < files_.size() && files_[next_].first < step) {
      ++next_;
    }
    return next_ < files_.size() && files_[next_].first == step && next_ % each_ == 0;
  }

 private:
  std::vector<std::pair<GlobalStep, std::shared_ptr<const std::string>>> files_;  // where another one begins
  std::size_t each_ = 1;
  std::size_t next_ = 0;
};

}  // namespace

SelectionNeeds selection_needs(const ReduceCommandOptions& options) {
  if (options.view == ReduceViewKind::hist && !options.slice) {
    return {.counts = [](const TensorEntry& entry) { return entry.value || saved_buckets(entry) != nullptr; }};
  }
  const bool values_only = options.view == ReduceViewKind::hist || options.slice || options.by.row ||
                           options.source == SourceChoice::computed;
  return {.counts = [values_only](const TensorEntry& entry) {
    return values_only ? entry.value.has_value() : counts(entry);
  }};
}

bool Session::shows(std::string_view tensor, GlobalStep step, std::string_view worker) const {
  if (shown && !(shown->has(step) && (tensor.empty() || shown->wants(tensor, step)))) {
    return false;
  }
  const SelectedStep at = {.step = step, .mode_step = {}};
  return !workers || workers->size() == 1 ||
         any_entry(trial, entry_query(options.selection, {std::string(tensor)}, {&at, 1}),
                   [&](const TensorEntry& entry) { return entry.worker == worker; });
}

void Session::for_each_entry(const Piece& piece, const std::function<void(const TensorEntry&)>& visit) const {
  EntryQuery query = entry_query(options.selection, {piece.tensors.begin(), piece.tensors.end()}, piece.steps);
  query.arrivals = selection.arrivals;
  if (workers) {
    query.workers = *workers;
    query.first_worker_only = false;
  }
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    if (counts(entry) && selection.steps.wants(entry.tensor, entry.step)) {
      visit(entry);
    }
    return true;
  });
}

void Session::for_each_entry(const std::function<void(const TensorEntry&)>& visit) const {
  if (!selection.empty()) {
    for_each_entry(whole(), visit);
  }
}

SavedForms Session::forms() const {
  SavedForms forms;
  if (!selection.empty()) {
    trial.for_each_entry(entry_query(options.selection, selection), [&](const TensorEntry& entry) {
      if (selection.steps.wants(entry.tensor, entry.step)) {
        forms.add(entry);
      }
      return !forms.value;
    });
  }
  return forms;
}

void say_nothing_found(std::string_view name, const SavedForms& forms, const ReduceCommandOptions& options,
                       Trial* trial, Diagnostics& messages) {
  const bool reductions = !forms.reductions.empty();
  if (messages.status() != ExitStatus::yes || forms.value || (!reductions && !forms.shape)) {
    say_nothing_selected(trial, options.selection, messages);
    return;
  }
  const std::string_view what = reductions && options.asks_for_saved()
                                    ? ": only empty histograms were saved of what is selected, which have no statistics"
                                : reductions ? ": no values, only reductions, were saved of what is selected; "
                                               "smd-reduce -r saved prints them"
                                             : ": no values or reductions, only shapes, were saved of what is "
                                               "selected; smd-ls -l prints them";
  messages.fail("TensorUnavailableForStep", std::string(name) + std::string(what), ExitStatus::no);
}

Session open_session(Trial& trial, const std::string& name, const ReduceCommandOptions& options,
                     Diagnostics& messages) {
  Session session{trial, name, options, select(trial, options.selection, selection_needs(options), messages),
                  options.reading.jobs};
  note_superseded(trial, options.selection, {}, options.reading, messages);
  note_incomplete(trial, session.selection, options.selection, {}, messages);
  if (options.output.names("elapsed")) {
    session.started = first_time(trial, messages);
  }
  if (options.smooth && !session.selection.empty()) {
    if (options.smooths_first_workers()) {
      std::set<std::string, std::less<>> shown;
      session.for_each_entry([&shown](const TensorEntry& entry) { shown.emplace(entry.worker); });
      session.workers.emplace(shown.begin(), shown.end());
    }
    SelectionOptions all = options.selection;
    all.steps.reset();
    all.every = 1;
    session.shown = std::exchange(session.selection.steps, {select_steps(trial, all, {}, messages), {}});
  }
  std::vector<SelectedStep>& steps = session.selection.steps.steps;
  if (options.shard && !steps.empty()) {
    session.sharded = {steps.size(), steps.front().step.value, steps.back().step.value};
    const auto [begin, end] = options.shard->range(steps.size());
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(end), steps.end());
    steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  return session;
}

StepRange range_to_open(const ReduceCommandOptions& options) {
  return options.selection.steps && !options.needs_whole_series()
             ? range_to_read_of_tensors(options.selection, *options.selection.steps)
             : StepRange();
}

std::vector<Piece> pieces_of(const Session& session, std::size_t statistics, std::optional<std::size_t> room,
                             bool whole_steps) {
  std::vector<Piece> pieces;
  if (session.selection.empty()) {
    return pieces;
  }
  const std::size_t most_rows = std::clamp<std::size_t>(room.value_or(piece_rows), 1, piece_rows);
  const auto [steps, tensors] = session.whole();
  const std::size_t workers =
      session.options.selection.all_workers ? std::min(session.trial.num_workers(), most_rows) : 1;
  const std::size_t step_rows = tensors.size() * workers;
  const std::size_t steps_each = std::clamp<std::size_t>(most_rows / std::max<std::size_t>(step_rows, 1), 1,
                                                         std::max<std::size_t>(steps.size() / enough_pieces, 1));
  std::size_t parts = std::max(step_rows * statistics / most_statistics, room ? step_rows / most_rows : 0) + 1;
  if (steps.size() < enough_pieces) {
    const std::optional<StepInfo> first = session.trial.step_info(steps.front().step);
    parts = std::max<std::size_t>(
        parts, std::min<std::uint64_t>(enough_pieces / steps.size(), (first ? first->bytes : 0) / piece_bytes));
  }
  parts = whole_steps ? 1 : std::min(parts, tensors.size());
  FileCuts cuts(session);
  for (std::size_t at = 0; at < steps.size();) {
    std::size_t end = at + 1;
    while (end < steps.size() && end - at < steps_each && !cuts.before(steps[end].step)) {
      ++end;
    }
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t begin = tensors.size() * part / parts;
      pieces.push_back(
          {steps.subspan(at, end - at), tensors.subspan(begin, tensors.size() * (part + 1) / parts - begin)});
    }
    at = end;
  }
  return pieces;
}

Said about_problem(const Problem& problem, std::string_view tensor, GlobalStep step, const Session& session) {
  return [problem, tensor, step, &session](Diagnostics& messages) {
    messages.report_record(problem, session.trial.path(),
                           single_quoted(tensor) + " at step " + std::to_string(step.value));
  };
}

Said about_damage(std::string_view tensor, GlobalStep step, const std::string& what) {
  return [text = single_quoted(tensor) + " step " + std::to_string(step.value) + what](Diagnostics& messages) {
    messages.fail("Damaged", text, ExitStatus::damaged);
  };
}

Said about_slice(std::string_view tensor, const std::string& why) {
  return [text = "--slice: " + single_quoted(tensor) + ": " + why](Diagnostics& messages) {
    messages.fail("Usage", text, ExitStatus::usage);
  };
}

}  // namespace smd::tool::reduce
