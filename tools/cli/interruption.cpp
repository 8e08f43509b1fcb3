// SPDX-License-Identifier: Apache-2.0
#include "cli/interruption.hpp"

#include "cli/signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace smd::tool {

namespace {

std::atomic<int> interrupted_by{0};
std::atomic<std::chrono::steady_clock::rep> interrupted_at{0};  // set before interrupted_by

std::atomic<std::clock_t> worked_until_then{0};

// The processor time of all threads, in milliseconds.
std::clock_t processor_time() { return std::clock() / (CLOCKS_PER_SEC / 1000); }

// Signals that were ignored at the start stay ignored (nohup).
sigset_t signals_to_take() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : ending_signals) {
    struct sigaction old = {};
    if (sigaction(number, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) {
      sigaddset(&set, number);
    }
  }
  return set;
}

// Only for pipes and sockets does the system report that the reader is gone.
bool may_lose_reader(int descriptor) {
  struct stat status = {};
  return fstat(descriptor, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

}  // namespace

Interruption::Interruption(Reader reader, std::chrono::milliseconds patience)
    : reader_(reader), patience_(patience), done_(eventfd(0, EFD_CLOEXEC)) {
  const sigset_t ending = signals_to_take();
  signals_ = detail::Descriptor(signalfd(-1, &ending, SFD_CLOEXEC));
  if (!done_ || !signals_) {
    return;  // no descriptor left: signals keep their default action
  }
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  thread_ = std::thread([this] { listen(); });
}

Interruption::~Interruption() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(done_.get(), &one, sizeof one);
    thread_.join();
    const sigset_t ending = signals_to_take();
    pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
  }
}

bool Interruption::asked() const noexcept {
  sigset_t pending = {};
  const bool waits = sigpending(&pending) == 0 && std::ranges::any_of(ending_signals, [&](int number) {
                       return sigismember(&pending, number) == 1;
                     });
  return waits || noticed_;
}

// A process that is not given a processor must still have time to end properly.
void Interruption::end_if_late() const {
  constexpr int times_while_waiting = 30;
  if (interrupted(patience_) && (processor_time() - worked_until_then.load() >= patience_.count() / 2 ||
                                 interrupted(times_while_waiting * patience_))) {
    end_process_by(interrupted_by);
  }
}

void Interruption::listen() {
  constexpr int look_ms = 20;
  const bool watched = reader_ == Reader::needed && may_lose_reader(STDOUT_FILENO);
  std::array<pollfd, 3> fds = {
      {{done_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}, {watched ? STDOUT_FILENO : -1, 0, 0}}};
  while (true) {
    if (poll(fds.data(), fds.size(), interrupted() ? look_ms : -1) < 0) {
      continue;
    }
    end_if_late();
    if (fds[0].revents != 0) {
      return;
    }
    if ((fds[2].revents & POLLERR) != 0) {
      end_process_by(SIGPIPE);
    }
    if (fds[1].revents != 0) {
      noticed_ = true;
      signalfd_siginfo info = {};
      if (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const int number = static_cast<int>(info.ssi_signo);
        if (interrupted_by.load() == 0) {
          interrupted_at = std::chrono::steady_clock::now().time_since_epoch().count();
          worked_until_then = processor_time();
        }
        if (interrupted_by.exchange(number) != 0) {
          end_process_by(number);
        }
        source_.request_stop();
      }
    }
  }
}

bool interrupted(std::chrono::steady_clock::duration ago) noexcept {
  using Clock = std::chrono::steady_clock;
  return interrupted_by.load() != 0 && Clock::now().time_since_epoch() - Clock::duration(interrupted_at.load()) >= ago;
}

void die_if_interrupted() noexcept {
  if (const int number = interrupted_by.load(); number != 0) {
    end_process_by(number);
  }
}

}  // namespace smd::tool
