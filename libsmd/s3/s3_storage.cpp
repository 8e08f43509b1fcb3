// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include "base/parallel.hpp"
#include "s3/s3_storage.hpp"
#include "storage/beneath.hpp"
#include "text/escape.hpp"
#include "text/limits.hpp"
#include "text/mapped.hpp"
#include "text/path.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::uint64_t farthest = std::uint64_t{1} << 62;        ///< Beyond the end of any object.
constexpr std::uint64_t windows_bytes = std::uint64_t{48} << 20;  ///< For all files open at once.
constexpr std::uint64_t least_window = std::uint64_t{256} << 10;
constexpr std::uint64_t most_window = std::uint64_t{4} << 20;
constexpr std::uint64_t near_bytes = std::uint64_t{64} << 10;   ///< If a read starts this close after the last one,
                                                                ///< the next will probably continue.
constexpr std::uint64_t direct_bytes = std::uint64_t{1} << 20;  ///< Reads of at least this size go directly to their
                                                                ///< destination,
constexpr std::uint64_t piece_bytes = std::uint64_t{8} << 20;   ///< in pieces of this size, several at once.

std::uint64_t window_limit(const Bucket& bucket) {
  return std::clamp(windows_bytes / bucket.client().settings().in_flight, least_window, most_window);
}

/// An object. Holds one window of it: at first the bytes requested on opening, later those read last and, during
/// sequential reading, those that follow.
class S3File final : public File {
 public:
  S3File(std::shared_ptr<Bucket> bucket, std::string name) : bucket_(std::move(bucket)), name_(std::move(name)) {}

  /// Reads the first window, and with it size and ETag.
  Status open(std::uint64_t offset, std::uint64_t length) {
    offset = std::min(offset, farthest);
    // For a range longer than a window, reads only the beginning, which identifies it; the rest later goes directly to
    // its destination.
    length = length > window_limit(*bucket_) ? near_bytes : std::max<std::uint64_t>(length, 1);
    auto range = fetch(offset, length, {});
    if (!range) {
      return std::move(range.problem());
    }
    etag_ = range->etag;
    size_ = range->object_size;
    return ok();
  }

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  /// Never changes: all later requests are for this version alone.
  [[nodiscard]] std::optional<FileStamp> stamp() const override {
    return FileStamp{0, std::hash<std::string_view>()(etag_), 0, 0, size_};
  }

  Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    if (offset >= size_) {
      return std::size_t{0};
    }
    into = into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - offset)));
    const std::lock_guard lock(mutex_);
    const std::size_t ready = from_window(offset, into);
    const std::span<std::byte> rest = into.subspan(ready);
    if (rest.empty()) {
      return into.size();
    }
    const std::uint64_t start = offset + ready;
    if (rest.size() >= direct_bytes) {
      auto status = read_direct(start, rest);
      return status ? Outcome<std::size_t>(into.size()) : Outcome<std::size_t>(std::move(status.problem()));
    }
    const std::uint64_t window_end = window_offset_ + window_.size();
    const bool goes_on = !window_.empty() && start >= window_end && start - window_end <= near_bytes;
    const std::uint64_t ahead =
        goes_on ? std::clamp<std::uint64_t>(window_.size() * 2, near_bytes, window_limit(*bucket_)) : 0;
    auto range = fetch(start, std::min(std::max<std::uint64_t>(rest.size(), ahead), size_ - start), etag_);
    return range ? Outcome<std::size_t>(ready + from_window(start, rest)) : std::move(range.problem());
  }

 private:
  /// Copies the bytes of `into` that the window has, from its start; returns their number.
  std::size_t from_window(std::uint64_t offset, std::span<std::byte> into) const noexcept {
    if (offset < window_offset_ || offset - window_offset_ >= window_.size()) {
      return 0;
    }
    const auto from = static_cast<std::size_t>(offset - window_offset_);
    const std::size_t size = std::min(into.size(), window_.size() - from);
    std::memcpy(into.data(), window_.data() + from, size);
    return size;
  }

  Outcome<Bucket::Range> fetch(std::uint64_t offset, std::uint64_t length, const std::string& etag) const try {
    window_.resize(static_cast<std::size_t>(length));
    auto range = bucket_->get_range(name_, offset, window_, etag, true);
    window_offset_ = offset;
    window_.resize(range ? range->bytes : 0);
    return range;
  } catch (const std::bad_alloc&) {
    window_.clear();
    return Problem{ProblemKind::io, name_, {}, "memory ran out"};
  }

  Status read_direct(std::uint64_t offset, std::span<std::byte> into) const {
    const std::size_t pieces = (into.size() + piece_bytes - 1) / piece_bytes;
    return in_parallel(bucket_->client().settings().in_flight, pieces, [&](std::size_t i) {
      const std::size_t at = i * piece_bytes;
      const std::span<std::byte> piece = into.subspan(at, std::min<std::size_t>(into.size() - at, piece_bytes));
      auto range = bucket_->get_range(name_, offset + at, piece, etag_, false);
      if (!range) {
        return Status(std::move(range.problem()));
      }
      return range->bytes == piece.size() ? ok() : Problem{ProblemKind::io, name_, {}, "ends earlier than it did"};
    });
  }

  std::shared_ptr<Bucket> bucket_;
  std::string name_;
  std::string etag_;
  std::uint64_t size_ = 0;
  mutable std::mutex mutex_;
  mutable std::uint64_t window_offset_ = 0;
  mutable std::vector<std::byte> window_;
};

