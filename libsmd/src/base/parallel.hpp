// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace smd::detail {

/// Returns the number of CPUs that this process may use; at least 1.
[[nodiscard]] unsigned default_jobs() noexcept;

/// Up to `wanted` threads that all run `body(worker)` with worker 1, 2, …; joined on destruction. If the system
/// refuses a thread there are fewer, possibly none.
template <class Body>
class Crew {
 public:
  Crew(unsigned wanted, Body& body) noexcept {
    try {
      threads_.reserve(wanted);
      for (unsigned worker = 1; worker <= wanted; ++worker) {
        threads_.emplace_back([&body, worker] { body(worker); });
      }
    } catch (const std::system_error&) {  // the system's limit of threads: continue with those that started
    } catch (const std::bad_alloc&) {
    }
  }
  ~Crew() {
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

 private:
  std::vector<std::thread> threads_;
};

/// Calls `f(begin, end, worker)` for pieces of at most `grain` that together cover [0, count), on at most `jobs`
/// threads, including the calling one (worker 0). Worker numbers are below `jobs`; a worker runs one piece at a time.
/// The first exception ends the loop early and is rethrown.
template <class F>
void parallel_for(unsigned jobs, std::size_t count, std::size_t grain, F&& f) {
  if (count == 0) {
    return;
  }
  grain = std::max<std::size_t>(grain, 1);
  if (jobs <= 1 || count <= grain) {
    f(std::size_t{0}, count, 0u);
    return;
  }
  const std::size_t pieces = count / grain + (count % grain != 0 ? 1 : 0);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::exception_ptr error;
  auto body = [&](unsigned worker) noexcept {
    try {
      while (!stop.load(std::memory_order_relaxed)) {
        const std::size_t piece = next.fetch_add(1, std::memory_order_relaxed);
        if (piece >= pieces) {
          return;
        }
        const std::size_t begin = piece * grain;
        f(begin, begin + std::min(grain, count - begin), worker);
      }
    } catch (...) {
      stop = true;
      const std::lock_guard lock(mutex);
      if (!error) {
        error = std::current_exception();
      }
    }
  };
  {
    const Crew crew(static_cast<unsigned>(std::min<std::size_t>(jobs, pieces)) - 1, body);
    body(0);
  }
  if (error) {
    std::rethrow_exception(error);
  }
}

/// Produces in parallel, consumes in order: `produce(index, worker)` returns a value for each index below `count`, on
/// at most `jobs` threads; `consume(index, value&&)` receives them on the calling thread, in order, and ends the loop
/// by returning false. At most `window` values are in progress or waiting (at least `jobs`). The calling thread
/// (worker 0) produces while the next value is not ready, so with one job no thread is started. The first exception
/// ends the loop early and is rethrown.
template <class Produce, class Consume>
void parallel_ordered(unsigned jobs, std::size_t count, std::size_t window, Produce&& produce, Consume&& consume) {
  using T = std::decay_t<decltype(produce(std::size_t{0}, 0u))>;
  if (jobs <= 1 || count <= 1) {
    for (std::size_t index = 0; index < count; ++index) {
      if (!consume(index, produce(index, 0u))) {
        return;
      }
    }
    return;
  }
  jobs = static_cast<unsigned>(std::min<std::size_t>(jobs, count));
  window = std::min(std::max<std::size_t>(window, jobs), count);

  std::mutex mutex;
  std::condition_variable ready;  // a value is ready, or an error occurred
  std::condition_variable space;  // the window has moved on, or the loop is over
  std::vector<std::optional<T>> slots(window);
  std::size_t started = 0;   // indexes handed out to producers
  std::size_t consumed = 0;  // indexes taken by the consumer
  bool over = false;
  std::exception_ptr error;

  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    if (!error) {
      error = std::current_exception();
    }
    over = true;
    ready.notify_all();
    space.notify_all();
  };
  auto body = [&](unsigned worker) noexcept {
    try {
      std::unique_lock lock(mutex);
      for (;;) {
        space.wait(lock, [&] { return over || started == count || started - consumed < window; });
        if (over || started == count) {
          return;
        }
        const std::size_t index = started++;
        lock.unlock();
        T value = produce(index, worker);
        lock.lock();
        slots[index % window].emplace(std::move(value));
        if (index == consumed) {
          ready.notify_one();
        }
      }
    } catch (...) {
      fail();
    }
  };
  {
    const Crew crew(jobs - 1, body);
    try {
      std::unique_lock lock(mutex);
      while (!over && consumed < count) {
        std::optional<T>& slot = slots[consumed % window];
        if (slot) {
          T value = std::move(*slot);
          slot.reset();
          lock.unlock();
          const bool more = consume(consumed, std::move(value));
          lock.lock();
          ++consumed;
          over = over || !more;
          space.notify_all();
        } else if (started < count && started - consumed < window) {
          const std::size_t index = started++;
          lock.unlock();
          T value = produce(index, 0u);
          lock.lock();
          slots[index % window].emplace(std::move(value));
        } else {
          ready.wait(lock, [&] { return over || slots[consumed % window].has_value(); });
        }
      }
      over = true;
      space.notify_all();
    } catch (...) {
      fail();
    }
  }
  if (error) {
    std::rethrow_exception(error);
  }
}

}  // namespace smd::detail
