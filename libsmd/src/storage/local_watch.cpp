// SPDX-License-Identifier: Apache-2.0
#include "storage/local_storage.hpp"

#include "text/path.hpp"
#include "text/system_problem.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <unordered_map>

namespace smd::detail::storage {

using Clock = std::chrono::steady_clock;

static_assert(std::atomic<bool>::is_always_lock_free, "wake() is called from signal handlers");

namespace {

/// Reports a possible change each `poll_interval`, which is enough for any storage. Watches that receive events derive
/// from it.
class PolledWatch : public Watch {
 public:
  explicit PolledWatch(std::chrono::milliseconds poll_interval)
      : interval_(std::max(poll_interval, std::chrono::milliseconds(1))),
        next_look_(Clock::now() + interval_),
        wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

  bool wait_until(Clock::time_point deadline) override {
    while (true) {
      if (woken_.exchange(false)) {
        return false;
      }
      const auto now = Clock::now();
      bool news = now >= next_look_;
      if (!news) {
        std::array<pollfd, 2> fds{{{wake_.get(), POLLIN, 0}, {inotify_.get(), POLLIN, 0}}};
        const int ready = ::poll(fds.data(), fds.size(),
                                 timeout(std::max(Clock::duration::zero(), std::min(deadline, next_look_) - now)));
        if (ready > 0 && fds[0].revents != 0) {
          // Before `woken_` is checked, which is set before the write: so no wake-up is lost.
          std::uint64_t count = 0;
          [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof count);
        }
        news = ready > 0 && fds[1].revents != 0 && take_events();
      }
      if (news) {
        look();
        next_look_ = Clock::now() + interval_;
        return true;
      }
      if (now >= deadline && !woken_.load()) {  // After the poll: a past deadline still reports pending events.
        return false;
      }
    }
  }

  void wake() noexcept override {
    woken_.store(true);
    const int saved = errno;  // A signal handler must not change it.
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
    errno = saved;
  }

  [[nodiscard]] std::string method() const override { return "polling"; }

 protected:
  /// Reads the pending events. Returns whether there may be something new.
  virtual bool take_events() { return false; }
  /// Called before each possible change is reported.
  virtual void look() {}

  Descriptor inotify_;  // none: nothing is watched

 private:
  [[nodiscard]] int timeout(Clock::duration left) const noexcept {
    // Without an eventfd (no descriptor left), short polls notice wake().
    constexpr std::chrono::milliseconds slice(50);
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left);
    return static_cast<int>(
        std::min<std::chrono::milliseconds::rep>(wake_ ? ms.count() : std::min(ms, slice).count(), INT_MAX));
  }

  std::chrono::milliseconds interval_;
  std::chrono::steady_clock::time_point next_look_;
  Descriptor wake_;
  std::atomic<bool> woken_ = false;
};

constexpr std::uint32_t wanted = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

/// File systems whose inotify does not report what other machines write, by their magic numbers.
constexpr std::pair<std::uint32_t, std::string_view> remote_file_systems[] = {
    {0x6969, "NFS"},        {0xFF534D42, "CIFS"},  {0xFE534D42, "CIFS"},      {0x517B, "CIFS"},
    {0x0BD00BD0, "Lustre"}, {0x65735546, "FUSE"},  {0x794C7630, "overlayfs"}, {0x01021997, "9p"},
    {0x00C36400, "Ceph"},   {0x47504653, "GPFS"},  {0x19830326, "BeeGFS"},    {0x5346414F, "AFS"},
    {0x6B414653, "AFS"},    {0x7461636F, "OCFS2"}, {0x01161970, "GFS2"},      {0x786F4256, "vboxsf"}};

/// Returns the name of such a file system; empty for others.
std::string_view remote_file_system(int fd) noexcept {
  struct statfs status = {};
  const bool known = ::fstatfs(fd, &status) == 0;
  const auto* const found = std::ranges::find_if(remote_file_systems, [&](const auto& one) {
    return known && one.first == static_cast<std::uint32_t>(status.f_type);
  });
  return found == std::end(remote_file_systems) ? std::string_view() : found->second;
}

std::string why_refused(int error) {
  switch (error) {
    case ENOSPC:
      return "no inotify watch left, see fs.inotify.max_user_watches";
    case EMFILE:
      return "no inotify instance or descriptor left, see fs.inotify.max_user_instances";
    case ENOSYS:
      return "no inotify on this system";
    default:
      return "inotify: " + error_text(error);
  }
}

/// inotify watches on a trial's root, the folders of a scope and every folder beneath them, also those that are made
/// later. Looks each `poll_interval` at the latest: no event reports what another machine wrote, and events get lost.
class LocalWatch final : public PolledWatch {
 public:
  LocalWatch(std::shared_ptr<LocalRoot> root, bool inotify, std::chrono::milliseconds poll_interval,
             const WatchScope& scope)
      : PolledWatch(poll_interval),
        root_(std::move(root)),
        asked_for_(inotify),
        scope_(scope.folders.begin(), scope.folders.end()),
        events_(scope.growing ? wanted | IN_MODIFY : wanted) {
    rebuild();
  }