/// Returns the prefix of the names of a folder's files.
std::string prefix_of(std::string_view folder) { return text::path_in(text::without_slashes(folder), ""); }

std::vector<DirEntry> entries_of(const Bucket::Listed& page) {
  std::vector<DirEntry> entries = mapped(page.names, [](const std::string& each) {
    return DirEntry{std::string(text::leaf_of(each)), EntryKind::file};
  });
  for (const std::string& each : page.folders) {
    if (const std::string_view leaf = text::leaf_of(each); !leaf.empty() && leaf != "." && leaf != "..") {
      entries.push_back({std::string(leaf), EntryKind::folder});
    }
  }
  return entries;
}

/// Leaves `announce` out: callers that read many files use many threads, so earlier requests would gain nothing.
class S3Folder final : public Folder {
 public:
  S3Folder(std::shared_ptr<Bucket> bucket, std::string name) : bucket_(std::move(bucket)), name_(std::move(name)) {}

  Outcome<std::span<const std::byte>> read_all(std::string_view leaf, Buffer& buffer, std::uint64_t most) override {
    const std::string path = text::path_in(name_, leaf);
    if (!is_plain_name(leaf)) {
      return Problem{ProblemKind::damaged, path, {}, "is not the name of a file in a directory"};
    }
    const auto text = bucket_->get(path, most);
    if (!text) {
      return text.problem();
    }
    std::byte* const data = buffer.reserve(std::max<std::size_t>(text->size(), 1));
    if (data == nullptr) {
      return Problem{ProblemKind::io, path, {}, "memory ran out"};
    }
    std::memcpy(data, text->data(), text->size());
    return buffer.first(text->size());
  }

 private:
  std::shared_ptr<Bucket> bucket_;
  std::string name_;
};

/// Leaves `read_once` out: opening the file at its destination takes one request too, and reports errors. And `watch`:
/// S3 does not notify of changes.
class S3Storage final : public Storage {
 public:
  S3Storage(std::shared_ptr<Bucket> bucket, std::string root, Bucket::Listed top)
      : bucket_(std::move(bucket)), root_(std::move(root)), top_(std::move(top)) {}

