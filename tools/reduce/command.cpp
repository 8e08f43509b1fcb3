// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "cli/text.hpp"
#include "columns.hpp"
#include "follow/following.hpp"
#include "hist.hpp"
#include "merge.hpp"
#include "operands/in_turn.hpp"
#include "operands/operands.hpp"
#include "reading.hpp"
#include "result_view.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace smd::tool::reduce {

namespace {

/// What is done with the trials selected. If `looks_ahead`, `prepare` sees all of them before `process` sees the first.
class Work {
 public:
  virtual ~Work() = default;
  [[nodiscard]] virtual bool looks_ahead() const = 0;
  virtual void prepare(const Session&) {}
  virtual void start() {}
  /// One trial, or all that are pooled.
  virtual ReduceOutcome process(std::span<const Session* const> sessions) = 0;
  /// Whether trials can be reduced side by side, each by work that `in_turn` returns. Call it after `start`.
  [[nodiscard]] virtual bool takes_turns() const { return false; }
  [[nodiscard]] virtual std::unique_ptr<Work> in_turn(const ReduceCommandOptions& /*options*/, Turn& /*turn*/) {
    return nullptr;
  }
  /// For such work: shows what it holds, once its turn has come.
  virtual void show() {}
  /// Whether nothing further will be shown.
  [[nodiscard]] virtual bool full() const { return false; }
  virtual void finish() = 0;
};

class ReduceWork : public Work {
 public:
  ReduceWork(OutputFile& out, const ReduceCommandOptions& options, bool several, Diagnostics& messages)
      : options_(options), messages_(messages), context_{out,     options,    messages,
                                                         wanted_, options.by, several && !options.across} {}

  /// For one of several trials.
  ReduceWork(ReduceWork& whole, const ReduceCommandOptions& options, Turn& turn)
      : options_(options),
        messages_(whole.messages_),
        wanted_(whole.wanted_),
        context_(whole.context_),
        view_(whole.view_->in_turn(turn)) {}

  [[nodiscard]] bool takes_turns() const override {
    return view_ && options_.view == ReduceViewKind::rows && !options_.svg() && !options_.smooth;
  }
  [[nodiscard]] std::unique_ptr<Work> in_turn(const ReduceCommandOptions& options, Turn& turn) override {
    return std::make_unique<ReduceWork>(*this, options, turn);
  }
  void show() override { view_->show(); }

  [[nodiscard]] bool looks_ahead() const override { return options_.asks_for_saved() || options_.across; }
  void prepare(const Session& session) override {
    if (options_.asks_for_saved()) {
      collect_saved(session, options_, saved_);
    }
  }
  void start() override {
    wanted_ = wanted_reductions(options_.reductions, options_.abs, saved_);
    if (options_.view == ReduceViewKind::rows) {
      leave_out_row_columns();
    }
    if (wanted_.empty()) {
      return;
    }
    view_ = make_result_view(context_);
  }
  ReduceOutcome process(std::span<const Session* const> sessions) override {
    const std::string name =
        sessions.size() == 1 ? sessions.front()->name : std::to_string(sessions.size()) + " trials";
    if (!view_) {
      const bool values = std::any_of(sessions.begin(), sessions.end(),
                                      [this](const Session* one) { return one->forms(options_).value; });
      if (values) {
        messages_.fail("TensorUnavailableForStep",
                       name + ": no reductions were saved of what is selected; try -r without saved", ExitStatus::no);
      }
      return values ? ReduceOutcome::no_row : ReduceOutcome::nothing;
    }
    view_->set_trial(name);
    return reduce_trials(sessions, options_, wanted_, *view_, messages_);
  }
  [[nodiscard]] bool full() const override { return view_ && view_->room() == 0; }
  void end_step() {
    if (view_) {
      view_->end_step();
    }
  }
  void finish() override {
    if (view_) {
      view_->finish();
    }
  }

