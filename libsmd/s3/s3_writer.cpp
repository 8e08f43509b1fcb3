// SPDX-License-Identifier: Apache-2.0
#include "s3/s3_writer.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "s3/s3_storage.hpp"
#include "s3/upload.hpp"

namespace smd::detail::storage::s3 {
namespace {

/// Returns the folder in the root that contains a name, with `/`; for a file in the root, its name.
std::string top_of(const std::string& name) { return name.substr(0, std::min(name.find('/'), name.size() - 1) + 1); }

/// The listed part of a folder: all names from `first` to `last`, or to the end.
struct Listed {
  std::string first;
  std::optional<std::string> last;
  std::vector<std::string> names;  // sorted

  [[nodiscard]] bool covers(const std::string& name) const { return name >= first && (!last || name <= *last); }
  [[nodiscard]] bool has(const std::string& name) const { return std::binary_search(names.begin(), names.end(), name); }
};

class S3Writer final : public RemoteWriter {
 public:
  S3Writer(std::shared_ptr<Bucket> bucket, std::string root, UploadSizes sizes)
      : bucket_(std::move(bucket)), root_(std::move(root)), sizes_(sizes) {}

  std::unique_ptr<Upload> upload(const std::string& name) override {
    // The listing is outdated by this write and is requested again.
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(top_of(name)); known != known_.end() && known->second.covers(name)) {
      known->second.first = name + '\0';
    }
    return std::make_unique<S3Upload>(bucket_, name, sizes_);
  }

  Outcome<bool> exists(const std::string& name) override {
    const std::string top = top_of(name);
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = known_.find(top); known != known_.end() && known->second.covers(name)) {
        return known->second.has(name);
      }
    }
    // Listings begin after a name: listing after this name without its last character returns this name within a few
    // entries.
    auto page = bucket_->list_first(top, false, name.substr(0, name.size() - 1));
    if (!page) {
      return std::move(page.problem());
    }
    Listed listed{name, std::nullopt, std::move(page->names)};
    if (page->truncated) {
      listed.last = listed.names.empty() ? name : listed.names.back();
    }
    const bool there = listed.has(name);
    const std::lock_guard lock(mutex_);
    known_.insert_or_assign(top, std::move(listed));
    return there;
  }

  std::unique_ptr<Storage> reader() override { return read_s3(bucket_, root_); }
  [[nodiscard]] const std::string& root() const noexcept override { return root_; }

 private:
  const std::shared_ptr<Bucket> bucket_;
  const std::string root_;
  const UploadSizes sizes_;
  std::mutex mutex_;
  std::map<std::string, Listed> known_;  // by folder; guarded by mutex_
};

}  // namespace

Outcome<std::unique_ptr<RemoteWriter>> open_s3_writer(const std::string& url, Settings settings, UploadSizes sizes) {
  auto location = parse_location(url);
  if (!location) {
    return std::move(location.problem());
  }
  settings.cache.clear();  // writing does not use the cache
  Stop stop = settings.stop;
  auto bucket =
      std::make_shared<Bucket>(shared_client(std::move(settings)), std::move(*location), nullptr, std::move(stop));
  std::string root = url;
  if (root.ends_with('/')) {  // only one: a second one is part of the keys
    root.pop_back();
  }
  return std::unique_ptr<RemoteWriter>(std::make_unique<S3Writer>(std::move(bucket), std::move(root), sizes));
}

}  // namespace smd::detail::storage::s3
