// SPDX-License-Identifier: Apache-2.0
#include "storage/system_problem.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "storage/storage.hpp"

namespace smd::detail::storage {
namespace {

constexpr std::string_view no_more_descriptors = "too many open files";

}  // namespace

std::string error_text(int error) { return std::generic_category().message(error); }

Problem system_problem(int error, std::string file) {
  const auto problem = [&file](ProblemKind kind, std::string text) {
    return Problem{kind, std::move(file), {}, std::move(text)};
  };
  switch (error) {
    case ENOENT:
      return problem(ProblemKind::not_found, "no such file or directory");
    case EACCES:
    case EPERM:
      return problem(ProblemKind::access_denied, "permission denied; see who owns it with ls -l");
    case EXDEV:
      return problem(ProblemKind::damaged, "leads out of the trial's directory; put the file itself there, not a link");
    case ELOOP:
      return problem(ProblemKind::damaged, "symbolic links go round in circles, or are too many");
    case ENOTDIR:
      return problem(ProblemKind::damaged, "a part of the path is not a directory");
    case ENXIO:
    case ENODEV:
    case ESPIPE:
      return problem(ProblemKind::damaged, "is a socket or device, not a regular file");
    case ENAMETOOLONG:
      return problem(ProblemKind::damaged, "the name is longer than the file system allows");
    case EMFILE:
      return problem(ProblemKind::io, std::string(no_more_descriptors) + " in this process; raise ulimit -n");
    case ENFILE:
      return problem(ProblemKind::io, std::string(no_more_descriptors) + " in the whole system");
    case ENOMEM:
      return problem(ProblemKind::io, "memory ran out");
    case ESTALE:
      return problem(ProblemKind::io, "the file server no longer knows this file (stale handle); try again");
    default:
      break;
  }
  std::string text = error_text(error);
  // Only a capitalised word becomes lower case: names such as "RPC" stay.
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return problem(ProblemKind::io, "cannot be read: " + text);
}

bool too_many_open_files(const Problem& problem) noexcept {
  return problem.kind == ProblemKind::io &&
         std::string_view(problem.text).substr(0, no_more_descriptors.size()) == no_more_descriptors;
}

}  // namespace smd::detail::storage
