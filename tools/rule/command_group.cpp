// SPDX-License-Identifier: Apache-2.0
#include "command_group.hpp"

#include "cli/mapped.hpp"
#include "cli/number_format.hpp"
#include "cli/output_file.hpp"
#include "cli/signals.hpp"
#include "follow/following.hpp"
#include "text/descriptor.hpp"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>

extern char** environ;

namespace smd::tool::rule {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds ask_interval{50};
constexpr std::chrono::milliseconds look_interval{5};  ///< If nothing signals the end.
constexpr std::chrono::seconds time_to_end{1};         ///< After SIGTERM.

/// While an object lives, what a command had started becomes a child of this process when its own parent ends, so that
/// its end is noticed. Nothing else may wait for children meanwhile.
class Orphans {
 public:
  Orphans() noexcept { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;
  ~Orphans() { prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); }
};

/// A child that leads a process group.
class Group {
 public:
  explicit Group(pid_t leader) : leader_(leader), descriptor_(static_cast<int>(syscall(SYS_pidfd_open, leader, 0))) {}

  /// Waits for the leader until `end` at most. Returns whether it has ended.
  bool wait_for_leader(Clock::time_point end) {
    while (true) {
      reap(leader_);
      if (ended_) {
        return true;
      }
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (left.count() <= 0) {
        return false;
      }
      if (!descriptor_) {  // an older kernel, or no descriptor is left
        std::this_thread::sleep_for(std::min(left, look_interval));
      } else {
        pollfd ended = {descriptor_.get(), POLLIN, 0};
        (void)poll(&ended, 1, static_cast<int>(left.count()));
      }
    }
  }

  /// Ends the whole group by a signal, and waits for that until `end` at most. Returns whether no process is left.
  bool end_by(int number, Clock::time_point end) {
    kill(-leader_, number);
    while (reap(-leader_)) {
      if (Clock::now() >= end) {
        return false;
      }
      std::this_thread::sleep_for(look_interval);
    }
    return true;
  }

  /// The status of the leader, which has ended.
  [[nodiscard]] int status() const noexcept { return status_; }

 private:
  /// Reaps the processes that have ended; `which` selects them as in waitpid. Returns whether others are left.
  bool reap(pid_t which) {
    while (true) {
      int status = 0;
      const pid_t ended = waitpid(which, &status, WNOHANG);
      if (ended == leader_) {
        status_ = status;
        ended_ = true;
      }
      if (ended == 0) {
        return true;
      }
      if (ended < 0 && errno != EINTR) {
        ended_ = true;
        return false;
      }
    }
  }

  pid_t leader_;
  detail::Descriptor descriptor_;  // readable once the leader has ended
  bool ended_ = false;
  int status_ = 0;  // as waitpid returns it; 0 if someone else has waited for it
};

std::vector<std::string> environment_of(const ReportRecord& record) {
  const Finding& finding = *record.finding;
  std::vector<std::string> variables;
  const auto add = [&](std::string_view name, std::string_view value) {
    // No name holds NUL: neither index files nor the environment permit it.
    variables.push_back("SMD_RULE" + std::string(name) + "=" + std::string(value.substr(0, value.find('\0'))));
  };
  add("", record.result.name);
  add("_TRIAL", record.trial);
  add("_STEP", finding.step ? std::to_string(finding.step->value) : "");
  add("_MODE", finding.step ? to_string(finding.mode) : "");
  add("_TENSOR", finding.tensor.value_or(""));
  add("_WORKER", finding.worker.value_or(""));
  add("_VALUE", measured(finding) ? number_text(finding.value) : "");
  add("_MESSAGE", shown_message(finding));
  return variables;
}

void say_end(const CommandEnd& end, const TriggerCommand& trigger, Diagnostics& messages) {
  const std::string how = end.killed ? "SIGKILL, after SIGTERM" : "SIGTERM";
  if (end.reason == CommandEnd::Reason::too_long) {
    messages.warning("--on-trigger: the command took longer than " + duration_text(trigger.timeout) +
                     " (--trigger-timeout) and was ended by " + how);
  } else if (end.reason == CommandEnd::Reason::stopped) {
    messages.warning("--on-trigger: the command was still running when smd-rule had to end, and was ended by " + how);
  } else if (WIFSIGNALED(end.status)) {
    messages.warning("--on-trigger: the command was ended by signal " + std::to_string(WTERMSIG(end.status)));
  } else if (WEXITSTATUS(end.status) != 0) {
    messages.warning("--on-trigger: the command failed with status " + std::to_string(WEXITSTATUS(end.status)));
  }
}

}  // namespace

int start_group(const std::vector<std::string>& arguments, const std::vector<std::string>& variables,
                const std::vector<std::pair<int, int>>& files, pid_t& child) {
  const auto name_of = [](std::string_view variable) { return variable.substr(0, variable.find('=')); };
  const auto chars_of = [](const std::string& text) { return const_cast<char*>(text.c_str()); };
  std::vector<char*> environment = mapped(variables, chars_of);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::ranges::none_of(variables, [&](const std::string& own) { return name_of(own) == name_of(*variable); })) {
      environment.push_back(*variable);
    }
  }
  environment.push_back(nullptr);
  std::vector<char*> words = mapped(arguments, chars_of);
  words.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const auto& [here, there] : files) {
    posix_spawn_file_actions_adddup2(&actions, here, there);
  }
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const sigset_t none = signal_set({});
  const sigset_t standard = signal_set(std::array{SIGINT, SIGTERM, SIGPIPE});
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &standard);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawnp(&child, words.front(), &actions, &attributes, words.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

CommandEnd wait_for_command(pid_t child, std::chrono::nanoseconds timeout, const std::function<bool()>& stop) {
  using Reason = CommandEnd::Reason;
  Group group(child);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  while (!group.wait_for_leader(std::min(end, Clock::now() + ask_interval))) {
    const bool too_long = Clock::now() >= end;
    if (!too_long && !stop()) {
      continue;
    }
    const Orphans orphans;
    const bool killed = !group.end_by(SIGTERM, Clock::now() + time_to_end);
    if (killed) {
      (void)group.end_by(SIGKILL, Clock::now() + time_to_end);
    }
    return {too_long ? Reason::too_long : Reason::stopped, group.status(), killed};
  }
  return {Reason::itself, group.status(), false};
}

void run_on_trigger(const TriggerCommand& trigger, const ReportRecord& finding, Diagnostics& messages) {
  if (trigger.stop()) {
    messages.warning("--on-trigger: not run: smd-rule has to end");
    return;
  }
  const int memory = memfd_create("smd-rule", MFD_CLOEXEC);  // unlike a pipe, it need not be read
  int error = memory < 0 ? errno : 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(fdopen(memory, "r"), &std::fclose);  // closes it
  if (error == 0) {
    error = write_all(memory, record_json(finding, {}, 0, NonFinite::string) + "\n");
    (void)lseek(memory, 0, SEEK_SET);
  }
  pid_t child = 0;
  if (error == 0) {
    error = start_group({"/bin/sh", "-c", trigger.command}, environment_of(finding), {{memory, STDIN_FILENO}}, child);
  }
  if (error != 0) {
    messages.warning("--on-trigger: not run: " + std::generic_category().message(error));
    return;
  }
  say_end(wait_for_command(child, trigger.timeout, trigger.stop), trigger, messages);
}

}  // namespace smd::tool::rule