  bool wait_until(std::chrono::steady_clock::time_point deadline) override {
    if (root_->generation() != generation_) {  // another directory took the root's place
      rebuild();
      return true;
    }
    return PolledWatch::wait_until(deadline);
  }

  [[nodiscard]] bool quiet() const noexcept override {
    // The kernel queues an event before the call that caused it returns.
    pollfd noted{inotify_.get(), POLLIN, 0};
    return noted.fd >= 0 && root_->generation() == generation_ && ::poll(&noted, 1, 0) == 0;
  }

  [[nodiscard]] std::string method() const override { return inotify_ ? "inotify" : "polling (" + why_not_ + ")"; }

 protected:
  bool take_events() override {
    alignas(inotify_event) std::array<char, 16 << 10> buffer;
    bool news = false;
    bool afresh = false;
    while (inotify_) {
      const ssize_t length = uninterrupted([&] { return ::read(inotify_.get(), buffer.data(), buffer.size()); });
      if (length <= 0) {
        break;
      }
      for (std::size_t at = 0; inotify_ && at + sizeof(inotify_event) <= static_cast<std::size_t>(length);) {
        inotify_event event;
        std::memcpy(&event, buffer.data() + at, sizeof event);
        const char* text = buffer.data() + at + sizeof event;
        const std::string_view name = event.len == 0 ? std::string_view{} : std::string_view(text);
        at += sizeof event + event.len;
        if ((event.mask & (IN_Q_OVERFLOW | IN_IGNORED | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF)) != 0) {
          afresh = news = true;
          continue;
        }
        if (name.ends_with(".tmp")) {
          continue;  // Not readable before it is renamed, and the rename is an event of its own.
        }
        news = true;
        if ((event.mask & IN_ISDIR) != 0) {
          const auto parent = folders_.find(event.wd);
          if (parent != folders_.end()) {
            const std::string folder = text::path_in(parent->second, name);
            if (matters(folder)) {
              add(folder);
            }
          }
        }
      }
    }
    if (afresh) {
      rebuild();
    }
    return news;
  }

  void look() override {
    if (root_->reopen_if_removed()) {
      rebuild();
    }
  }

 private:
  /// Returns whether a folder is in the scope.
  [[nodiscard]] bool matters(std::string_view folder) const noexcept {
    return std::ranges::any_of(scope_,
                               [&](const std::string& top) { return top.empty() || text::lies_in(folder, top); });
  }

  void give_up(std::string why) {
    inotify_ = Descriptor();
    folders_.clear();
    why_not_ = std::move(why);
  }

