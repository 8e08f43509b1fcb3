// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_status.hpp"

#include "cli/diagnostics.hpp"

#include <algorithm>

namespace smd::tool {

ExitStatus combine(ExitStatus a, ExitStatus b) noexcept {
  return *std::ranges::find_if(exit_status_order, [&](ExitStatus status) { return status == a || status == b; });
}

// The only table of messages' tags, and of the exit statuses of library errors.

namespace {

// NoMoreData is "no" for a command that asks for a step; smd-wait, which waits for it, has a status of its own.
constexpr std::array<MessageTag, 18> tags = {{
    {"TensorUnavailable", ExitStatus::no, "no tensor of that name was saved, or nothing is selected"},
    {"TensorUnavailableForStep", ExitStatus::no, "the tensor, or its value, was not saved at that step"},
    {"StepUnavailable", ExitStatus::no, "the step was skipped"},
    {"StepNotYetAvailable", ExitStatus::no, "the step may still come: the job runs; status 5 of smd-rule"},
    {"NoMoreData", ExitStatus::no, "the job ended before the step came; status 6 of smd-wait, 5 of smd-rule"},
    {"InvalidWorker", ExitStatus::no, "no such worker, or it did not save what is asked for"},
    {"StepAlreadySaved", ExitStatus::no, "smd-save: that worker has saved that step before"},
    {"Usage", ExitStatus::usage, "an option, a pattern, a rule, a parameter or a configuration is wrong"},
    {"NotFound", ExitStatus::unreadable,
     "no such file, folder or bucket; status 1 of a collection that is not defined"},
    {"MissingCollectionFiles", ExitStatus::unreadable, "no trial, or its job has saved nothing so far"},
    {"AccessDenied", ExitStatus::unreadable, "the system, or S3, refuses access"},
    {"Network", ExitStatus::unreadable, "S3 did not answer, or not sensibly"},
    {"ReadError", ExitStatus::unreadable, "reading failed, or memory or descriptors ran out"},
    {"WriteError", ExitStatus::unreadable, "results, or files of a trial, cannot be written"},
    {"Damaged", ExitStatus::damaged, "a file or a record is not what it claims to be"},
    {"Timeout", ExitStatus::timed_out, "--timeout or --idle is over"},
    // Never printed by a command.
    {"RuleEvaluationConditionMet", ExitStatus::no, ""},
    {"IndexReaderException", ExitStatus::damaged, ""},
}};

}  // namespace

std::span<const MessageTag> message_tags() noexcept { return tags; }

ExitStatus status_of(ProblemKind kind) noexcept {
  switch (kind) {
    case ProblemKind::not_yet:
    case ProblemKind::absent:
      return ExitStatus::no;
    case ProblemKind::not_found:
    case ProblemKind::access_denied:
    case ProblemKind::io:
    case ProblemKind::network:
      return ExitStatus::unreadable;
    case ProblemKind::damaged:
      return ExitStatus::damaged;
    case ProblemKind::stopped:
      return ExitStatus::timed_out;
    case ProblemKind::warning:
    case ProblemKind::note:
    case ProblemKind::remark:
    case ProblemKind::other_trial:
      return ExitStatus::yes;
  }
  return ExitStatus::unreadable;
}

ExitStatus status_of(const Error& error) noexcept {
  if (const auto* read = dynamic_cast<const ReadError*>(&error)) {
    return status_of(read->problem.kind);
  }
  const auto* const row = std::ranges::find(tags, error.tag(), &MessageTag::tag);
  return row == tags.end() ? ExitStatus::unreadable : row->status;
}

}  // namespace smd::tool
