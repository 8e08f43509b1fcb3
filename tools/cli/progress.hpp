// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace smd::tool {

/// A line on standard error that says how far the work is: from one second after the start, at most ten times a second,
/// erased at the end, before each message, and before rows on a terminal. `configure` decides whether it is shown. At
/// most one is shown at a time; used from one thread at a time.
class Progress {
 public:
  /// `what`: `reading`. `total` 0: unknown.
  Progress(std::string_view what, std::uint64_t total);
  /// The same with a total that is costly to find: `total` is called once, when the line is first shown.
  Progress(std::string_view what, std::function<std::uint64_t()> total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void advance(std::uint64_t steps = 1) {
    done_ += steps;
    if (shown_) {
      update();
    }
  }
  /// Sets what is done, and the total. If the total changes, or `done` has not grown, this is other work, which starts
  /// now.
  void at(std::uint64_t done, std::uint64_t total);
  /// While one lives, a Progress that is made shows nothing: the work around it has a line of its own.
  class Silence {
   public:
    Silence() noexcept;
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
    ~Silence();
  };
  /// Sets what --progress, --no-progress and -q ask for; nullopt: shown if standard error is a terminal.
  static void configure(std::optional<bool> wanted) noexcept;
  /// Wipes the line if it is there; for Diagnostics and OutputFile.
  static void erase_line();

 private:
  void update();

  std::string what_;
  std::uint64_t total_;
  std::function<std::uint64_t()> find_total_;  // null once called
  std::uint64_t done_ = 0;
  bool shown_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace smd::tool
