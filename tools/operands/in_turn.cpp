// SPDX-License-Identifier: Apache-2.0
#include "operands/in_turn.hpp"

#include <smd/parallel.hpp>
#include <smd/remote.hpp>

#include "cli/progress.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace smd::tool {

namespace {

/// Trials on S3 that are visited at once. Each may have as many requests as -j says, but all share a client, which has
/// at most that many under way; most of the time a small trial waits for a single one.
constexpr unsigned remote_visits = 16;
/// How many visits for each thread may be under way or wait to be shown.
constexpr std::size_t visits_ahead = 8;

/// The visits of a command, and whose turn it is.
class Visits {
 public:
  Visits(OperandSource& operands, const VisitPlan& plan, Diagnostics& messages,
         const std::function<Show(const Visit&)>& visit, unsigned threads, unsigned jobs)
      : alone_(threads == 1 && operands.total() == 1),
        operands_(operands),
        messages_(messages),
        visit_(visit),
        threads_(threads),
        jobs_(jobs),
        interrupted_(plan.interruption, [this] { no_more_.request_stop(); }) {
    if (!alone_) {
      progress_.emplace(plan.doing, 0);
      silence_.emplace();
    }
  }

  /// Returns when all visits have been shown, or have ended early (`over_`).
  void run() {
    std::vector<std::thread> threads;
    try {
      for (unsigned i = 1; i < threads_; ++i) {
        threads.emplace_back([this] { work(); });
      }
    } catch (const std::system_error&) {  // the thread limit is reached: the started threads suffice
    } catch (const std::bad_alloc&) {
    }
    work();
    for (std::thread& thread : threads) {
      thread.join();
    }
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

  [[nodiscard]] std::size_t shown() const noexcept { return shown_; }

 private:
  class NumberedTurn : public Turn {
   public:
    NumberedTurn(Visits& visits, std::size_t number) : visits_(visits), number_(number) {}

    bool mine() override {
      const std::lock_guard lock(visits_.mutex_);
      check();
      return visits_.shown_ == number_;
    }
    void wait() override {
      std::unique_lock lock(visits_.mutex_);
      visits_.changed_.wait(lock, [this] { return visits_.over_ || visits_.shown_ == number_; });
      check();
    }

   private:
    void check() const {
      if (visits_.over_) {
        throw VisitsOver();
      }
    }
    Visits& visits_;
    std::size_t number_;
  };

  struct Next {
    std::string operand;
    std::size_t number;
    unsigned jobs;
  };

  void work() noexcept {
    try {
      while (std::optional<Next> next = take()) {
        finish(next->number, result_of(*next));
      }
    } catch (const VisitsOver&) {  // its result is not needed
    } catch (...) {
      fail();
    }
  }

  /// Nullopt if there are no more operands, or the visits have ended.
  std::optional<Next> take() {
    const std::lock_guard one_reads(reading_);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return over_ || started_ - shown_ < threads_ * visits_ahead; });
      if (over_) {
        return std::nullopt;
      }
    }
    std::optional<std::string> operand = operands_.next(no_more_.get_token());
    if (!operand || no_more_.stop_requested()) {
      return std::nullopt;
    }
    const std::optional<std::size_t> total = operands_.total();
    const std::lock_guard lock(mutex_);
    total_ = total;
    if (is_remote_path(*operand) || threads_ == 1) {
      return Next{*std::move(operand), started_++, 0};
    }
    // The last visits share the jobs that finished threads leave idle.
    const std::size_t left = total ? *total - started_ : threads_;
    const auto at_once = static_cast<unsigned>(std::clamp<std::size_t>(left, 1, threads_));
    return Next{*std::move(operand), started_++, std::max(jobs_ / at_once, 1U)};
  }

  /// Visits an operand. Show prints its result, or throws its exception, when its turn has come.
  Show result_of(const Next& next) {
    std::shared_ptr<HeldMessages> held;
    if (!alone_) {  // with one thread too: messages must not depend on the number of threads
      held = std::make_shared<HeldMessages>(messages_);
    }
    const auto release = [&held] {
      if (held) {
        held->release();
      }
    };
    Show show;
    try {
      NumberedTurn turn(*this, next.number);
      show = visit_({next.operand, next.jobs, turn});
    } catch (const VisitsOver&) {
      release();
      throw;
    } catch (...) {
      show = [failure = std::current_exception()]() -> bool { std::rethrow_exception(failure); };
    }
    release();
    return [held, show = std::move(show)] {
      if (held) {
        held->say();
      }
      return show();
    };
  }

  /// Shows a result if its turn has come, and then the next ones that are ready.
  void finish(std::size_t number, Show show) {
    std::unique_lock lock(mutex_);
    ready_.emplace(number, std::move(show));
    if (number != shown_) {
      return;  // the visit whose turn it is shows it later
    }
    for (auto first = ready_.find(shown_); first != ready_.end() && !over_; first = ready_.find(shown_)) {
      const Show next = std::move(first->second);
      ready_.erase(first);
      const std::optional<std::size_t> total = total_;
      lock.unlock();
      const bool more = next();
      if (progress_) {
        progress_->at(number + 1, total.value_or(0));
      }
      lock.lock();
      ++number;
      ++shown_;
      if (!more) {
        end();
      }
      changed_.notify_all();
    }
  }

  void fail() noexcept {
    const std::lock_guard lock(mutex_);
    failure_ = failure_ ? failure_ : std::current_exception();
    end();
    changed_.notify_all();
  }

  /// Call it with `mutex_` held.
  void end() noexcept {
    over_ = true;
    no_more_.request_stop();
  }

  const bool alone_;  // a single trial, which says things at once and shows its own progress
  OperandSource& operands_;
  Diagnostics& messages_;
  const std::function<Show(const Visit&)>& visit_;
  const unsigned threads_;
  const unsigned jobs_;
  std::mutex reading_;        // held while an operand is taken
  std::stop_source no_more_;  // requested when no more operands are to be taken
  std::stop_callback<std::function<void()>> interrupted_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::size_t started_ = 0;
  std::size_t shown_ = 0;  // the number whose turn it is
  std::optional<std::size_t> total_;
  std::map<std::size_t, Show> ready_;  // of visits whose turn has not come
  bool over_ = false;
  std::exception_ptr failure_;
  std::optional<Progress> progress_;          // of the visit whose turn it is
  std::optional<Progress::Silence> silence_;  // of single trials
};

}  // namespace

std::size_t visit_in_turn(OperandSource& operands, const VisitPlan& plan, Diagnostics& messages,
                          const std::function<Show(const Visit&)>& visit) {
  const std::string* const first = operands.peek(plan.interruption);
  if (first == nullptr) {
    return 0;
  }
  unsigned jobs = plan.jobs != 0 ? plan.jobs : usable_cpus();
  if (is_remote_path(*first)) {
    jobs = plan.jobs != 0 ? std::min(plan.jobs, remote_visits) : remote_visits;
  }
  const std::size_t most = operands.total().value_or(jobs);
  const auto threads = plan.one_at_a_time ? 1 : static_cast<unsigned>(std::min<std::size_t>(jobs, most));
  Visits visits(operands, plan, messages, visit, threads, jobs);
  visits.run();
  return visits.shown();
}

}  // namespace smd::tool
