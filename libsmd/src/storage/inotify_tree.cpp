// SPDX-License-Identifier: Apache-2.0
#include "storage/inotify_tree.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

namespace smd::detail::storage {
namespace {

constexpr std::uint32_t wanted = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

/// Returns the name of a file system whose inotify does not report what other machines write; empty for others.
std::string_view remote_file_system(int fd) noexcept {
  struct statfs status;
  if (::fstatfs(fd, &status) != 0) {
    return {};
  }
  switch (static_cast<std::uint32_t>(status.f_type)) {
    case 0x6969:
      return "NFS";
    case 0xFF534D42:
    case 0xFE534D42:
    case 0x517B:
      return "CIFS";
    case 0x0BD00BD0:
      return "Lustre";
    case 0x65735546:
      return "FUSE";
    case 0x794C7630:
      return "overlayfs";
    case 0x01021997:
      return "9p";
    case 0x00C36400:
      return "Ceph";
    case 0x47504653:
      return "GPFS";
    case 0x19830326:
      return "BeeGFS";
    case 0x5346414F:
    case 0x6B414653:
      return "AFS";
    case 0x7461636F:
      return "OCFS2";
    case 0x01161970:
      return "GFS2";
    case 0x786F4256:
      return "vboxsf";
    default:
      return {};
  }
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
      return "inotify: " + std::generic_category().message(error);
  }
}

}  // namespace

InotifyTree::InotifyTree(std::shared_ptr<LocalRoot> root, const WatchScope& scope)
    : root_(std::move(root)),
      scope_(scope.folders.begin(), scope.folders.end()),
      events_(scope.growing ? wanted | IN_MODIFY : wanted) {
  rebuild();
}

/// Returns whether a folder is in the scope.
bool InotifyTree::matters(std::string_view folder) const noexcept {
  return std::any_of(scope_.begin(), scope_.end(), [&](const std::string& top) {
    return top.empty() || folder == top || (folder.starts_with(top) && folder[top.size()] == '/');
  });
}

void InotifyTree::give_up(std::string why) {
  inotify_ = Descriptor();
  folders_.clear();
  why_not_ = std::move(why);
}

void InotifyTree::rebuild() {
  give_up({});
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
    (void)std::all_of(scope_.begin(), scope_.end(), [&](const std::string& top) { return top.empty() || add(top); });
  }
}

/// Watches a folder and those beneath it. Watches before it lists, so that a folder made in between is either listed or
/// reported.
/// @return false if watching has been given up. A folder that is gone is no reason to.
bool InotifyTree::add(const std::string& folder) {
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
  const auto entries = root_->list(folder);
  if (!entries) {
    return true;  // Gone again, or reported when it is read.
  }
  for (const auto& entry : *entries) {
    if (entry.kind == EntryKind::folder && !add(folder.empty() ? entry.name : folder + '/' + entry.name)) {
      return false;
    }
  }
  return true;
}

bool InotifyTree::take_events() {
  alignas(inotify_event) std::array<char, 16 << 10> buffer;
  bool news = false;
  bool afresh = false;
  while (inotify_) {
    const ssize_t length = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) {
      continue;
    }
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
          const std::string folder =
              parent->second.empty() ? std::string(name) : parent->second + '/' + std::string(name);
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

}  // namespace smd::detail::storage