  Outcome<std::vector<DirEntry>> list(std::string_view folder) override {
    std::vector<DirEntry> entries;
    auto listed = list_parts(folder, [&entries](std::vector<DirEntry> part) {
      entries.insert(entries.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    });
    return listed ? Outcome(std::move(entries)) : std::move(listed.problem());
  }

  Status list_parts(std::string_view folder, const TakeEntries& take) override {
    if (const auto refused = refuse_path(folder); !refused.empty()) {
      return Problem{ProblemKind::damaged, std::string(folder), {}, std::string(refused)};
    }
    if (folder.empty() && take_opening()) {
      take(entries_of(top_));
      return ok();
    }
    Bucket::Pages pages{limits::listing_pages};
    bool any = false;
    auto listed = bucket_->list_pages(prefix_of(folder), true, {}, pages, [&](const Bucket::Listed& page) {
      any = any || !page.names.empty() || !page.folders.empty();
      take(entries_of(page));
      return ok();
    });
    if (!listed) {
      return listed;
    }
    return any ? ok()
               : Status(make_problem(ProblemKind::not_found, "there are no objects below it",
                                     std::string(text::without_slashes(folder))));
  }

  /// Lists the folders in parallel if there is more than one page, because one page at a time is slow.
  Status list_below(std::string_view folder, std::string_view after, const TakeNames& take) override {
    if (const auto refused = refuse_path(folder); !refused.empty()) {
      return Problem{ProblemKind::damaged, std::string(folder), {}, std::string(refused)};
    }
    const std::string prefix = prefix_of(folder);
    const std::string start = after.empty() ? std::string() : prefix + std::string(after);
    const auto first = bucket_->list_first(prefix, false, start);
    if (!first) {
      return first.problem();
    }
    Below below{prefix, first->names.empty() ? start : first->names.back(), take};
    below.give(first->names);
    return first->truncated ? list_rest(below) : ok();
  }

  /// Lists page by page, because each event file may have a folder of its own.
  Outcome<FileTotals> totals_below(std::string_view folder, std::span<const std::string> except) override {
    if (const auto refused = refuse_path(folder); !refused.empty()) {
      return Problem{ProblemKind::damaged, std::string(folder), {}, std::string(refused)};
    }
    Bucket::Pages pages{limits::listing_pages};
    FileTotals totals;
    auto listed = bucket_->list_pages(prefix_of(folder), false, {}, pages, [&](const Bucket::Listed& page) {
      for (std::size_t i = 0; i < page.names.size(); ++i) {
        const std::string& name = page.names[i];
        const auto has = [&](const std::string& other) { return name.starts_with(other) && name[other.size()] == '/'; };
        if (std::ranges::none_of(except, has)) {
          totals.add(page.totals[i]);
        }
      }
      return ok();
    });
    return listed ? Outcome(totals) : std::move(listed.problem());
  }

  /// Uses the last listing, which tells whether a file that is written whole has changed.
  std::optional<FileStamp> file_stamp(std::string_view name) override {
    const auto facts = bucket_->listed_facts(name);
    if (!facts) {
      return std::nullopt;
    }
    const auto written = facts->written.value_or(std::chrono::system_clock::time_point());
    return FileStamp{0, facts->etag_hash, static_cast<std::uint64_t>(written.time_since_epoch().count()), 0,
                     facts->size};
  }

  std::optional<std::chrono::system_clock::time_point> written_at(std::string_view name) override {
    const auto facts = bucket_->listed_facts(name);
    return facts ? facts->written : std::nullopt;
  }

  bool exists(std::string_view name) override {
    if (!refuse_path(name).empty() || name.empty()) {
      return false;
    }
    if (const auto answer = from_opening(name)) {
      return *answer;
    }
    const std::string text(name);
    const auto first = first_of(text);
    const bool known = !first || *first == text || first->starts_with(text + "/");
    return known ? first.has_value() : first_of(text + "/").has_value();
  }

  Outcome<std::unique_ptr<File>> open(std::string_view name) override { return open_at(name, 0, 64 << 10); }

  Outcome<std::unique_ptr<File>> open_at(std::string_view name, std::uint64_t offset, std::uint64_t length) override {
    const std::string_view refused = name.empty() ? "the name is empty" : refuse_path(name);
    if (!refused.empty()) {
      return Problem{ProblemKind::damaged, std::string(name), {}, std::string(refused)};
    }
    auto file = std::make_unique<S3File>(bucket_, std::string(name));
    if (auto opened = file->open(offset, length); !opened) {
      return std::move(opened.problem());
    }
    return std::unique_ptr<File>(std::move(file));
  }

  Outcome<std::unique_ptr<Folder>> open_folder(std::string_view name) override {
    if (const auto refused = refuse_path(name); !refused.empty()) {
      return Problem{ProblemKind::damaged, std::string(name), {}, std::string(refused)};
    }
    return std::unique_ptr<Folder>(std::make_unique<S3Folder>(bucket_, std::string(text::without_slashes(name))));
  }

  void forget(std::string_view name) override { bucket_->forget(std::string(name)); }

  [[nodiscard]] unsigned parallelism() const noexcept override { return bucket_->client().settings().in_flight; }
  [[nodiscard]] std::chrono::milliseconds default_interval() const noexcept override { return std::chrono::seconds(5); }
  [[nodiscard]] bool remote() const noexcept override { return true; }
  [[nodiscard]] const std::string& root() const noexcept override { return root_; }

 private:
  /// Returns the first name that begins with `prefix`; nullopt if there is none or if the request failed, which is
  /// reported.
  std::optional<std::string> first_of(const std::string& prefix) {
    auto listed = bucket_->list_first(prefix, false, {}, 1);
    if (!listed && listed.problem().kind == ProblemKind::stopped) {
      return std::nullopt;  // the request was stopped
    }
    if (!listed) {
      bucket_->client().say(LogLevel::warning, "cannot ask whether there is '" + prefix +
                                                   "', so it is taken not to be there: " + listed.problem().text);
      return std::nullopt;
    }
    return listed->names.empty() ? std::nullopt : std::optional(std::move(listed->names.front()));
  }

  /// Returns whether the root is listed for the first time, and the listing that opened the trial is all of it.
  bool take_opening() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(listed_, true) && !top_.truncated && !(top_.names.empty() && top_.folders.empty());
  }

