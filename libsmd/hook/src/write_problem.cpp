// SPDX-License-Identifier: Apache-2.0
#include "write_problem.hpp"

#include "storage/system_problem.hpp"

#include <cerrno>
#include <string_view>
#include <utility>

namespace smd::detail::hook {

Problem write_problem(int error, std::string file) {
  const auto refused = [&file](ProblemKind kind, std::string_view why) {
    return Problem{kind, std::move(file), {}, "cannot be written: " + std::string(why)};
  };
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return refused(ProblemKind::io, "no space is left there; free some");
    case EFBIG:
      return refused(ProblemKind::io, "larger than files may be here; see ulimit -f");
    case EROFS:
      return refused(ProblemKind::access_denied, "the file system is read-only");
    case EISDIR:
    case ENOTEMPTY:
    case EEXIST:
      return refused(ProblemKind::io, "a directory is in its place");
    case ENOTDIR:
      return refused(ProblemKind::io, "a part of the path is not a directory");
    case ENOENT:
      return refused(ProblemKind::not_found, "its folder is gone, or is a symbolic link to nothing");
    case EXDEV:
      return refused(ProblemKind::io,
                     "a symbolic link leads out of the trial's directory; put a directory there, or save to where it "
                     "leads");
    default:
      break;
  }
  Problem problem = storage::system_problem(error, std::move(file));
  constexpr std::string_view of_reading = "cannot be read: ";
  if (problem.text.starts_with(of_reading)) {
    problem.text.replace(0, of_reading.size(), "cannot be written: ");
  }
  if (problem.kind == ProblemKind::damaged) {
    problem.kind = ProblemKind::io;
  }
  return problem;
}

}  // namespace smd::detail::hook
