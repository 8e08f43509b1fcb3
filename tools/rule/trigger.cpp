// SPDX-License-Identifier: Apache-2.0
#include "trigger.hpp"

#include "cli/number_format.hpp"
#include "command_group.hpp"
#include "follow/following.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

namespace smd::tool::rule {

namespace {

/// An open file without a name that holds a text: unlike a pipe, it need not be read.
class TextFile {
 public:
  explicit TextFile(std::string_view text) : descriptor_(memfd_create("smd-rule", MFD_CLOEXEC)) {
    while (descriptor_ >= 0 && !text.empty()) {
      const ssize_t written = write(descriptor_, text.data(), text.size());
      if (written < 0 && errno != EINTR) {
        close(descriptor_);
        descriptor_ = -1;
      } else if (written > 0) {
        text.remove_prefix(static_cast<std::size_t>(written));
      }
    }
    if (descriptor_ >= 0) {
      lseek(descriptor_, 0, SEEK_SET);
    }
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
  }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
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
  add("_VALUE", measured(finding) ? number_text(finding.value) : "");
  add("_MESSAGE", finding.message);
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

void run_on_trigger(const TriggerCommand& trigger, const ReportRecord& finding, Diagnostics& messages) {
  if (trigger.stop()) {
    messages.warning("--on-trigger: not run: smd-rule has to end");
    return;
  }
  const TextFile input(record_json(finding, {}, 0, NonFinite::string) + "\n");
  if (input.descriptor() < 0) {
    messages.warning("--on-trigger: not run: " + std::generic_category().message(errno));
    return;
  }
  pid_t child = 0;
  if (const int error = start_group({"/bin/sh", "-c", trigger.command}, environment_of(finding),
                                    {{input.descriptor(), STDIN_FILENO}}, child);
      error != 0) {
    messages.warning("--on-trigger: not run: " + std::generic_category().message(error));
    return;
  }
  say_end(wait_for_command(child, trigger.timeout, trigger.stop), trigger, messages);
}

}  // namespace smd::tool::rule