  /// For the first query of each name in the root, answers from the listing that opened the trial: a repeated query
  /// wants new information.
  std::optional<bool> from_opening(std::string_view name) {
    const std::lock_guard lock(mutex_);
    if (name.find('/') != name.npos || top_.truncated || !asked_.emplace(name).second) {
      return std::nullopt;
    }
    const auto has = [name](const std::vector<std::string>& names) { return contains(names, name); };
    return has(top_.names) || has(top_.folders);
  }

  /// One listing of everything below a folder, in parts.
  struct Below {
    const std::string prefix;
    const std::string last;  ///< Names up to this one have been passed on.
    const TakeNames& take;
    Bucket::Pages pages{limits::listing_pages};
    std::mutex mutex = {};

    /// Passes on the names that can be those of files.
    void give(const std::vector<std::string>& full) {
      std::vector<std::string> names;
      for (const std::string& name : full) {
        std::string own = name.substr(prefix.size());
        if (!own.empty() && !own.ends_with('/') && refuse_path(own).empty()) {
          names.push_back(std::move(own));
        }
      }
      const std::lock_guard lock(mutex);
      take(names);
    }
  };

  /// Lists what follows the first page: the files, and the folders, as many in parallel as a page names.
  Status list_rest(Below& below) {
    return bucket_->list_pages(below.prefix, true, {}, below.pages, [&](Bucket::Listed level) {
      std::erase_if(level.names, [&](const std::string& name) { return name <= below.last; });
      below.give(level.names);
      // The folder of the last name, and the folders after it.
      std::erase_if(level.folders, [&](const std::string& folder) {
        const std::string inner = folder + "/";
        return inner < below.last && !below.last.starts_with(inner);
      });
      return in_parallel(parallelism(), level.folders.size(), [&](std::size_t i) {
        const std::string inner = level.folders[i] + "/";
        return bucket_->list_pages(inner, false, below.last.starts_with(inner) ? below.last : std::string(),
                                   below.pages, [&](const Bucket::Listed& page) {
                                     below.give(page.names);
                                     return ok();
                                   });
      });
    });
  }

  std::shared_ptr<Bucket> bucket_;
  std::string root_;
  std::mutex mutex_;
  Bucket::Listed top_;
  // Guarded by mutex_:
  std::set<std::string, std::less<>> asked_;
  bool listed_ = false;  // the root, from `top_`
};

std::shared_ptr<Cache> open_cache(const std::shared_ptr<Client>& client) {
  if (client->settings().cache.empty()) {
    return nullptr;
  }
  // The client lives as long as everything that may log.
  return std::make_shared<Cache>(client->settings().cache, limits::cache_bytes,
                                 [weak = std::weak_ptr<Client>(client)](const std::string& text) {
                                   if (const auto strong = weak.lock()) {
                                     strong->say(LogLevel::warning, text);
                                   }
                                 });
}

}  // namespace

Status in_parallel(unsigned jobs, std::size_t count, const std::function<Status(std::size_t)>& work) {
  Status result = ok();
  parallel_ordered(
      jobs, count, count, [&](std::size_t index, unsigned) { return work(index); },
      [&](std::size_t, Status status) {
        result = std::move(status);
        return static_cast<bool>(result);
      });
  return result;
}

Outcome<std::unique_ptr<Storage>> open_s3(const std::string& url, Settings settings) {
  auto location = parse_location(url);
  if (!location) {
    return std::move(location.problem());
  }
  Stop stop = settings.stop;
  std::function<void()> answered = settings.answered;
  std::shared_ptr<Client> client = shared_client(std::move(settings));
  auto bucket =
      std::make_shared<Bucket>(client, std::move(*location), open_cache(client), std::move(stop), std::move(answered));
  auto top = bucket->list_first({}, true, {});
  if (!top) {
    return std::move(top.problem());
  }
  if (top->names.empty() && top->folders.empty() && !top->truncated) {
    return make_problem(ProblemKind::not_found, "there is nothing in the bucket " +
                                                    in_quotes(bucket->location().bucket) + " below " +
                                                    in_quotes(bucket->location().prefix));
  }
  return std::unique_ptr<Storage>(std::make_unique<S3Storage>(std::move(bucket), url, std::move(*top)));
}

std::unique_ptr<Storage> read_s3(std::shared_ptr<Bucket> bucket, std::string root) {
  Bucket::Listed unknown;
  unknown.truncated = true;
  return std::make_unique<S3Storage>(std::move(bucket), std::move(root), std::move(unknown));
}

}  // namespace smd::detail::storage::s3
