// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.hpp"

#include "cli/diagnostics.hpp"
#include "cli/escape.hpp"
#include "cli/exit_status.hpp"
#include "cli/progress.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "text/descriptor.hpp"
#include "text/path.hpp"

#include <smd/find.hpp>
#include <smd/remote.hpp>

#include <boost/filesystem/operations.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace smd::tool {

namespace {

std::atomic<bool> standard_output_lost{false};

[[noreturn]] void fail(const std::string& place, int error) {
  throw OutputError("cannot write " + place + ": " + std::generic_category().message(error));
}

// Signals that end the process must not come between making a temporary file and registering it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    const sigset_t ending = signal_set(ending_signals);
    pthread_sigmask(SIG_BLOCK, &ending, &old_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

 private:
  sigset_t old_;
};

std::string folder_with_slash(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

// Follows symbolic links, so that a link is not replaced by a file. Where others can write, a link may be a trap: only
// one's own is followed.
std::string resolved(const std::string& path) {
  constexpr int most_links = 40;  // the kernel's limit
  std::string place = path;
  for (int links = 0; links < most_links; ++links) {
    struct stat link = {};
    if (lstat(place.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) {
      return place;
    }
    const std::string folder = folder_with_slash(place);
    struct stat around = {};
    if (link.st_uid != geteuid() &&
        (stat(folder.empty() ? "." : folder.c_str(), &around) != 0 || (around.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
      throw OutputError("cannot write " + single_quoted(path) +
                        ": it is a link of another user, in a folder that others can write to; name its target");
    }
    std::array<char, PATH_MAX> target;
    const ssize_t size = readlink(place.c_str(), target.data(), target.size());
    if (size < 0) {
      fail(single_quoted(path), errno);
    }
    place = (size > 0 && target[0] == '/' ? std::string() : folder) + std::string(target.data(), size);
  }
  fail(single_quoted(path), ELOOP);
}

// What stands in a temporary file's name before six random characters.
constexpr std::string_view temporary_mark = ".smd-";

// Removes temporary files of processes that were killed: nobody holds their lock. Once for each folder.
void remove_left_behind(const std::string& folder) {
  static std::set<std::string> done;
  DIR* const entries = done.insert(folder).second ? opendir(folder.empty() ? "." : folder.c_str()) : nullptr;
  if (entries == nullptr) {
    return;
  }
  while (const dirent* const entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    const std::size_t mark = name.rfind(temporary_mark);
    if (!name.starts_with('.') || mark == name.npos || name.size() - mark != temporary_mark.size() + 6) {
      continue;
    }
    const detail::Descriptor file(
        openat(dirfd(entries), entry->d_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    struct stat status = {};
    if (file && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      unlinkat(dirfd(entries), entry->d_name, 0);
    }
  }
  closedir(entries);
}

// Makes a temporary file and locks it. Returns its descriptor; negative, with errno, if it cannot be made.
int make_temporary(std::string& name) {
  const std::string pattern = name;
  while (true) {
    const int descriptor = mkostemp((name = pattern).data(), O_CLOEXEC);
    struct stat status = {};
    // Waits for a process that takes it for one that was left behind, and removes it at once.
    if (descriptor < 0 || flock(descriptor, LOCK_EX) != 0 || fstat(descriptor, &status) != 0 || status.st_nlink > 0) {
      return descriptor;  // without locks, nobody removes what others left
    }
    ::close(descriptor);
  }
}

using Paths = std::array<std::string, 2>;  // without links, and as it was given

Paths spellings(const std::string& path) {
  boost::system::error_code error;
  const auto real = boost::filesystem::canonical(path, error);
  auto given = boost::filesystem::absolute(path).lexically_normal();
  given = given.filename_is_dot() ? given.parent_path() : given;
  return {error ? given.string() : real.string(), given.string()};
}

std::mutex inputs;  // guards these two
std::vector<std::string> read_trials;
std::map<std::string, Paths> replaced_files;  // by the name that was given

void refuse_input(const std::string& name, const Paths& file, const std::string& input) {
  for (const std::string& trial : spellings(input)) {
    for (const std::string& path : file) {
      const auto owner = path != trial && text::lies_in(path, trial) ? trial_at(path) : std::nullopt;
      refuse_if(path == trial || (owner && text::lies_in(*owner, trial)),
                "the output " + single_quoted(name) + " is a file of the trial " + single_quoted(trial) +
                    ", which is read: name another");
    }
  }
}

void add_output(const std::string& name) {
  const Paths file = spellings(name);
  const std::lock_guard lock(inputs);
  for (const std::string& trial : read_trials) {
    refuse_input(name, file, trial);
  }
  replaced_files.insert_or_assign(name, file);
}

// Gives a file that replaces another one its owner and group, as far as permitted. A set-user-ID or set-group-ID file
// must not run with our rights instead.
void keep_owner(int descriptor, const struct stat& old, const std::string& place) {
  if (fchown(descriptor, old.st_uid, old.st_gid) != 0) {
    (void)!fchown(descriptor, static_cast<uid_t>(-1), old.st_gid);  // the outcome is checked below
  }
  struct stat now = {};
  if (fstat(descriptor, &now) != 0) {
    fail(place, errno);
  }
  const bool user_changes = (old.st_mode & S_ISUID) != 0 && now.st_uid != old.st_uid;
  const bool group_changes = (old.st_mode & S_ISGID) != 0 && now.st_gid != old.st_gid;
  if (user_changes || group_changes) {
    throw OutputError("cannot write " + place + ": it is " + (user_changes ? "set-user-ID" : "set-group-ID") +
                      " and belongs to another " + (user_changes ? "user" : "group") + "; remove it first");
  }
}

}  // namespace

void add_input(const std::string& trial) {
  if (is_remote_path(trial)) {
    return;
  }
  const std::lock_guard lock(inputs);
  read_trials.push_back(trial);
  for (const auto& [name, file] : replaced_files) {
    refuse_input(name, file, trial);
  }
}

int write_all(int descriptor, std::string_view bytes, bool waits) noexcept {
  constexpr std::size_t largest = std::size_t{1} << 30;  // Linux moves at most 2 GiB at once
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), largest));
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN && waits) {  // someone made the pipe non-blocking
      pollfd ready = {descriptor, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

bool standard_output_failed() noexcept { return standard_output_lost.load(); }

OutputFile::OutputFile(Kind kind, int descriptor)
    : kind_(kind), descriptor_(descriptor), buffer_(std::make_unique_for_overwrite<char[]>(capacity)) {}

OutputFile OutputFile::standard() { return {Kind::standard, STDOUT_FILENO}; }

OutputFile OutputFile::discard() { return {Kind::discard, -1}; }

OutputFile OutputFile::memory() { return {Kind::memory, -1}; }

OutputFile OutputFile::screen() { return {Kind::memory, STDOUT_FILENO}; }

void OutputFile::take_text(std::string& text) {
  flush();
  text.swap(text_);
  text_.clear();
}

OutputFile OutputFile::file(const std::string& path, bool may_be_input) {
  OutputFile out(Kind::file, -1);
  struct stat existing = {};
  bool exists = stat(path.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) {
    fail(single_quoted(path), EISDIR);
  }
  if (exists && !S_ISREG(existing.st_mode)) {  // a device or a pipe cannot be replaced, only written to
    out.path_ = path;
    out.descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (out.descriptor_ < 0) {
      fail(single_quoted(path), errno);
    }
    return out;
  }
  out.path_ = resolved(path);
  exists = lstat(out.path_.c_str(), &existing) == 0;
  if (exists && may_be_input) {
    add_output(path);
    add_output(out.path_);
  }
  const std::string folder = folder_with_slash(out.path_);
  remove_left_behind(folder);
  std::string temporary = folder;
  temporary.append(".").append(out.path_, folder.size(), 200).append(temporary_mark).append("XXXXXX");
  const SignalsBlocked blocked;
  out.descriptor_ = make_temporary(temporary);
  if (out.descriptor_ < 0) {
    fail(single_quoted(path), errno);
  }
  out.temporary_ = temporary;
  remove_on_signal(temporary);
  if (exists) {
    out.mode_ = existing.st_mode & 07777U;
    keep_owner(out.descriptor_, existing, single_quoted(path));
  } else {
    const mode_t mask = umask(0);
    umask(mask);
    out.mode_ = 0666U & ~mask;
  }
  return out;
}

OutputFile::~OutputFile() {
  if (buffer_ == nullptr) {
    return;  // another object has its content
  }
  if (kind_ == Kind::standard) {
    // The destructor runs after an error elsewhere: what was printed so far still counts.
    try {
      flush();
    } catch (const OutputError&) {
      standard_output_lost = true;
    }
  } else if (kind_ == Kind::file && descriptor_ >= 0) {
    ::close(descriptor_);
    if (!temporary_.empty()) {
      unlink(temporary_.c_str());
      forget_on_signal(temporary_);
    }
  }
}

void OutputFile::write(std::string_view text) {
  if (text.size() > capacity - used_) {
    flush();
    if (text.size() >= capacity) {
      write_out(text.data(), text.size());
      return;
    }
  }
  std::memcpy(buffer_.get() + used_, text.data(), text.size());
  used_ += text.size();
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void OutputFile::flush() { write_out(buffer_.get(), std::exchange(used_, 0)); }

void OutputFile::write_out(const char* bytes, std::size_t size) {
  flushed_ += size;
  if (kind_ == Kind::memory) {
    text_.append(bytes, size);
    return;
  }
  std::string shown;  // mostly for names in JSON
  if (kind_ == Kind::standard && size > 0 && is_terminal()) {
    append_json_shown(shown, {bytes, size});
    bytes = shown.data();
    size = shown.size();
    Progress::erase_line();
  }
  if (const int error = kind_ == Kind::discard ? 0 : write_all(descriptor_, {bytes, size}); error != 0) {
    fail(kind_ == Kind::standard ? std::string("standard output") : single_quoted(path_), error);
  }
}

void OutputFile::close() {
  flush();
  if (kind_ != Kind::file || descriptor_ < 0) {
    return;
  }
  // Only now: writing would have cleared set-user-ID and set-group-ID.
  if (!temporary_.empty() && fchmod(descriptor_, mode_) != 0) {
    fail(single_quoted(path_), errno);
  }
  // Holds the lock until the file has its name: else another command may take it for one that was left behind.
  const int lock = temporary_.empty() ? -1 : fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  int error =
      ::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno;  // some file systems report a full disk only here
  if (!temporary_.empty()) {
    const SignalsBlocked blocked;
    error = error != 0 || std::rename(temporary_.c_str(), path_.c_str()) == 0 ? error : errno;
    if (error != 0) {
      unlink(temporary_.c_str());
    }
    forget_on_signal(temporary_);
    ::close(lock);
  }
  if (error != 0) {
    fail(single_quoted(path_), error);
  }
  temporary_.clear();
}

void OutputFile::close(const Diagnostics& messages) {
  const ExitStatus status = messages.status();
  const bool failed = status == ExitStatus::unreadable || status == ExitStatus::damaged;
  const bool nothing = flushed_ + used_ == frame_;
  if (!temporary_.empty() && (status == ExitStatus::usage || (failed && nothing))) {
    return;  // the destructor removes a file that is not closed
  }
  close();
}

bool OutputFile::replaces_same(const OutputFile& other) const {
  const std::string folder = folder_with_slash(path_);
  const std::string other_folder = folder_with_slash(other.path_);
  boost::system::error_code unknown;
  return !temporary_.empty() && !other.temporary_.empty() &&
         path_.substr(folder.size()) == other.path_.substr(other_folder.size()) &&
         boost::filesystem::equivalent(folder + ".", other_folder + ".", unknown);
}

bool OutputFile::is_terminal() const noexcept { return descriptor_ >= 0 && tool::is_terminal(descriptor_); }

}  // namespace smd::tool