 private:
  // A job may save a reduction of any name. Two columns of one name would hide the step, or prevent merging shards.
  void leave_out_row_columns() {
    std::vector<std::string> left_out;
    std::erase_if(wanted_, [&](const Wanted& wanted) {
      const bool taken = is_row_column(wanted.name);
      if (taken) {
        left_out.push_back(wanted.name);
      }
      return taken;
    });
    if (!left_out.empty()) {
      messages_.warning("-r saved: columns have that name already, left out: " + quoted_list(left_out) +
                        "; smd-ls --locations shows where they are");
    }
  }

  const ReduceCommandOptions& options_;
  Diagnostics& messages_;
  std::set<std::string> saved_;
  std::vector<Wanted> wanted_;
  ResultContext context_;
  std::unique_ptr<ResultView> view_;
};

class HistWork : public Work {
 public:
  HistWork(OutputFile& out, const ReduceCommandOptions& options, bool several, Diagnostics& messages)
      : out_(out), options_(options), several_(several), messages_(messages) {}

  [[nodiscard]] bool looks_ahead() const override { return !options_.bins.low; }
  void prepare(const Session& session) override { widen(bounds_, session, options_); }
  void start() override { view_.emplace(out_, options_, bounds_, several_, messages_); }
  ReduceOutcome process(std::span<const Session* const> sessions) override { return view_->show(*sessions.front()); }
  void finish() override { view_->finish(); }

 private:
  OutputFile& out_;
  const ReduceCommandOptions& options_;
  bool several_;
  Diagnostics& messages_;
  FiniteBounds bounds_;
  std::optional<HistView> view_;
};

std::vector<std::string> rest_of(OperandSource& operands) {
  std::vector<std::string> rest;
  while (std::optional<std::string> operand = operands.next()) {
    rest.push_back(*std::move(operand));
  }
  return rest;
}

class Runner {
 public:
  Runner(const ReduceCommandOptions& options, Work& work, Diagnostics& messages)
      : options_(options), work_(work), messages_(messages) {}

  void run(OperandSource& operands) {
    if (work_.looks_ahead()) {
      run_together(operands);
      return;
    }
    work_.start();
    if (!work_.full()) {
      const VisitPlan plan = {
          .doing = "reducing trials", .jobs = options_.reading.jobs, .one_at_a_time = !work_.takes_turns()};
      visit_in_turn(operands, plan, messages_, [this](const Visit& visit) { return reduce(visit); });
    }
    work_.finish();
  }

 private:
  Show reduce(const Visit& visit) {
    struct OneTrial {
      ReduceCommandOptions options;
      std::unique_ptr<Work> work = nullptr;  // null: the work for all shows rows as they come
    };
    const auto one = std::make_shared<OneTrial>(OneTrial{options_});
    if (visit.jobs != 0) {
      one->options.reading.jobs = visit.jobs;
    }
    if (work_.takes_turns()) {
      one->work = work_.in_turn(one->options, visit.turn);
    }
    Work& work = one->work ? *one->work : work_;
    const auto reduce_one = [&](Trial& trial) {
      const Session session = open_session(trial, visit.operand, one->options, messages_);
      process(std::array{&session}, work, one->options);
    };
    with_trial(visit.operand, one->options.reading.trial_options(range_to_open(one->options)), messages_, reduce_one,
               hint_for(visit.operand, options_.operands));
    return [this, one] {
      if (one->work) {
        one->work->show();
      }
      return !work_.full();
    };
  }

