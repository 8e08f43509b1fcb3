// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"

#include <sched.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <numeric>
#include <system_error>
#include <thread>

namespace smd::detail {

namespace {

using Work = std::function<void(const LoopIndex&)>;
using Take = std::function<bool(const LoopIndex&)>;

/// The state that the threads of a loop share.
class Loop {
 public:
  Loop(const ParallelLoop& loop, const Work& work, const Take& take)
      : loop_(loop), work_(work), take_(take), done_(loop.slots(), false), slots_(done_.size()), free_(done_.size()) {
    std::iota(free_.rbegin(), free_.rend(), std::size_t{0});
  }

  void run() {
    {
      const std::vector<std::jthread> helpers = start_helpers();
      try {
        std::unique_lock lock(mutex_);
        while (!over_ && taken_ < loop_.count) {
          if (take_ && done_[taken_ % done_.size()]) {
            const LoopIndex at = {taken_, slots_[taken_ % done_.size()], 0};
            lock.unlock();
            const bool more = take_(at);
            lock.lock();
            done_[taken_ % done_.size()] = false;
            free_.push_back(at.slot);
            ++taken_;
            over_ = over_ || !more;
            room_.notify_all();
          } else if (!work_on_next(lock, 0)) {
            ready_.wait(lock, [&] { return over_ || taken_ == loop_.count || done_[taken_ % done_.size()]; });
          }
        }
        over_ = true;
        room_.notify_all();
      } catch (...) {
        fail();
      }
    }
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  /// Starts the other threads, which are joined when the result is destroyed.
  [[nodiscard]] std::vector<std::jthread> start_helpers() noexcept {
    std::vector<std::jthread> helpers;
    try {
      const std::size_t wanted = std::min<std::size_t>(loop_.jobs, loop_.count);
      helpers.reserve(wanted);
      for (unsigned worker = 1; worker < wanted; ++worker) {
        helpers.emplace_back([this, worker] { help(worker); });
      }
    } catch (const std::system_error&) {  // the system's limit of threads: continue with those that started
    } catch (const std::bad_alloc&) {
    }
    return helpers;
  }

  void help(unsigned worker) noexcept {
    try {
      std::unique_lock lock(mutex_);
      while (!over_ && started_ < loop_.count) {
        if (!work_on_next(lock, worker)) {
          room_.wait(lock, [&] { return over_ || started_ == loop_.count || has_room(); });
        }
      }
    } catch (...) {
      fail();
    }
  }

  [[nodiscard]] bool has_room() const noexcept { return started_ - taken_ < done_.size(); }

  /// Returns false if there is no room for more, or nothing left.
  bool work_on_next(std::unique_lock<std::mutex>& lock, unsigned worker) {
    if (started_ == loop_.count || !has_room()) {
      return false;
    }
    const std::size_t index = started_++;
    std::size_t slot = worker;
    if (take_) {
      slot = slots_[index % done_.size()] = free_.back();
      free_.pop_back();
    }
    lock.unlock();
    work_({index, slot, worker});
    lock.lock();
    if (take_) {
      done_[index % done_.size()] = true;
    } else {
      ++taken_;
    }
    if (take_ ? index == taken_ : taken_ == loop_.count) {
      ready_.notify_one();
    }
    return true;
  }

  void fail() noexcept {
    const std::lock_guard lock(mutex_);
    error_ = error_ ? error_ : std::current_exception();
    over_ = true;
    ready_.notify_one();
    room_.notify_all();
  }

  const ParallelLoop& loop_;
  const Work& work_;
  const Take& take_;
  std::mutex mutex_;
  std::condition_variable ready_;   // for the calling thread
  std::condition_variable room_;    // for the others
  std::vector<char> done_;          // by index, modulo the number of slots: worked on, and not yet taken
  std::vector<std::size_t> slots_;  // the same: its slot
  std::vector<std::size_t> free_;   // slots; the last one, whose memory is still in the caches, is used first
  std::size_t started_ = 0;         // indexes that are or were worked on
  std::size_t taken_ = 0;           // indexes that were taken; without `take`, whose work is done
  bool over_ = false;
  std::exception_ptr error_;
};

}  // namespace

unsigned default_jobs() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
  }
  return std::max(std::thread::hardware_concurrency(), 1u);  // the set is too small for this machine's CPUs
}

void run_in_parallel(const ParallelLoop& loop, const Work& work, const Take& take) {
  if (loop.jobs > 1 && loop.count > 1) {
    Loop(loop, work, take).run();
    return;
  }
  for (std::size_t index = 0; index < loop.count; ++index) {
    work({.index = index});
    if (take && !take({.index = index})) {
      return;
    }
  }
}

}  // namespace smd::detail
