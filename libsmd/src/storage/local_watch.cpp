// SPDX-License-Identifier: Apache-2.0
#include "storage/local_watch.hpp"

#include "storage/descriptor.hpp"
#include "storage/inotify_tree.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <optional>

namespace smd::detail::storage {
namespace {

using Clock = std::chrono::steady_clock;

/// Looks each `poll_interval` at the latest: no event tells of what another machine wrote, and events get lost.
class LocalWatch final : public Watch {
 public:
  LocalWatch(std::shared_ptr<LocalRoot> root, bool inotify, std::chrono::milliseconds poll_interval)
      : root_(std::move(root)),
        interval_(std::max(poll_interval, std::chrono::milliseconds(1))),
        next_look_(Clock::now() + interval_),
        wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (inotify) {
      tree_.emplace(root_);
    }
  }

  bool wait_until(Clock::time_point deadline) override {
    while (true) {
      if (woken_.exchange(false)) {
        return false;
      }
      const auto now = Clock::now();
      if (now >= next_look_) {
        look_at_root();
        return changed(now);
      }
      std::array<pollfd, 2> fds{{{wake_.get(), POLLIN, 0}, {tree_ ? tree_->fd() : -1, POLLIN, 0}}};
      const int ready = ::poll(fds.data(), fds.size(),
                               timeout(std::max(Clock::duration::zero(), std::min(deadline, next_look_) - now)));
      if (ready > 0 && fds[0].revents != 0) {
        drain_wake();  // Only then is `woken_` looked at: it is set before the write, so no wake-up is lost.
      }
      if (ready > 0 && fds[1].revents != 0 && tree_->take_events()) {
        look_at_root();
        return changed(Clock::now());
      }
      if (now >= deadline && !woken_.load()) {  // After the poll: a passed deadline asks what is there already.
        return false;
      }
    }
  }

  void wake() noexcept override {
    woken_.store(true);
    const int saved = errno;  // A signal handler must leave it as it was.
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
    errno = saved;
  }

  [[nodiscard]] std::string method() const override {
    if (!tree_) {
      return "polling (inotify not asked for)";
    }
    return tree_->why_not().empty() ? "inotify" : "polling (" + tree_->why_not() + ")";
  }

 private:
  [[nodiscard]] int timeout(Clock::duration left) const noexcept {
    // Without an eventfd (no descriptor left) wake() is noticed by looking often.
    constexpr std::chrono::milliseconds slice(50);
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left);
    return static_cast<int>(
        std::min<std::chrono::milliseconds::rep>(wake_ ? ms.count() : std::min(ms, slice).count(), INT_MAX));
  }

  bool changed(Clock::time_point now) {
    next_look_ = now + interval_;
    return true;
  }

  void look_at_root() {
    if (root_->reopen_if_removed() && tree_) {
      tree_->rebuild();
    }
  }

  void drain_wake() noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof count);
  }

  std::shared_ptr<LocalRoot> root_;
  std::chrono::milliseconds interval_;
  Clock::time_point next_look_;
  Descriptor wake_;
  std::atomic<bool> woken_ = false;
  std::optional<InotifyTree> tree_;
};

static_assert(std::atomic<bool>::is_always_lock_free, "wake() is called from signal handlers");

}  // namespace

std::unique_ptr<Watch> watch_local(std::shared_ptr<LocalRoot> root, bool inotify,
                                   std::chrono::milliseconds poll_interval) {
  return std::make_unique<LocalWatch>(std::move(root), inotify, poll_interval);
}

}  // namespace smd::detail::storage
