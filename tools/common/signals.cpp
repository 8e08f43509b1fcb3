// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstring>

namespace smd::tool {

namespace {

// A handler may only touch memory that is already there.
struct Slot {
  std::atomic<bool> used{false};
  char path[PATH_MAX] = {};
};
constinit std::array<Slot, 8> slots;

void remove_files() noexcept {
  for (Slot& slot : slots) {
    if (slot.used.load(std::memory_order_acquire)) {
      unlink(slot.path);
    }
  }
}

extern "C" void end_by_signal(int number) {
  remove_files();
  // Kills the process as soon as the handler returns: until then the signal is blocked.
  signal(number, SIG_DFL);
  raise(number);
}

}  // namespace

void install_signal_handlers() noexcept {
  for (const int number : ending_signals) {
    struct sigaction old = {};
    // Whoever started us with the signal ignored (nohup, a shell's background job) wants it so.
    if (sigaction(number, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) {
      struct sigaction action = {};
      action.sa_handler = end_by_signal;
      sigfillset(&action.sa_mask);
      sigaction(number, &action, nullptr);
    }
  }
  struct sigaction action = {};
  action.sa_handler = end_by_signal;
  sigfillset(&action.sa_mask);
  sigaction(SIGPIPE, &action, nullptr);
  sigset_t pipe_only;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  sigprocmask(SIG_UNBLOCK, &pipe_only, nullptr);
}

void end_process_by(int number) noexcept {
  remove_files();
  signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  // To the process: a thread that dies of it takes all others with it.
  kill(getpid(), number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  raise(number);
  _exit(128 + number);
}

bool remove_on_signal(const std::string& path) noexcept {
  if (path.size() >= PATH_MAX) {
    return false;
  }
  for (Slot& slot : slots) {
    if (!slot.used.load(std::memory_order_relaxed)) {
      std::memcpy(slot.path, path.c_str(), path.size() + 1);
      slot.used.store(true, std::memory_order_release);
      return true;
    }
  }
  return false;
}

void forget_on_signal(const std::string& path) noexcept {
  for (Slot& slot : slots) {
    if (slot.used.load(std::memory_order_relaxed) && path == slot.path) {
      slot.used.store(false, std::memory_order_release);
    }
  }
}

}  // namespace smd::tool
