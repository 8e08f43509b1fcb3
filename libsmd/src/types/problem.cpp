// SPDX-License-Identifier: Apache-2.0
#include <smd/problem.hpp>

#include "text/escape.hpp"

namespace smd {

namespace {

/// Messages show paths in full, so that they can be copied. The limit is Linux's PATH_MAX.
constexpr std::size_t longest_path = 4096;

}  // namespace

std::string_view to_string(ProblemKind kind) noexcept {
  switch (kind) {
    case ProblemKind::not_yet:
      return "NotYet";
    case ProblemKind::absent:
      return "Absent";
    case ProblemKind::not_found:
      return "NotFound";
    case ProblemKind::access_denied:
      return "AccessDenied";
    case ProblemKind::io:
      return "ReadError";
    case ProblemKind::network:
      return "Network";
    case ProblemKind::damaged:
      return "Damaged";
    case ProblemKind::warning:
      return "Warning";
    case ProblemKind::note:
      return "Note";
    case ProblemKind::stopped:
      return "Stopped";
    case ProblemKind::remark:
      return "Remark";
    case ProblemKind::other_trial:
      return "OtherTrial";
  }
  return "unknown";
}

std::string to_string(const Problem& problem) {
  std::string text;
  if (!problem.file.empty()) {
    text += detail::printable(problem.file, longest_path) + ": ";
  }
  if (problem.offset) {
    text += "byte " + std::to_string(*problem.offset) + ": ";
  }
  return text + problem.text;
}

}  // namespace smd
