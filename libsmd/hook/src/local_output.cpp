// SPDX-License-Identifier: Apache-2.0
#include "local_lock.hpp"
#include "local_pending_file.hpp"
#include "output.hpp"
#include "storage/beneath.hpp"
#include "storage/descriptor.hpp"
#include "storage/local_storage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace smd::detail::hook {
namespace {

using storage::Descriptor;
using storage::uninterrupted;

constexpr mode_t folder_mode = 0777;  // umask removes from these

/// Splits `events/000000000001/x` into `events/000000000001` and `x`.
std::pair<std::string, std::string> folder_and_leaf(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == name.npos ? std::pair(std::string(), name) : std::pair(name.substr(0, slash), name.substr(slash + 1));
}

class LocalOutput final : public Output {
 public:
  LocalOutput(std::string path, storage::Anchor root, LockPlace best_lock)
      : path_(std::move(path)), root_(std::move(root)), lock_(root_.fd.get(), path_, best_lock) {}

  Outcome<std::unique_ptr<PendingFile>> create(const std::string& name) override {
    auto [folder, leaf] = folder_and_leaf(name);
    Descriptor opened = storage::make_folder_beneath(root_.fd.get(), root_.resolve, folder, folder_mode);
    if (!opened) {
      return write_problem(errno, full(folder));
    }
    return create_local_file(std::move(opened), std::move(leaf), full(name));
  }

  Outcome<bool> exists(const std::string& name) override {
    const auto [folder, leaf] = folder_and_leaf(name);
    const Descriptor opened = storage::open_beneath(root_.fd.get(), root_.resolve, folder, O_PATH | O_DIRECTORY);
    struct stat status = {};
    if (opened && ::fstatat(opened.get(), leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      return true;
    }
    return errno == ENOENT ? Outcome<bool>(false) : Outcome<bool>(write_problem(errno, full(name)));
  }

  Outcome<std::unique_ptr<storage::File>> open(const std::string& name) override {
    return storage::open_local_file(root_, name);
  }

  Outcome<std::unique_ptr<storage::Storage>> reader() override {
    return storage::open_local(path_, {.resolve = root_.resolve, .inotify = false});
  }

  Outcome<std::unique_ptr<OutputLock>> lock(std::chrono::nanoseconds timeout,
                                            const std::function<bool()>& stop) override {
    return lock_.take(timeout, stop);
  }
  [[nodiscard]] std::string why_no_lock() const override { return lock_.why_not(); }

  [[nodiscard]] const std::string& root() const noexcept override { return path_; }

 private:
  /// Returns the file's name in messages.
  [[nodiscard]] std::string full(const std::string& name) const { return path_ + "/" + name; }

  std::string path_;
  storage::Anchor root_;
  LocalLock lock_;
};

/// Opens the path that the user gave; symbolic links in it are followed.
Outcome<Descriptor> open_root(const std::string& path) {
  for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (::mkdir(folder.c_str(), folder_mode) != 0 && errno != EEXIST) {
      return write_problem(errno, folder);
    }
    if (slash == path.npos) {
      break;
    }
  }
  Descriptor root(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!root) {
    return write_problem(errno, path);
  }
  return root;
}

storage::Resolve resolve_of(const LocalOutputOptions& options, const Descriptor& root) {
  return options.resolve ? *options.resolve : storage::best_resolve(root.get());
}

}  // namespace

Outcome<std::unique_ptr<Output>> open_local_output(const std::string& path, const LocalOutputOptions& options) {
  auto root = open_root(path);
  if (!root) {
    return std::move(root.problem());
  }
  const storage::Resolve resolve = resolve_of(options, *root);
  return std::unique_ptr<Output>(
      std::make_unique<LocalOutput>(path, storage::Anchor{std::move(*root), resolve}, options.best_lock));
}

Outcome<std::unique_ptr<Output>> open_local_output_beneath(const std::string& path, std::string_view name,
                                                           const LocalOutputOptions& options) {
  auto above = open_root(path);
  if (!above) {
    return std::move(above.problem());
  }
  const storage::Resolve resolve = resolve_of(options, *above);
  std::string inner = path + "/" + std::string(name);
  Descriptor root = storage::make_folder_beneath(above->get(), resolve, name, folder_mode);
  if (!root) {
    return write_problem(errno, std::move(inner));
  }
  return std::unique_ptr<Output>(
      std::make_unique<LocalOutput>(std::move(inner), storage::Anchor{std::move(root), resolve}, LockPlace::none));
}

}  // namespace smd::detail::hook
