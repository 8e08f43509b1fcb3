// SPDX-License-Identifier: Apache-2.0
#include "storage/local_storage.hpp"

#include "base/parallel.hpp"
#include "storage/inotify_tree.hpp"
#include "storage/local_file.hpp"
#include "storage/system_problem.hpp"

#include <smd/limits.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace smd::detail::storage {

namespace {

// Not Boost's: that library would have to be loaded at each start of a command.
namespace fs = std::filesystem;

/// Returns whether `inner` is `outer` or is in it. Precondition: both are without links.
bool lies_in(const fs::path& inner, const fs::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

class LocalStorage final : public Storage {
 public:
  LocalStorage(std::shared_ptr<LocalRoot> root, bool inotify) : root_(std::move(root)), inotify_(inotify) {}

  Outcome<std::vector<DirEntry>> list(std::string_view folder) override { return root_->list(folder); }
  Outcome<std::vector<DirEntry>> list_some(std::string_view folder, std::size_t most) override {
    return root_->list(folder, most);
  }

  Outcome<ListedFolder> open_listed(std::string_view folder) override { return root_->open_listed(folder); }

  std::optional<FolderStamp> stamp(std::string_view folder) override { return root_->stamp(folder); }

  std::optional<FolderIdentity> identity(std::string_view folder) override { return root_->identity(folder); }

  std::string_view off_limits(std::string_view folder) override {
    std::error_code error;
    const fs::path root = fs::canonical(root_->path(), error);
    const fs::path target = error ? fs::path() : fs::canonical(root / folder, error);
    if (error) {
      return {};  // listing it reports why
    }
    if (lies_in(root, target)) {
      return "symbolic link to a folder that it lies in, not followed";
    }
    constexpr std::array<const char*, 3> of_system = {"/proc", "/sys", "/dev"};
    const bool in_memory = lies_in(target, "/dev/shm");  // files like those on disk
    const bool leads_out = !in_memory && std::any_of(of_system.begin(), of_system.end(), [&](const char* system) {
      return lies_in(target, system) && !lies_in(root, system);
    });
    return leads_out ? "a folder of the system's /proc, /sys or /dev, not searched" : std::string_view();
  }

  std::optional<FileStamp> file_stamp(std::string_view name) override {
    const auto status = root_->status(name);
    return status ? std::optional(file_stamp_from(*status)) : std::nullopt;
  }

  std::optional<std::chrono::system_clock::time_point> written_at(std::string_view name) override {
    const auto status = root_->status(name);
    return status ? std::optional(storage::written_at(*status)) : std::nullopt;
  }

  Outcome<FileTotals> totals_below(std::string_view folder) override { return root_->totals_below(folder); }

  bool exists(std::string_view name) override {
    if (!refuse_path(name).empty()) {
      return false;
    }
    const auto anchor = root_->anchor();
    if (name.find('/') == name.npos && !name.empty()) {  // No descriptor needed: the result is right if none is left.
      struct stat status;
      const std::string text(name);
      if (::fstatat(anchor->fd.get(), text.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return false;
      }
      if (!S_ISLNK(status.st_mode)) {
        return true;
      }
    }
    return static_cast<bool>(open_beneath(anchor->fd.get(), anchor->resolve, name, O_PATH));
  }

  Outcome<std::unique_ptr<File>> open(std::string_view name) override {
    return open_local_file(*root_->anchor(), name);
  }

  bool read_once(std::string_view name, std::uint64_t offset, std::span<std::byte> into) override {
    return read_local_once(*root_->anchor(), name, offset, into);
  }

  Outcome<std::unique_ptr<Folder>> open_folder(std::string_view name) override {
    return open_local_folder(root_->anchor(), name);
  }

  std::unique_ptr<Watch> watch(std::chrono::milliseconds poll_interval, const WatchScope& scope) override {
    return watch_local(root_, inotify_, poll_interval, scope);
  }

  Status revisit() override { return root_->revisit(); }
  [[nodiscard]] std::uint64_t generation() const noexcept override { return root_->generation(); }

  [[nodiscard]] unsigned parallelism() const noexcept override { return most_readers(); }

  [[nodiscard]] const std::string& root() const noexcept override { return root_->path(); }

 private:
  std::shared_ptr<LocalRoot> root_;
  bool inotify_;
};

constexpr unsigned shared_files = 3;  // One of the root, two of a watch.

}  // namespace

unsigned most_readers() noexcept { return std::clamp(default_jobs(), 1U, (limits::open_files - shared_files) / 2); }

unsigned announcers() noexcept {
  constexpr unsigned enough = 4;  // More threads did not fill a cold cache sooner.
  return std::clamp((limits::open_files - shared_files) / most_readers() - 1, 1U, enough);
}

Outcome<std::unique_ptr<Storage>> open_local(const std::string& path, const LocalOptions& options) {
  auto root = LocalRoot::open(path, options.resolve);
  if (!root) {
    return std::move(root.problem());
  }
  return std::unique_ptr<Storage>(std::make_unique<LocalStorage>(*std::move(root), options.inotify));
}

Outcome<std::unique_ptr<Storage>> open_local(const std::string& path) { return open_local(path, LocalOptions{}); }

Outcome<std::unique_ptr<Storage>> open_local_with_links(const std::string& path) {
  // No watch reports that a file behind a link grows; polling finds it.
  return open_local(path, LocalOptions{.resolve = Resolve::anywhere});
}

}  // namespace smd::detail::storage
