// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/s3_storage.hpp"

#include <smd/limits.hpp>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/escape.hpp"
#include "base/parallel.hpp"
#include "storage/beneath.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr unsigned all_pages = limits::listing_pages;

/// Without `/` at its end.
std::string folder_name(std::string_view name) {
  while (name.ends_with('/')) {
    name.remove_suffix(1);
  }
  return std::string(name);
}

std::string_view leaf_of(std::string_view name) noexcept { return name.substr(name.rfind('/') + 1); }

class S3Folder final : public Folder {
 public:
  S3Folder(std::shared_ptr<Bucket> bucket, std::string name) : bucket_(std::move(bucket)), name_(std::move(name)) {}

  Outcome<std::span<const std::byte>> read_all(std::string_view leaf, Buffer& buffer, std::uint64_t most) override {
    const std::string path = name_.empty() ? std::string(leaf) : name_ + "/" + std::string(leaf);
    if (leaf.empty() || leaf == "." || leaf == ".." || leaf.find('/') != leaf.npos || leaf.find('\0') != leaf.npos) {
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
    return std::span<const std::byte>(data, text->size());
  }

  /// Whoever reads many has many threads that do; nothing is gained by asking earlier.
  void announce(std::span<const std::string_view> /*names*/) override {}

 private:
  std::shared_ptr<Bucket> bucket_;
  std::string name_;
};

class S3Storage final : public Storage {
 public:
  S3Storage(std::shared_ptr<Bucket> bucket, std::string root, Bucket::Listed top)
      : bucket_(std::move(bucket)), root_(std::move(root)), top_(std::move(top)) {}

  Outcome<std::vector<DirEntry>> list(std::string_view folder) override {
    if (const auto refused = refuse_path(folder); !refused.empty()) {
      return Problem{ProblemKind::damaged, std::string(folder), {}, std::string(refused)};
    }
    const std::string name = folder_name(folder);
    const auto listed = bucket_->list(name.empty() ? name : name + "/", true, {}, all_pages);
    if (!listed) {
      return listed.problem();
    }
    if (listed->names.empty() && listed->folders.empty()) {
      return Problem{ProblemKind::not_found, name, {}, "there are no objects below it"};
    }
    std::vector<DirEntry> entries;
    for (const std::string& each : listed->names) {
      entries.push_back({std::string(leaf_of(each)), EntryKind::file});
    }
    for (const std::string& each : listed->folders) {
      const std::string_view leaf = leaf_of(each);
      if (!leaf.empty() && leaf != "." && leaf != "..") {
        entries.push_back({std::string(leaf), EntryKind::folder});
      }
    }
    return entries;
  }

  /// One page at a time is slow where there are many: then the folders are listed at once.
  Outcome<std::vector<std::string>> list_below(std::string_view folder, std::string_view after) override {
    if (const auto refused = refuse_path(folder); !refused.empty()) {
      return Problem{ProblemKind::damaged, std::string(folder), {}, std::string(refused)};
    }
    const std::string prefix = folder_name(folder) + "/";
    const std::string start = after.empty() ? std::string() : prefix + std::string(after);
    auto first = bucket_->list(prefix, false, start, 1);
    if (!first) {
      return std::move(first.problem());
    }
    std::vector<std::string> names = std::move(first->names);
    if (first->truncated) {
      auto rest = list_rest(prefix, names.empty() ? start : names.back());
      if (!rest) {
        return std::move(rest.problem());
      }
      names.insert(names.end(), std::make_move_iterator(rest->begin()), std::make_move_iterator(rest->end()));
    }
    for (std::string& name : names) {
      name.erase(0, prefix.size());
    }
    std::erase_if(names, [](const std::string& name) {
      return name.empty() || name.ends_with('/') || !refuse_path(name).empty();
    });
    return names;
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
    if (!first || *first == text || first->starts_with(text + "/")) {
      return first.has_value();
    }
    return first_of(text + "/").has_value();
  }

  Outcome<std::unique_ptr<File>> open(std::string_view name) override { return open_at(name, 0, 64 << 10); }

  Outcome<std::unique_ptr<File>> open_at(std::string_view name, std::uint64_t offset, std::uint64_t length) override {
    return open_s3_file(bucket_, name, offset, length);
  }

  /// To open it where it is to be read costs one request too, and tells what is wrong.
  bool read_once(std::string_view /*name*/, std::uint64_t /*offset*/, std::span<std::byte> /*into*/) override {
    return false;
  }

  Outcome<std::unique_ptr<Folder>> open_folder(std::string_view name) override {
    if (const auto refused = refuse_path(name); !refused.empty()) {
      return Problem{ProblemKind::damaged, std::string(name), {}, std::string(refused)};
    }
    return std::unique_ptr<Folder>(std::make_unique<S3Folder>(bucket_, folder_name(name)));
  }

