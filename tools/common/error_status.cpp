// SPDX-License-Identifier: Apache-2.0
// The one table from library errors to exit statuses.
#include "diagnostics.hpp"

#include <array>

namespace smd::tool {

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
    case ProblemKind::warning:
    case ProblemKind::note:
      return ExitStatus::yes;
  }
  return ExitStatus::unreadable;
}

ExitStatus status_of(const Error& error) noexcept {
  if (const auto* read = dynamic_cast<const ReadError*>(&error)) {
    return status_of(read->problem.kind);
  }
  struct Row {
    std::string_view tag;
    ExitStatus status;
  };
  // NoMoreData is "no" to whoever asks for a step; smd-wait, which waits for it, has a status of its own.
  static constexpr std::array<Row, 11> rows = {{{"Usage", ExitStatus::usage},
                                                {"StepAlreadySaved", ExitStatus::no},
                                                {"TensorUnavailable", ExitStatus::no},
                                                {"TensorUnavailableForStep", ExitStatus::no},
                                                {"StepUnavailable", ExitStatus::no},
                                                {"StepNotYetAvailable", ExitStatus::no},
                                                {"NoMoreData", ExitStatus::no},
                                                {"RuleEvaluationConditionMet", ExitStatus::no},
                                                {"InvalidWorker", ExitStatus::no},
                                                {"MissingCollectionFiles", ExitStatus::unreadable},
                                                {"IndexReaderException", ExitStatus::damaged}}};
  for (const Row& row : rows) {
    if (row.tag == error.tag()) {
      return row.status;
    }
  }
  return ExitStatus::unreadable;
}

}  // namespace smd::tool
