// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.hpp"

#include "cli/exit_status.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <typeinfo>

namespace smd::tool {

namespace {

// A handler may only touch memory that exists already and stays: slots are reused, never freed.
struct Slot {
  std::atomic<bool> used{false};
  Slot* next = nullptr;  // set before others see the slot
  char path[PATH_MAX] = {};
};
constinit Slot first_slot;
constinit std::atomic<Slot*> slots{&first_slot};
constinit std::mutex registering;

Slot* free_slot() noexcept {
  for (Slot* slot = slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    if (!slot->used.load(std::memory_order_relaxed)) {
      return slot;
    }
  }
  auto* const added = new (std::nothrow) Slot;
  if (added != nullptr) {
    added->next = slots.load(std::memory_order_relaxed);
    slots.store(added, std::memory_order_release);
  }
  return added;
}

/// Removes the files registered with `remove_on_signal`; callable from a signal handler.
void remove_temporary_files() noexcept {
  for (Slot* slot = slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    if (slot->used.load(std::memory_order_acquire)) {
      unlink(slot->path);
    }
  }
}

extern "C" void ignore_signal(int) {}

extern "C" void end_by_signal(int number) {
  remove_temporary_files();
  // Kills the process as soon as the handler returns; until then the signal is blocked.
  signal(number, SIG_DFL);
  raise(number);
}

std::terminate_handler otherwise = nullptr;

/// Whether the process ends because memory ran out: of bad_alloc, or as no exception could be allocated.
bool memory_ran_out() noexcept {
  if (const std::type_info* const type = abi::__cxa_current_exception_type()) {
    return *type == typeid(std::bad_alloc);
  }
  constexpr std::size_t more_than_an_exception = std::size_t{128} << 10;
  void* const volatile probe = std::malloc(more_than_an_exception);  // NOLINT: there may be no room for an exception
  std::free(probe);                                                  // NOLINT
  return probe == nullptr;
}

void say(const char* text) noexcept {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void end_process() noexcept {
  if (memory_ran_out()) {
    say(program_invocation_short_name);
    say(": ReadError: not enough memory\n");
    remove_temporary_files();
    _exit(static_cast<int>(ExitStatus::unreadable));
  }
  if (otherwise != nullptr) {
    otherwise();
  }
  std::abort();
}

/// If memory does not even suffice for an exception, the language ends the process by a signal. A program that links
/// this file prints a message instead, removes temporary files and exits with status 3. Runs before its own static
/// initialisation, which allocates memory too.
[[gnu::constructor(101)]] void install_last_resort() noexcept { otherwise = std::set_terminate(end_process); }

}  // namespace

sigset_t signal_set(std::span<const int> numbers) noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) {
    sigaddset(&set, number);
  }
  return set;
}

void install_signal_handlers() noexcept {
  struct sigaction action = {};
  action.sa_handler = end_by_signal;
  sigfillset(&action.sa_mask);
  for (const int number : ending_signals) {
    struct sigaction old = {};
    // A signal that was ignored at the start (nohup, a shell's background job) stays ignored.
    if (sigaction(number, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) {
      sigaction(number, &action, nullptr);
    }
  }
  sigaction(SIGPIPE, &action, nullptr);
  // Writing then fails with EFBIG, which is reported, and temporary files are removed. Not SIG_IGN: commands that we
  // run would inherit that.
  action.sa_handler = ignore_signal;
  sigaction(SIGXFSZ, &action, nullptr);
  const sigset_t pipe_only = signal_set(std::array{SIGPIPE});
  sigprocmask(SIG_UNBLOCK, &pipe_only, nullptr);
}

void end_process_by(int number) noexcept {
  registering.lock();
  remove_temporary_files();
  signal(number, SIG_DFL);
  const sigset_t only = signal_set({&number, 1});
  // Sent to the process; if any thread dies of it, all others die too.
  kill(getpid(), number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  raise(number);
  _exit(128 + number);
}

bool remove_on_signal(std::string_view path) noexcept {
  const std::lock_guard lock(registering);
  Slot* const slot = path.size() < PATH_MAX ? free_slot() : nullptr;
  if (slot == nullptr) {
    return false;
  }
  std::memcpy(slot->path, path.data(), path.size());
  slot->path[path.size()] = '\0';
  slot->used.store(true, std::memory_order_release);
  return true;
}

void forget_on_signal(std::string_view path) noexcept {
  const std::lock_guard lock(registering);
  for (Slot* slot = slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    if (slot->used.load(std::memory_order_relaxed) && path == slot->path) {
      slot->used.store(false, std::memory_order_release);
    }
  }
}

bool provide_stack() noexcept {
  constexpr std::size_t least = std::size_t{least_stack_kib} * 1024;
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least) {
    return true;
  }
  limit.rlim_cur = least;
  if (setrlimit(RLIMIT_STACK, &limit) != 0) {  // above the hard limit
    return false;
  }
  // New threads would still get the limit that held when the program began.
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) {
    return false;
  }
  const bool set = pthread_attr_setstacksize(&attributes, least) == 0 && pthread_setattr_default_np(&attributes) == 0;
  pthread_attr_destroy(&attributes);
  return set;
}

}  // namespace smd::tool
