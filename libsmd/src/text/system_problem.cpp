// SPDX-License-Identifier: Apache-2.0
#include "text/system_problem.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "text/ascii.hpp"

namespace smd::detail {
namespace {

struct KnownError {
  int error;
  ProblemKind kind;
  std::string_view text;
};

// clang-format off
constexpr KnownError known_errors[] = {
    {ENOENT, ProblemKind::not_found, "no such file or directory"},
    {EACCES, ProblemKind::access_denied, "permission denied; see who owns it with ls -l"},
    {EPERM, ProblemKind::access_denied, "permission denied; see who owns it with ls -l"},
    {EXDEV, ProblemKind::damaged, "leads out of the trial's directory; put the file itself there, not a link"},
    {ELOOP, ProblemKind::damaged, "symbolic links go round in circles, or are too many"},
    {ENOTDIR, ProblemKind::damaged, "a part of the path is not a directory"},
    {ENXIO, ProblemKind::damaged, "is a socket or device, not a regular file"},
    {ENODEV, ProblemKind::damaged, "is a socket or device, not a regular file"},
    {ESPIPE, ProblemKind::damaged, "is a socket or device, not a regular file"},
    {ENAMETOOLONG, ProblemKind::damaged, "the name is longer than the file system allows"},
    {EMFILE, ProblemKind::io, "too many open files in this process; raise ulimit -n"},
    {ENFILE, ProblemKind::io, "too many open files in the whole system"},
    {ENOMEM, ProblemKind::io, "memory ran out"},
    {ESTALE, ProblemKind::io, "the file server no longer knows this file (stale handle); try again"},
};
// clang-format on

}  // namespace

std::string error_text(int error) { return std::generic_category().message(error); }

Problem system_problem(int error, std::string file) {
  const auto* const known = std::ranges::find(known_errors, error, &KnownError::error);
  if (known != std::end(known_errors)) {
    return {known->kind, std::move(file), {}, std::string(known->text)};
  }
  std::string text = error_text(error);
  // Only a capitalised word becomes lower case: names such as "RPC" stay.
  if (text.size() > 1 && text::is_upper(text[0]) && text::is_lower(text[1])) {
    text[0] = text::to_lower(text[0]);
  }
  return {ProblemKind::io, std::move(file), {}, "cannot be read: " + text};
}

}  // namespace smd::detail
