// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "columns.hpp"
#include "follow/followed_trials.hpp"
#include "hist.hpp"
#include "operands/operands.hpp"
#include "partial.hpp"
#include "result_view.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <set>
#include <utility>

namespace smd::tool::reduce {

namespace {

/// Reduces trials, and shows the results.
class Run {
 public:
  Run(OutputFile& out, const ReduceCommandOptions& options, bool several, Diagnostics& messages)
      : options_(options), messages_(messages), several_(several), context_{out,        options,
                                                                            messages,   wanted_,
                                                                            options.by, several && !options.across} {}

  void reduce(OperandSource& operands) {
    const bool looks_ahead =
        options_.view == ReduceViewKind::hist ? !options_.bins.low : options_.asks_for_saved() || options_.across;
    if (looks_ahead) {
      reduce_together(operands);
    } else {
      start();
      const VisitPlan plan = {
          .doing = "reducing trials", .jobs = options_.reading.jobs, .one_at_a_time = !takes_turns()};
      visit_in_turn(operands, plan, messages_, [this](const Visit& visit) { return reduce_one(visit); });
      finish();
    }
    if (makes_part()) {
      const auto lines = static_cast<std::size_t>(std::ranges::count(without_rows_, '\n'));
      context_.out.write(last_line(*options_.shard, lines + (view_ ? view_->rows() : 0), messages_.status()));
    }
  }

  void follow(const std::vector<std::string>& trials, PictureOutput& picture) {
    start();
    const FollowSetup setup{.following = options_.following,
                            .selection = options_.selection,
                            .reading = options_.reading,
                            .needs = selection_needs(options_),
                            .whole_steps = !options_.by.tensor || !options_.by.worker,
                            .listed = lists_operands(options_.operands),
                            .opened = [this](Trial& trial) {
                              if (options_.needs_whole_series()) {
                                trial.load_range(StepRange());
                              }
                            }};
    ReduceOutcome outcome = ReduceOutcome::nothing;
    SavedForms forms;
    std::vector<StartTime> starts(trials.size());
    const bool visited =
        follow_trials(trials, setup, messages_, [&](std::size_t operand, Trial& trial, Selection&& selection) {
          Session session{trial, trials[operand], options_, std::move(selection), options_.reading.jobs};
          session.workers = options_.smooths_first_workers() ? std::optional(std::vector<std::string>()) : std::nullopt;
          if (options_.output.names("elapsed")) {
            session.started = starts[operand].of(trial, messages_);
          }
          view_->follow(trial);
          outcome = std::max(outcome, show(std::array{&session}, view_.get()));
          forms = outcome != ReduceOutcome::nothing ? forms : session.forms();
          view_->end_step();
        });
    finish();
    picture.close(messages_);
    if (visited && outcome == ReduceOutcome::nothing) {
      say_nothing_found(trials.front(), forms, options_, nullptr, messages_);
    } else if (outcome == ReduceOutcome::no_row) {
      messages_.raise(ExitStatus::no);
    }
  }

 private:
  using Sessions = std::span<const Session* const>;

  /// Whether what is printed is a shard that --merge takes.
  [[nodiscard]] bool makes_part() const { return options_.shard && options_.output.format == "jsonl"; }

  void start() {
    if (options_.view == ReduceViewKind::hist) {
      hist_.emplace(context_.out, options_, bounds_, several_, messages_);
      return;
    }
    wanted_ = wanted_reductions(options_.reductions, options_.abs, saved_);
    if (options_.view == ReduceViewKind::rows) {
      leave_out_row_columns();
    }
    if (!wanted_.empty()) {
      view_ = make_result_view(context_);
    }
  }

  // A job may save a reduction of any name. Two columns of one name would hide the step, or prevent merging shards.
  void leave_out_row_columns() {
    const auto kept = std::stable_partition(wanted_.begin(), wanted_.end(),
                                            [](const Wanted& wanted) { return !is_row_column(wanted.name); });
    if (kept != wanted_.end()) {
      messages_.warning("-r saved leaves out reductions that have the name of a column: " +
                        quoted_list(mapped(std::span(kept, wanted_.end()), &Wanted::name)) +
                        "; smd-ls --locations shows where they are");
      wanted_.erase(kept, wanted_.end());
    }
  }

  /// Whether trials can be reduced side by side, each with a view of its own.
  [[nodiscard]] bool takes_turns() const {
    return view_ && options_.view == ReduceViewKind::rows && !options_.svg() && !options_.smooth;
  }

  Show reduce_one(const Visit& visit) {
    std::shared_ptr<ResultView> own;  // null: the view for all shows rows as they come
    if (takes_turns()) {
      own = view_->in_turn(visit.turn);
    }
    std::string without_rows;
    const auto reduce_it = [&](Trial& trial) {
      Session session = open_session(trial, visit.operand, options_, messages_);
      session.jobs = visit.jobs;
      without_rows = process(std::array<const Session*, 1>{&session}, own ? own.get() : view_.get());
    };
    with_trial(visit.operand, options_.reading.trial_options(range_to_open(options_), visit.jobs), messages_, reduce_it,
               hint_for(visit.operand, options_.operands));
    return [this, own, without_rows] {
      if (own) {
        own->show();
      }
      without_rows_ += without_rows;
      return true;
    };
  }

