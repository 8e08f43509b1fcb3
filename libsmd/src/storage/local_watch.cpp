// SPDX-License-Identifier: Apache-2.0
#include "storage/local_watch.hpp"

#include "storage/inotify_tree.hpp"
#include "storage/polled_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace smd::detail::storage {
namespace {

/// Looks each `poll_interval` at the latest: no event reports what another machine wrote, and events get lost.
class LocalWatch final : public PolledWatch {
 public:
  LocalWatch(std::shared_ptr<LocalRoot> root, bool inotify, std::chrono::milliseconds poll_interval,
             const WatchScope& scope)
      : PolledWatch(poll_interval, "polling (inotify not asked for)"), root_(std::move(root)) {
    if (inotify) {
      tree_.emplace(root_, scope);
    }
  }

  bool wait_until(std::chrono::steady_clock::time_point deadline) override {
    if (const std::uint64_t now = root_->generation(); now != generation_) {
      generation_ = now;  // another directory took the root's place
      if (tree_) {
        tree_->rebuild();
      }
      return true;
    }
    return PolledWatch::wait_until(deadline);
  }

  [[nodiscard]] bool quiet() const noexcept override {
    // The kernel queues an event before the call that caused it returns.
    pollfd noted{events(), POLLIN, 0};
    return noted.fd >= 0 && root_->generation() == generation_ && ::poll(&noted, 1, 0) == 0;
  }

  [[nodiscard]] std::string method() const override {
    if (!tree_) {
      return PolledWatch::method();
    }
    return tree_->why_not().empty() ? "inotify" : "polling (" + tree_->why_not() + ")";
  }

 protected:
  [[nodiscard]] int events() const noexcept override { return tree_ ? tree_->fd() : -1; }
  bool take_events() override { return tree_->take_events(); }
  void look() override {
    if (root_->reopen_if_removed()) {
      generation_ = root_->generation();
      if (tree_) {
        tree_->rebuild();
      }
    }
  }

 private:
  std::shared_ptr<LocalRoot> root_;
  std::uint64_t generation_ = root_->generation();
  std::optional<InotifyTree> tree_;
};

/// Watches the deepest existing folder above a path.
class PathWatch final : public PolledWatch {
 public:
  PathWatch(std::string path, std::chrono::milliseconds poll_interval)
      : PolledWatch(poll_interval, "inotify"),
        path_(std::move(path)),
        inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    aim();
  }

  [[nodiscard]] std::string method() const override {
    return inotify_ ? PolledWatch::method() : "polling (inotify is unavailable)";
  }

 protected:
  [[nodiscard]] int events() const noexcept override { return inotify_.get(); }
  bool take_events() override {
    alignas(inotify_event) std::array<char, 16 << 10> buffer;
    while (uninterrupted([&] { return ::read(inotify_.get(), buffer.data(), buffer.size()); }) > 0) {
    }
    aim();
    return true;
  }
  void look() override { aim(); }

 private:
  /// Repeats until the watch stays the same: a folder may be made while the watch above it is set.
  void aim() {
    for (int tries = 0; inotify_ && tries < 64; ++tries) {
      std::string folder = path_;
      int watch = -1;
      do {
        const std::size_t slash = folder.find_last_not_of('/');
        folder.resize(slash == std::string::npos ? 0 : slash + 1);
        const std::size_t cut = folder.rfind('/');
        folder = cut == std::string::npos ? "." : cut == 0 ? "/" : folder.substr(0, cut);
        watch = ::inotify_add_watch(inotify_.get(), folder.c_str(),
                                    IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
      } while (watch < 0 && (errno == ENOENT || errno == ENOTDIR) && folder != "." && folder != "/");
      if (watch < 0) {
        return;
      }
      if (watch == watch_) {
        return;
      }
      if (watch_ >= 0) {
        ::inotify_rm_watch(inotify_.get(), watch_);
      }
      watch_ = watch;
    }
  }

  std::string path_;
  Descriptor inotify_;
  int watch_ = -1;
};

}  // namespace

std::unique_ptr<Watch> watch_local(std::shared_ptr<LocalRoot> root, bool inotify,
                                   std::chrono::milliseconds poll_interval, const WatchScope& scope) {
  return std::make_unique<LocalWatch>(std::move(root), inotify, poll_interval, scope);
}

std::unique_ptr<Watch> watch_for_path(const std::string& path, std::chrono::milliseconds poll_interval) {
  if (path.starts_with("s3://")) {
    return std::make_unique<PolledWatch>(poll_interval, "polling");
  }
  return std::make_unique<PathWatch>(path, poll_interval);
}

}  // namespace smd::detail::storage
