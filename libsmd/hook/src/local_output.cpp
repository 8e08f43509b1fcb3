// SPDX-License-Identifier: Apache-2.0
#include <smd/log.hpp>
#include <smd/temporary_file.hpp>

#include "local_lock.hpp"
#include "output.hpp"
#include "storage/local_storage.hpp"
#include "text/descriptor.hpp"
#include "text/path.hpp"
#include "text/system_problem.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <iterator>

namespace smd::detail::hook {
namespace {

constexpr mode_t folder_mode = 0777;  // umask removes from these
constexpr mode_t file_mode = 0666;

constinit TemporaryFileObserver observer;

/// What an errno value means for a file that is to be written, if that is not what it means for one that is read.
struct WriteRefusal {
  int error;
  ProblemKind kind;
  const char* why;
};
constexpr WriteRefusal write_refusals[] = {
    {ENOSPC, ProblemKind::io, "no space is left there; free some"},
    {EDQUOT, ProblemKind::io, "no space is left there; free some"},
    {EFBIG, ProblemKind::io, "larger than files may be here; see ulimit -f"},
    {EROFS, ProblemKind::access_denied, "the file system is read-only"},
    {EISDIR, ProblemKind::io, "a directory is in its place"},
    {ENOTEMPTY, ProblemKind::io, "a directory is in its place"},
    {EEXIST, ProblemKind::io, "a directory is in its place"},
    {ENOTDIR, ProblemKind::io, "a part of the path is not a directory"},
    {ENOENT, ProblemKind::not_found, "its folder is gone, or is a symbolic link to nothing"},
    {EXDEV, ProblemKind::io,
     "a symbolic link leads out of the trial's directory; put a directory there, or save to where it leads"},
};

/// Returns the problem of writing `file` for an errno value.
Problem write_problem(int error, std::string file) {
  const auto* const refusal = std::ranges::find(write_refusals, error, &WriteRefusal::error);
  if (refusal != std::end(write_refusals)) {
    return {refusal->kind, std::move(file), {}, std::string("cannot be written: ") + refusal->why};
  }
  Problem problem = system_problem(error, std::move(file));
  constexpr std::string_view of_reading = "cannot be read: ";
  if (problem.text.starts_with(of_reading)) {
    problem.text.replace(0, of_reading.size(), "cannot be written: ");
  }
  if (problem.kind == ProblemKind::damaged) {
    problem.kind = ProblemKind::io;
  }
  return problem;
}

/// A temporary file with a name that no other writer uses, `LEAF.0123456789abcdef.tmp`, in a folder opened by O_PATH;
/// `publish` renames it to `leaf`. `full_name` is for messages.
class LocalPendingFile final : public PendingFile {
 public:
  LocalPendingFile(Descriptor folder, std::string leaf, std::string full_name)
      : folder_(std::move(folder)), leaf_(std::move(leaf)), full_name_(std::move(full_name)) {}

  ~LocalPendingFile() override {
    if (there_) {
      if (::unlinkat(folder_.get(), temporary_.c_str(), 0) != 0 && errno != ENOENT) {
        warn_of_remains(errno);
      }
      observed_gone();
    }
  }

  /// Removes a file `LEAF.tmp` that another writer left: the reference's hook would append to it. Opens with O_EXCL, so
  /// that an existing file of the temporary name is never opened: a link would lead elsewhere,
  /// and a FIFO would block.
  Status open() {
    std::uint64_t own = 0;
    if (uninterrupted([&] { return ::getrandom(&own, sizeof own, 0); }) != static_cast<ssize_t>(sizeof own)) {
      return problem();
    }
    temporary_ = fmt::format("{}.{:016x}.tmp", leaf_, own);
    observed_ = full_name_.substr(0, full_name_.size() - leaf_.size()) + temporary_;
    ::unlinkat(folder_.get(), (leaf_ + ".tmp").c_str(), 0);
    if (observer.making != nullptr) {
      observer.making(observed_.c_str());
    }
    file_ = Descriptor(uninterrupted([&] {
      return ::openat(folder_.get(), temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                      file_mode);
    }));
    there_ = static_cast<bool>(file_);
    if (there_) {
      return ok();
    }
    Status failed = problem();
    observed_gone();
    return failed;
  }

  Status write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = uninterrupted([&] { return ::write(file_.get(), bytes.data(), bytes.size()); });
      if (written < 0) {
        return problem();
      }
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return ok();
  }

