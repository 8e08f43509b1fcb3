// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <thread>

namespace smd::tool {

/// While one lives, SIGHUP, SIGINT and SIGTERM only ask for a stop, so that what was begun is ended properly: a report
/// closed, a file put in its place. A second one kills at once. A reader of standard output that goes away ends the
/// process at once too (141): a command that waits for a job would not notice before the next write.
///
/// `run_command` dies of the signal when the command has returned. One at a time; made before other threads are.
class Interruption {
 public:
  /// What a reader of standard output that goes away means to a command.
  enum class Reader : std::uint8_t { needed, ignored };

  explicit Interruption(Reader reader = Reader::needed);
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }
  /// Whether a signal has come, also before `token` says so: the same signal may have ended the input, which then must
  /// not count as complete.
  [[nodiscard]] bool asked() const noexcept;
  /// Asks for a stop as a signal does.
  void stop() noexcept { source_.request_stop(); }

 private:
  void listen();

  const Reader reader_;
  std::stop_source source_;
  int done_ = -1;  // an eventfd: readable when it is over
  int signals_ = -1;
  std::atomic<bool> noticed_ = false;  // set before a signal is taken, so that one that is no longer pending is noticed
  std::thread thread_;
};

/// Whether an Interruption got a signal, at least so long ago. Thread-safe.
[[nodiscard]] bool interrupted(std::chrono::steady_clock::duration ago = {}) noexcept;

/// Dies of the signal that an Interruption got, if any.
void die_if_interrupted() noexcept;

}  // namespace smd::tool