  /// Drops all watches and watches the root as it is now.
  void rebuild() {
    generation_ = root_->generation();
    give_up("inotify not asked for");
    if (!asked_for_) {
      return;
    }
    if (const auto remote = remote_file_system(root_->anchor()->fd.get()); !remote.empty()) {
      give_up(std::string(remote) + " does not report what others write");
      return;
    }
    inotify_ = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!inotify_) {
      give_up(why_refused(errno));
      return;
    }
    if (add("")) {
      (void)std::ranges::all_of(scope_, [&](const std::string& top) { return top.empty() || add(top); });
    }
  }

  /// Watches a folder and those beneath it. Watches before it lists, so that a folder made in between is either listed
  /// or reported.
  /// @return false if watching has been given up. A folder that is gone is no reason to.
  bool add(const std::string& folder) {
    const auto anchor = root_->anchor();
    {
      const Descriptor fd = open_beneath(anchor->fd.get(), anchor->resolve, folder, O_PATH | O_DIRECTORY);
      if (!fd) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
          give_up(why_refused(errno));
          return false;
        }
        return true;
      }
      // By descriptor: the folder beneath the root is watched, even if its path leads elsewhere by now.
      const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
      const int watch = ::inotify_add_watch(inotify_.get(), path.c_str(), events_);
      if (watch < 0) {
        give_up(errno == ENOENT ? "inotify needs /proc" : why_refused(errno));
        return false;
      }
      folders_.insert_or_assign(watch, folder);
    }
    if (!matters(folder)) {
      return true;
    }
    const auto entries = list_local(*anchor, folder);
    if (!entries) {
      return true;  // Gone again, or reported when it is read.
    }
    for (const auto& entry : *entries) {
      if (entry.kind == EntryKind::folder && !add(text::path_in(folder, entry.name))) {
        return false;
      }
    }
    return true;
  }

  std::shared_ptr<LocalRoot> root_;
  std::uint64_t generation_ = 0;
  bool asked_for_;
  std::vector<std::string> scope_;
  std::uint32_t events_;
  std::unordered_map<int, std::string> folders_;  // by watch descriptor
  std::string why_not_;                           // nothing is watched
};

/// Watches the deepest existing folder above a path.
class PathWatch final : public PolledWatch {
 public:
  PathWatch(std::string path, std::chrono::milliseconds poll_interval)
      : PolledWatch(poll_interval), path_(std::move(path)) {
    inotify_ = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    aim();
  }

  [[nodiscard]] std::string method() const override {
    return inotify_ ? "inotify" : "polling (inotify is unavailable)";
  }

 protected:
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
        folder.resize(text::without_slashes(folder).size());
        const std::size_t cut = folder.rfind('/');
        folder = cut == std::string::npos ? "." : cut == 0 ? "/" : folder.substr(0, cut);
        watch = ::inotify_add_watch(inotify_.get(), folder.c_str(),
                                    IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
      } while (watch < 0 && (errno == ENOENT || errno == ENOTDIR) && folder != "." && folder != "/");
      if (watch < 0 || watch == watch_) {
        return;
      }
      if (watch_ >= 0) {
        ::inotify_rm_watch(inotify_.get(), watch_);
      }
      watch_ = watch;
    }
  }

  std::string path_;
  int watch_ = -1;
};

}  // namespace

std::unique_ptr<Watch> polled_watch(std::chrono::milliseconds poll_interval) {
  return std::make_unique<PolledWatch>(poll_interval);
}

std::unique_ptr<Watch> watch_local(std::shared_ptr<LocalRoot> root, bool inotify,
                                   std::chrono::milliseconds poll_interval, const WatchScope& scope) {
  return std::make_unique<LocalWatch>(std::move(root), inotify, poll_interval, scope);
}

std::unique_ptr<Watch> watch_for_path(const std::string& path, std::chrono::milliseconds poll_interval) {
  return path.starts_with("s3://") ? polled_watch(poll_interval) : std::make_unique<PathWatch>(path, poll_interval);
}

}  // namespace smd::detail::storage