  /// S3 tells nobody of changes.
  std::unique_ptr<Watch> watch(std::chrono::milliseconds /*poll_interval*/) override { return nullptr; }

  void forget(std::string_view name) override { bucket_->forget(std::string(name)); }

  [[nodiscard]] unsigned parallelism() const noexcept override { return bucket_->client().settings().in_flight; }
  [[nodiscard]] std::chrono::milliseconds default_interval() const noexcept override { return std::chrono::seconds(5); }
  [[nodiscard]] bool remote() const noexcept override { return true; }
  [[nodiscard]] const std::string& root() const noexcept override { return root_; }

 private:
  /// The first name that begins with `prefix`. Not to be told from none: one that cannot be asked for, which is said.
  std::optional<std::string> first_of(const std::string& prefix) {
    auto listed = bucket_->list(prefix, false, {}, 1, 1);
    if (!listed) {
      bucket_->client().say(RemoteDetail::warning, "cannot ask whether there is '" + prefix +
                                                       "', so it is taken not to be there: " + listed.problem().text);
      return std::nullopt;
    }
    return listed->names.empty() ? std::nullopt : std::optional(std::move(listed->names.front()));
  }

  /// The listing that opened the trial answers the first question for each name in the root: whoever asks again wants
  /// to know what is new.
  std::optional<bool> from_opening(std::string_view name) {
    const std::lock_guard lock(mutex_);
    if (name.find('/') != name.npos || top_.truncated || !asked_.emplace(name).second) {
      return std::nullopt;
    }
    const auto has = [name](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    return has(top_.names) || has(top_.folders);
  }

  /// All names past `last` that begin with `prefix`.
  Outcome<std::vector<std::string>> list_rest(const std::string& prefix, const std::string& last) {
    auto level = bucket_->list(prefix, true, {}, all_pages);
    if (!level) {
      return std::move(level.problem());
    }
    std::vector<std::string> names;
    std::copy_if(level->names.begin(), level->names.end(), std::back_inserter(names),
                 [&](const std::string& name) { return name > last; });
    // The folder that `last` lies in, and those after it.
    std::erase_if(level->folders, [&](const std::string& folder) {
      const std::string below = folder + "/";
      return below < last && !last.starts_with(below);
    });
    std::vector<std::vector<std::string>> found(level->folders.size());
    std::mutex mutex;
    std::optional<Problem> trouble;
    parallel_for(parallelism(), found.size(), 1, [&](std::size_t begin, std::size_t end, unsigned) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::string below = level->folders[i] + "/";
        auto listed = bucket_->list(below, false, last.starts_with(below) ? last : std::string(), all_pages);
        if (listed) {
          found[i] = std::move(listed->names);
          continue;
        }
        const std::lock_guard lock(mutex);
        trouble = std::move(listed.problem());
      }
    });
    if (trouble) {
      return std::move(*trouble);
    }
    for (std::vector<std::string>& part : found) {
      names.insert(names.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::shared_ptr<Bucket> bucket_;
  std::string root_;
  std::mutex mutex_;
  Bucket::Listed top_;
  std::set<std::string, std::less<>> asked_;  // guarded by mutex_
};

std::shared_ptr<Cache> open_cache(const std::shared_ptr<Client>& client) {
  if (client->settings().cache.empty()) {
    return nullptr;
  }
  // The client lives as long as all who might want to say something.
  return Cache::open(client->settings().cache, limits::cache_bytes,
                     [weak = std::weak_ptr<Client>(client)](const std::string& text) {
                       if (const auto strong = weak.lock()) {
                         strong->say(RemoteDetail::warning, text);
                       }
                     });
}

}  // namespace

Outcome<std::unique_ptr<Storage>> open_s3(const std::string& url, Settings settings) {
  auto location = parse_location(url);
  if (!location) {
    return std::move(location.problem());
  }
  std::shared_ptr<Client> client = shared_client(std::move(settings));
  auto bucket = std::make_shared<Bucket>(client, std::move(*location), open_cache(client));
  auto top = bucket->list({}, true, {}, 1);
  if (!top) {
    return std::move(top.problem());
  }
  if (top->names.empty() && top->folders.empty() && !top->truncated) {
    return Problem{ProblemKind::not_found,
                   {},
                   {},
                   "there is nothing in the bucket '" + printable(bucket->location().bucket) + "' below '" +
                       printable(bucket->location().prefix) + "'"};
  }
  return std::unique_ptr<Storage>(std::make_unique<S3Storage>(std::move(bucket), url, std::move(*top)));
}

}  // namespace smd::detail::storage::s3