  // All trials stay open until the last one has been seen.
  void reduce_together(OperandSource& operands) {
    KeptTrials kept(options_.reading.trial_options(range_to_open(options_)), messages_);
    std::deque<Session> opened;
    while (const std::optional<std::string> name = operands.next()) {
      const auto look = [&](Trial& trial) {
        Session session = open_session(trial, *name, options_, messages_);
        if (options_.view == ReduceViewKind::hist) {
          widen(bounds_, session);
        } else if (options_.asks_for_saved()) {
          collect_saved(session);
        }
        opened.push_back(std::move(session));
        return true;
      };
      kept.open(*name, look, hint_for(*name, options_.operands));
    }
    start();
    const std::vector<const Session*> sessions = mapped(opened, [](const Session& session) { return &session; });
    const std::size_t together = options_.across ? sessions.size() : 1;
    for (std::size_t i = 0; i < sessions.size(); i += together) {
      const AboutTrial about(options_.across ? std::string_view() : std::string_view(sessions[i]->name));
      try {
        without_rows_ += process(Sessions(sessions).subspan(i, together), view_.get());
      } catch (const Error& error) {
        messages_.fail(error, sessions[i]->name);
      }
    }
    finish();
    kept.close();
  }

  /// Notes the names of the reductions that were saved. Buckets are for --hist: they are no number.
  void collect_saved(const Session& session) {
    session.for_each_entry([this](const TensorEntry& entry) {
      for (const SavedReduction& reduction : entry.reductions) {
        if (reduction.name != buckets_name) {
          saved_.insert(reduction.name);
        }
      }
    });
  }

  /// Shows one trial, or all that are pooled. `view`: null for --hist, and if no reduction is left.
  ReduceOutcome show(Sessions sessions, ResultView* view) {
    if (hist_) {
      return hist_->show(*sessions.front());
    }
    const std::string name =
        sessions.size() == 1 ? sessions.front()->name : std::to_string(sessions.size()) + " trials";
    if (view != nullptr) {
      view->set_trial(name);
      return reduce_trials(sessions, wanted_, *view, messages_);
    }
    const bool values = std::ranges::any_of(sessions, [](const Session* one) { return one->forms().value; });
    if (values) {
      messages_.fail("TensorUnavailableForStep",
                     name + ": no reductions were saved of what is selected; try -r without saved", ExitStatus::no);
    }
    return values ? ReduceOutcome::no_row : ReduceOutcome::nothing;
  }

  /// Returns, for a shard, the line of a trial that was read and of which no row was shown; else nothing.
  std::string process(Sessions sessions, ResultView* view) {
    const std::size_t rows_before = view != nullptr ? view->rows() : 0;
    const ReduceOutcome outcome = show(sessions, view);
    if (outcome == ReduceOutcome::no_row) {
      messages_.raise(ExitStatus::no);
    }
    for (const Session* const session : sessions) {
      // More shards than steps leave some with nothing to do.
      if (outcome == ReduceOutcome::nothing && !(options_.shard && session->selection.steps.steps.empty())) {
        say_nothing_found(session->name, session->forms(), options_, &session->trial, messages_);
      }
    }
    const bool read = makes_part() && !sessions.front()->selection.steps.steps.empty() &&
                      (messages_.status() == ExitStatus::yes || messages_.status() == ExitStatus::no);
    const bool without_rows = read && (view == nullptr || view->rows() == rows_before);
    return without_rows ? no_rows_line(*sessions.front()) : std::string();
  }

  void finish() {
    if (hist_) {
      hist_->finish();
    } else if (view_) {
      view_->finish();
    }
    context_.out.write(without_rows_);
  }

  const ReduceCommandOptions& options_;
  Diagnostics& messages_;
  bool several_;
  std::set<std::string> saved_;
  std::vector<Wanted> wanted_;
  ResultContext context_;
  std::unique_ptr<ResultView> view_;
  AxisRange bounds_;
  std::optional<HistView> hist_;
  std::string without_rows_;  // lines of a shard
};

}  // namespace

ExitStatus run(ReduceCommandOptions& options, Diagnostics& messages) {
  const std::vector<std::string> given = options.operands;
  const bool several = may_be_several(given);
  OperandSource operands = operand_source(given, options.output.null_separated, messages);
  PictureOutput picture(options.output.open(options.svg()), options.output);
  if (options.merge) {
    const bool found = merge_shards(operands.rest(), picture.to(), options, messages);
    picture.close(messages);
    return found ? ExitStatus::yes : ExitStatus::no;
  }
  if (!options.following.follow && given.size() > 1) {
    // Options are copied for each trial, which asks only whether it is the first.
    options.operands = {given.front()};
    if (lists_operands(given)) {
      options.operands.emplace_back("-");
    }
  }
  Run work(picture.to(), options, several, messages);
  if (options.following.follow) {
    work.follow(operands.rest(), picture);
  } else {
    work.reduce(operands);
    picture.close(messages);
  }
  return ExitStatus::yes;
}

}  // namespace smd::tool::reduce
