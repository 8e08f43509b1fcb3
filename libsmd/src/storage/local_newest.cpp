// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "storage/local_file.hpp"
#include "storage/local_storage.hpp"
#include "storage/system_problem.hpp"

namespace smd::detail::storage {
namespace {

using Time = std::chrono::system_clock::time_point;

/// Adds the files in an open folder to `totals` and appends the paths of its subfolders to `folders`. Ignores what is
/// removed meanwhile. Does not follow links.
Status visit(Descriptor fd, const std::string& folder, Storage::FileTotals& totals, std::vector<std::string>& folders) {
  const std::unique_ptr<DIR, CloseDir> dir(::fdopendir(fd.get()));
  if (dir == nullptr) {
    return system_problem(errno, folder);
  }
  const int dir_fd = fd.release();  // closedir closes it.
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(dir.get());
    if (entry == nullptr && errno == EINTR) {
      continue;
    }
    if (entry == nullptr) {
      return errno == 0 ? ok() : Status(system_problem(errno, folder));
    }
    const std::string_view name(entry->d_name);
    struct stat status;
    if (name == "." || name == ".." ||
        uninterrupted([&] { return ::fstatat(dir_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW); }) != 0) {
      continue;
    }
    if (S_ISDIR(status.st_mode)) {
      folders.push_back(folder.empty() ? std::string(name) : folder + '/' + std::string(name));
    } else if (S_ISREG(status.st_mode)) {
      totals.newest = std::max(totals.newest, std::optional(written_at(status)));
      totals.bytes += static_cast<std::uint64_t>(status.st_size);
    }
  }
}

}  // namespace

Outcome<Storage::FileTotals> LocalRoot::totals_below(std::string_view folder) const {
  if (const auto refused = refuse_path(folder); !refused.empty()) {
    return Problem{ProblemKind::damaged, std::string(folder), {}, std::string(refused)};
  }
  const auto root = anchor();
  Storage::FileTotals totals;
  std::vector<std::string> folders{std::string(folder)};
  while (!folders.empty()) {
    const std::string path = std::move(folders.back());
    folders.pop_back();
    Descriptor fd = open_beneath(root->fd.get(), root->resolve, path, O_RDONLY | O_DIRECTORY);
    if (!fd && errno == ENOENT) {
      continue;
    }
    if (!fd) {
      return system_problem(errno, path);
    }
    if (Status visited = visit(std::move(fd), path, totals, folders); !visited) {
      return std::move(visited.problem());
    }
  }
  return totals;
}

}  // namespace smd::detail::storage
