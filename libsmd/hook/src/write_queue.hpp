// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"

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

/// A thread that does the writing behind the caller's back, in the order asked. What waits is bounded in bytes: whoever
/// is faster than the disk waits, and nothing is lost. After the first failure nothing further is done. Where the
/// system gives no thread, tasks run in the caller's.
///
/// Waking a thread costs the caller as much as saving a small tensor, so small tasks wait for `start`.
class WriteQueue {
 public:
  using Task = std::function<Status()>;

  explicit WriteQueue(std::size_t most_bytes);
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;
  /// Does what is left to do.
  ~WriteQueue();

  /// Waits while there is no room; a task larger than all room waits until nothing else does. The thread starts on what
  /// waits once that is worth it.
  void push(std::size_t bytes, Task task);
  /// The thread starts on what waits now.
  void start();
  /// Waits until all is done.
  void drain();
  /// The first failure, for ever.
  [[nodiscard]] std::optional<Problem> failure() const;

  /// Memory to be filled and handed to a task: empty, with room for so many bytes. If it can be, it is what a task gave
  /// back, since the pages of new memory cost several times what is copied into them.
  [[nodiscard]] std::string take_buffer(std::size_t bytes);
  void give_back(std::string buffer);

 private:
  struct Waiting {
    std::size_t bytes;
    Task task;
  };

  /// Whether the thread must be told, after unlocking.
  [[nodiscard]] bool set_started();
  void work();
  void run(Waiting& next, std::unique_lock<std::mutex>& lock);

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable room_;
  std::deque<Waiting> waiting_;
  std::size_t bytes_ = 0;  // of those that wait and the one that runs
  bool started_ = false;   // until nothing waits
  bool busy_ = false;
  bool over_ = false;
  std::optional<Problem> failure_;
  std::multimap<std::size_t, std::string> buffers_;  // by capacity
  std::size_t buffer_bytes_ = 0;
  std::thread thread_;
};

}  // namespace smd::detail::hook
