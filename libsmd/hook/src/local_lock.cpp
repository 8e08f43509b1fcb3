// SPDX-License-Identifier: Apache-2.0
#include "local_lock.hpp"

#include "layout/debugger/trial_paths.hpp"
#include "text/system_problem.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

namespace smd::detail::hook {
namespace {

using Clock = std::chrono::steady_clock;

constexpr mode_t lock_file_mode = 0666;  // umask removes from it
constexpr std::chrono::milliseconds shortest_pause(1);
constexpr std::chrono::milliseconds longest_pause(20);

/// On some file systems flock(2) asks a server, and may be interrupted any number of times.
constexpr int most_attempts = 100;

void unlock(int descriptor) {
  for (int i = 0; i < most_attempts && ::flock(descriptor, LOCK_UN) != 0 && errno == EINTR; ++i) {
  }
}

/// Returns whether a later attempt to take the lock may succeed after one failed with this error.
bool may_succeed_later(int error) noexcept { return error == EWOULDBLOCK || error == EINTR; }

bool try_lock(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0; }

/// Returns 0 if the descriptor can be locked, else the errno. A lock that another process holds counts as available,
/// and so does one that could not be tried because of a signal: `take` waits for it.
int can_be_locked(int descriptor) {
  if (try_lock(descriptor)) {
    unlock(descriptor);
    return 0;
  }
  return may_succeed_later(errno) ? 0 : errno;
}

/// Opens with O_NONBLOCK, because opening a FIFO of that name would block.
Descriptor open_lock_file(int root) {
  const std::string name(layout::lock_file);
  Descriptor file(uninterrupted([&] {
    return ::openat(root, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY,
                    lock_file_mode);
  }));
  struct stat status = {};
  if (file && (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))) {
    errno = EINVAL;
    return {};
  }
  return file;
}

}  // namespace

LocalLock::LocalLock(int root, std::string path, LockPlace best) : root_(root), path_(std::move(path)) {
  int error = best == LockPlace::folder ? can_be_locked(root_) : ENOLCK;
  if (error != 0 && best != LockPlace::none) {
    file_ = open_lock_file(root_);
    error = file_ ? can_be_locked(file_.get()) : errno;
    if (file_ && error != 0) {
      ::unlinkat(root_, std::string(layout::lock_file).c_str(), 0);
    }
  }
  if (error != 0) {
    file_ = Descriptor();
    why_not_ = error_text(error);
  }
}

Outcome<OutputLock> LocalLock::take(std::chrono::nanoseconds timeout, const std::function<bool()>& stop) {
  const Clock::time_point begun = Clock::now();
  std::chrono::milliseconds pause = shortest_pause;
  const auto problem = [this](std::string text) { return Problem{ProblemKind::io, path_, {}, std::move(text)}; };
  while (!try_lock(descriptor())) {
    const int error = errno;
    if (!may_succeed_later(error)) {
      return problem("cannot be locked: " + error_text(error));
    }
    if (Clock::now() - begun >= timeout) {
      return problem(fmt::format("cannot be written: {} the trial's lock for longer than {} s",
                                 error == EINTR ? "signals have kept us from" : "another process has held",
                                 std::chrono::duration<double>(timeout).count()));
    }
    if (stop && stop()) {
      return problem("cannot be written: stopped while another process held the trial's lock");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longest_pause);
  }
  return OutputLock(this, [held = descriptor()](void*) { unlock(held); });
}

}  // namespace smd::detail::hook