  Outcome<std::size_t> read_back(std::uint64_t offset, std::span<std::byte> into) override {
    const ssize_t got = read_fully(file_.get(), offset, into);
    return got < 0 ? Outcome<std::size_t>(std::move(problem().problem())) : static_cast<std::size_t>(got);
  }

  Status sync() override {
    return uninterrupted([&] { return ::fsync(file_.get()); }) == 0 ? ok() : problem();
  }

  Status close() override {
    // Not repeated after EINTR: the descriptor is closed already.
    return ::close(file_.release()) == 0 || errno == EINTR ? ok() : problem();
  }

  Status publish() override {
    if (::renameat(folder_.get(), temporary_.c_str(), folder_.get(), leaf_.c_str()) != 0) {
      return problem();
    }
    there_ = false;
    observed_gone();
    return ok();
  }

  Status sync_name() override {
    const Descriptor opened(
        uninterrupted([&] { return ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    return opened && uninterrupted([&] { return ::fsync(opened.get()); }) == 0 ? ok() : problem();
  }

 private:
  [[nodiscard]] Status problem() const { return write_problem(errno, full_name_); }

  void warn_of_remains(int error) const noexcept {
    try {
      log(LogLevel::warning,
          fmt::format("'{}' is a temporary file that could not be removed: {}", observed_, error_text(error)));
    } catch (const std::exception&) {  // no memory for a message
    }
  }

  void observed_gone() const noexcept {
    if (observer.gone != nullptr) {
      observer.gone(observed_.c_str());
    }
  }

  Descriptor folder_;
  std::string leaf_;
  std::string full_name_;
  std::string temporary_;
  std::string observed_;  // the path of the temporary file
  Descriptor file_;
  bool there_ = false;  // whether the temporary file exists
};

class LocalOutput final : public Output {
 public:
  LocalOutput(std::string path, storage::Anchor root, LockPlace best_lock)
      : path_(std::move(path)), root_(std::move(root)), lock_(root_.fd.get(), path_, best_lock) {}

  Outcome<std::unique_ptr<PendingFile>> create(const std::string& name) override {
    const std::string folder(text::folder_of(name));
    Descriptor opened = storage::make_folder_beneath(root_.fd.get(), root_.resolve, folder, folder_mode);
    if (!opened) {
      return write_problem(errno, full(folder));
    }
    auto file = std::make_unique<LocalPendingFile>(std::move(opened), std::string(text::leaf_of(name)), full(name));
    if (Status made = file->open(); !made) {
      return std::move(made.problem());
    }
    return std::unique_ptr<PendingFile>(std::move(file));
  }

  Outcome<bool> exists(const std::string& name) override {
    const std::string leaf(text::leaf_of(name));
    const Descriptor opened =
        storage::open_beneath(root_.fd.get(), root_.resolve, text::folder_of(name), O_PATH | O_DIRECTORY);
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

  Outcome<OutputLock> lock(std::chrono::nanoseconds timeout, const std::function<bool()>& stop) override {
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
  return root ? Outcome<Descriptor>(std::move(root)) : write_problem(errno, path);
}

}  // namespace

Outcome<std::unique_ptr<Output>> open_local_output(const std::string& path, const LocalOutputOptions& options) {
  auto root = open_root(path);
  if (!root) {
    return std::move(root.problem());
  }
  const storage::Resolve resolve = options.resolve.value_or(storage::best_resolve(root->get()));
  return std::unique_ptr<Output>(
      std::make_unique<LocalOutput>(path, storage::Anchor{std::move(*root), resolve}, options.best_lock));
}

Outcome<std::unique_ptr<Output>> open_local_output_beneath(const std::string& path, std::string_view name,
                                                           const LocalOutputOptions& options) {
  auto above = open_root(path);
  if (!above) {
    return std::move(above.problem());
  }
  const storage::Resolve resolve = options.resolve.value_or(storage::best_resolve(above->get()));
  std::string inner = path + "/" + std::string(name);
  Descriptor root = storage::make_folder_beneath(above->get(), resolve, name, folder_mode);
  if (!root) {
    return write_problem(errno, std::move(inner));
  }
  return std::unique_ptr<Output>(
      std::make_unique<LocalOutput>(std::move(inner), storage::Anchor{std::move(root), resolve}, LockPlace::none));
}

}  // namespace smd::detail::hook

void smd::observe_temporary_files(TemporaryFileObserver observer) noexcept { detail::hook::observer = observer; }
