// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/problem.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace smd::detail::hook {

/// Runs tasks on a thread of its own, in the order of `push`. Waiting tasks are bounded in bytes: a caller that is
/// faster than the disk waits in `push`, and no task is dropped. A task fails by a ReadError; after the first no task
/// runs. If the system refuses a thread, tasks run in the caller's thread.
///
/// Waking a thread costs the caller as much as saving a small tensor, so small tasks wait for `start`.
class WriteQueue {
 public:
  using Task = std::function<void()>;

  explicit WriteQueue(std::size_t most_bytes);
  /// Runs the tasks that are left.
  ~WriteQueue();

  /// Adds a task. Waits while there is no room; a task larger than the whole room waits until the queue is empty. The
  /// thread starts by itself once enough bytes wait.
  void push(std::size_t bytes, Task task);
  /// Starts the thread on the tasks that wait.
  void start();
  /// Waits until all tasks have run.
  void drain();
  /// Returns the first failure, which is never cleared; nullopt if there was none.
  [[nodiscard]] std::optional<Problem> failure() const;
  /// @throws WriteError with the first failure, if there was one.
  void throw_failure() const;

  /// Returns an empty string with room for `bytes`, to be filled and moved into a task. Prefers a buffer that a task
  /// gave back: touching the pages of new memory costs several times what copying into them does.
  [[nodiscard]] std::string take_buffer(std::size_t bytes);
  void give_back(std::string buffer);

 private:
  struct Waiting {
    std::size_t bytes;
    Task task;
  };

  /// Returns whether the caller must notify the thread after unlocking.
  [[nodiscard]] bool set_started();
  void work();
  void run(Waiting& next, std::unique_lock<std::mutex>& lock);

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable room_;
  std::deque<Waiting> waiting_;
  std::size_t bytes_ = 0;  // of the tasks that wait and the one that runs
  bool started_ = false;   // until nothing waits
  bool busy_ = false;
  bool over_ = false;
  std::optional<Problem> failure_;
  std::multimap<std::size_t, std::string> buffers_;  // by capacity
  std::size_t buffer_bytes_ = 0;
  std::thread thread_;
};

}  // namespace smd::detail::hook
