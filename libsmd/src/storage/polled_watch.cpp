// SPDX-License-Identifier: Apache-2.0
#include "storage/polled_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <utility>

namespace smd::detail::storage {

using Clock = std::chrono::steady_clock;

static_assert(std::atomic<bool>::is_always_lock_free, "wake() is called from signal handlers");

PolledWatch::PolledWatch(std::chrono::milliseconds poll_interval, std::string method)
    : interval_(std::max(poll_interval, std::chrono::milliseconds(1))),
      next_look_(Clock::now() + interval_),
      method_(std::move(method)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

bool PolledWatch::wait_until(Clock::time_point deadline) {
  while (true) {
    if (woken_.exchange(false)) {
      return false;
    }
    const auto now = Clock::now();
    if (now >= next_look_) {
      look();
      return changed(now);
    }
    std::array<pollfd, 2> fds{{{wake_.get(), POLLIN, 0}, {events(), POLLIN, 0}}};
    const int ready = ::poll(fds.data(), fds.size(),
                             timeout(std::max(Clock::duration::zero(), std::min(deadline, next_look_) - now)));
    if (ready > 0 && fds[0].revents != 0) {
      drain_wake();  // Before `woken_` is checked, which is set before the write: so no wake-up is lost.
    }
    if (ready > 0 && fds[1].revents != 0 && take_events()) {
      look();
      return changed(Clock::now());
    }
    if (now >= deadline && !woken_.load()) {  // After the poll: a past deadline still reports pending events.
      return false;
    }
  }
}

void PolledWatch::wake() noexcept {
  woken_.store(true);
  const int saved = errno;  // A signal handler must not change it.
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  errno = saved;
}

int PolledWatch::timeout(Clock::duration left) const noexcept {
  // Without an eventfd (no descriptor left), short polls notice wake().
  constexpr std::chrono::milliseconds slice(50);
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left);
  return static_cast<int>(
      std::min<std::chrono::milliseconds::rep>(wake_ ? ms.count() : std::min(ms, slice).count(), INT_MAX));
}

bool PolledWatch::changed(Clock::time_point now) {
  next_look_ = now + interval_;
  return true;
}

void PolledWatch::drain_wake() noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof count);
}

}  // namespace smd::detail::storage
