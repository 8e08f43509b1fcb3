// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <thread>

#include "text/descriptor.hpp"

namespace smd::tool {

/// While an object exists, SIGHUP, SIGINT and SIGTERM only request a stop, so that work ends properly: a report is
/// closed, a file put in its place. What takes longer than `patience` is given up: temporary files are removed, and the
/// process dies of the signal, whatever it does. A second signal kills at once. If the reader of standard output is
/// needed and goes away, the process ends at once too (141): a command that waits for a job would not notice before the
/// next write.
///
/// `run_command` dies of the signal once the command has returned. At most one object at a time; make it before any
/// thread.
class Interruption {
 public:
  /// Whether the command ends when the reader of standard output goes away.
  enum class Reader : std::uint8_t { needed, ignored };

  static constexpr std::chrono::milliseconds usual_patience{100};

  /// The patience counts while the process works; one that waits, for the system or a processor, has thirty times as
  /// long.
  explicit Interruption(Reader reader = Reader::needed, std::chrono::milliseconds patience = usual_patience);
  ~Interruption();

  [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }
  /// Whether a signal has arrived, even before `token` says so: the same signal may have ended the input, which then
  /// must not count as complete.
  [[nodiscard]] bool asked() const noexcept;
  /// Requests a stop as a signal does.
  void stop() noexcept { source_.request_stop(); }

 private:
  void listen();
  void end_if_late() const;

  const Reader reader_;
  const std::chrono::milliseconds patience_;
  std::stop_source source_;
  detail::Descriptor done_;  // an eventfd: the destructor makes it readable
  detail::Descriptor signals_;
  std::atomic<bool> noticed_ = false;  // set before a signal is taken, so that one that is no longer pending is noticed
  std::thread thread_;
};

/// Whether an Interruption received a signal at least `ago` before now. Thread-safe.
[[nodiscard]] bool interrupted(std::chrono::steady_clock::duration ago = {}) noexcept;

/// Dies of the signal that an Interruption received, if any.
void die_if_interrupted() noexcept;

}  // namespace smd::tool
