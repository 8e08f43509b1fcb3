// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include "cli/output_file.hpp"
#include "cli/terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace smd::tool {

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> line_is_there = false;  // several trials may be followed at once
std::optional<bool> configured;
std::atomic<int> silences = 0;

// A display only: if it cannot be written, nothing is lost.
void put(std::string_view text) noexcept { (void)write_all(STDERR_FILENO, text, false); }

}  // namespace

void Progress::configure(std::optional<bool> wanted) noexcept { configured = wanted; }

Progress::Progress(std::string_view what, std::uint64_t total)
    : what_(what),
      total_(total),
      shown_(silences == 0 && configured.value_or(is_terminal(STDERR_FILENO))),
      next_(Clock::now() + std::chrono::seconds(1)) {}

Progress::Progress(std::string_view what, std::function<std::uint64_t()> total) : Progress(what, 0) {
  find_total_ = std::move(total);
}

Progress::~Progress() {
  if (shown_) {
    erase_line();
  }
}

Progress::Silence::Silence() noexcept { ++silences; }
Progress::Silence::~Silence() { --silences; }

void Progress::at(std::uint64_t done, std::uint64_t total) {
  if (shown_ && done_ > 0 && (total != total_ || done <= done_)) {  // a followed job adds work now and then
    erase_line();
    next_ = Clock::now() + std::chrono::seconds(1);
  }
  total_ = total;
  done_ = 0;
  advance(done);
}

void Progress::erase_line() {
  if (line_is_there.exchange(false)) {
    put("\r\x1b[K");
  }
}

void Progress::update() {
  const Clock::time_point now = Clock::now();
  if (now < next_) {
    return;
  }
  next_ = now + std::chrono::milliseconds(100);
  if (find_total_) {
    total_ = std::exchange(find_total_, nullptr)();
  }
  std::string line = "\r" + what_ + " " + std::to_string(done_);
  if (total_ > 0) {
    line += " of " + std::to_string(total_) + " (" + std::to_string(std::min(done_, total_) * 100 / total_) + "%)";
  }
  put(line + "\x1b[K");
  line_is_there = true;
}

}  // namespace smd::tool