  // All trials stay open until the last one has been seen.
  void run_together(OperandSource& operands) {
    KeptTrials kept(options_.reading.trial_options(range_to_open(options_)), messages_);
    std::deque<Session> opened;
    while (const std::optional<std::string> name = operands.next()) {
      const auto prepare = [&](Trial& trial) {
        Session session = open_session(trial, *name, options_, messages_);
        work_.prepare(session);
        opened.push_back(std::move(session));
        return true;
      };
      kept.open(*name, prepare, hint_for(*name, options_.operands));
    }
    work_.start();
    std::vector<const Session*> sessions;
    sessions.reserve(opened.size());
    for (const Session& session : opened) {
      sessions.push_back(&session);
    }
    const std::size_t together = options_.across ? sessions.size() : 1;
    for (std::size_t i = 0; i < sessions.size() && !work_.full(); i += together) {
      const AboutTrial about(options_.across ? std::string_view() : std::string_view(sessions[i]->name));
      try {
        process(std::span(sessions).subspan(i, together), work_, options_);
      } catch (const Error& error) {
        messages_.fail(error, sessions[i]->name);
      }
    }
    work_.finish();
    kept.close();
  }

  void process(std::span<const Session* const> sessions, Work& work, const ReduceCommandOptions& options) {
    const ReduceOutcome outcome = work.process(sessions);
    if (outcome == ReduceOutcome::no_row) {
      messages_.raise(ExitStatus::no);
    }
    for (const Session* const session : sessions) {
      // More shards than steps leave some with nothing to do.
      if (outcome == ReduceOutcome::nothing && !(options.shard && session->steps().empty())) {
        say_nothing_found(session->name, session->forms(options), options, &session->trial, messages_);
      }
    }
  }

  const ReduceCommandOptions& options_;
  Work& work_;
  Diagnostics& messages_;
};

}  // namespace

void ReduceCommand::setup(const CommandLine& line) { options_ = ReduceCommandOptions::from(line); }

ExitStatus ReduceCommand::run(Diagnostics& messages) {
  const std::vector<std::string> given = options_.operands;
  const bool several = may_be_several(given);
  OperandSource operands(given, options_.output.null_separated);
  messages.name_trials(several);
  if (operands.peek() == nullptr && lists_operands(given)) {
    say_nothing_listed(messages);
  }
  OutputFile out = options_.output.open(options_.svg());
  PictureOutput picture(out, options_.output);
  if (options_.merge) {
    const bool found = merge_shards(rest_of(operands), picture.to(), options_, messages);
    picture.close(messages);
    return found ? ExitStatus::yes : ExitStatus::no;
  }
  if (options_.following.follow) {
    const std::vector<std::string> trials = rest_of(operands);
    ReduceWork work(picture.to(), options_, several, messages);
    work.start();
    const FollowSetup setup{.following = options_.following,
                            .selection = options_.selection,
                            .reading = options_.reading,
                            .needs = selection_needs(options_),
                            .listed = lists_operands(options_.operands)};
    ReduceOutcome outcome = ReduceOutcome::nothing;
    SavedForms forms;
    const bool visited =
        follow_trials(trials, setup, messages, [&](std::size_t operand, Trial& trial, Selection&& selection) {
          const Session session{trial, trials[operand], std::move(selection)};
          outcome = std::max(outcome, work.process(std::array{&session}));
          forms = outcome != ReduceOutcome::nothing ? forms : session.forms(options_);
          work.end_step();
        });
    work.finish();
    picture.close(messages);
    if (visited && outcome == ReduceOutcome::nothing) {
      say_nothing_found(trials.front(), forms, options_, nullptr, messages);
    } else if (outcome == ReduceOutcome::no_row) {
      messages.raise(ExitStatus::no);
    }
    return ExitStatus::yes;
  }
  if (given.size() > 1) {  // options are copied for each trial, which asks only whether it is the first
    options_.operands = {given.front()};
    if (lists_operands(given)) {
      options_.operands.emplace_back("-");
    }
  }
  std::unique_ptr<Work> work;
  if (options_.view == ReduceViewKind::hist) {
    work = std::make_unique<HistWork>(picture.to(), options_, several, messages);
  } else {
    work = std::make_unique<ReduceWork>(picture.to(), options_, several, messages);
  }
  Runner(options_, *work, messages).run(operands);
  picture.close(messages);
  return ExitStatus::yes;
}

}  // namespace smd::tool::reduce
