// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <pugixml.hpp>

#include "s3/s3_storage.hpp"
#include "text/escape.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::size_t most_parts = 10'000;  ///< S3's own limit.

/// The buffer grows with its content up to this size, then at once to its maximum: growing in steps would briefly need
/// twice as much. Pages that are not written to take no memory.
constexpr std::size_t small_bytes = std::size_t{1} << 20;

constexpr std::chrono::seconds time_after_stop{1};  ///< To remove what was sent.

std::string upload_id(const std::string& xml) {
  pugi::xml_document document;
  if (!document.load_buffer(xml.data(), xml.size())) {
    return {};
  }
  return document.child("InitiateMultipartUploadResult").child_value("UploadId");
}

std::string list_of_parts(const std::vector<std::string>& etags) {
  std::string xml = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (std::size_t i = 0; i < etags.size(); ++i) {
    xml += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>";
    for (const char c : etags[i]) {
      xml += c == '"' ? "&quot;" : c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
    }
    xml += "</ETag></Part>";
  }
  return xml + "</CompleteMultipartUpload>";
}

/// See storage::Upload.
class S3Upload final : public Upload {
 public:
  S3Upload(std::shared_ptr<Bucket> bucket, std::string name, UploadSizes sizes)
      : bucket_(std::move(bucket)), name_(std::move(name)), sizes_(sizes) {}

  S3Upload(const S3Upload&) = delete;
  S3Upload& operator=(const S3Upload&) = delete;
  /// Asks the server to remove parts that were sent. If that fails, a lifecycle rule of the bucket should remove them
  /// (AbortIncompleteMultipartUpload).
  ~S3Upload() override {
    if (id_.empty()) {
      return;
    }
    try {
      // A stop does not skip this, because remaining parts cost money, but limits its time.
      Ask drop = ask("DELETE", {{"uploadId", id_}});
      if (is_stopped(drop.stop)) {
        drop.stop = nullptr;
        drop.total = time_after_stop;
      }
      if (auto dropped = bucket_->client().ask(drop); !dropped) {
        bucket_->client().say(LogLevel::warning, "the parts of " + in_quotes(name_) +
                                                     " that were sent cannot be removed: " + dropped.problem().text);
      }
    } catch (...) {  // the parts remain: nothing more can be done
    }
  }

  Status write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      if (gathered_.size() == sizes_.whole) {  // and there is more
        if (Status sent = send_parts(); !sent) {
          return sent;
        }
      }
      const std::size_t size = std::min(bytes.size(), sizes_.whole - gathered_.size());
      if (gathered_.size() + size > std::max(gathered_.capacity(), small_bytes)) {
        gathered_.reserve(sizes_.whole);
      }
      gathered_.append(reinterpret_cast<const char*>(bytes.data()), size);
      bytes = bytes.subspan(size);
    }
    return ok();
  }

  Status commit() override {
    if (id_.empty()) {
      return put_whole();
    }
    Status sent = send_parts();
    return sent ? complete() : std::move(sent);
  }

 private:
  [[nodiscard]] Ask ask(const char* method, Query query = {}, std::string_view body = {}) const {
    Ask ask = bucket_->ask_about(name_);
    ask.method = method;
    ask.query = std::move(query);
    ask.body = body;
    return ask;
  }

  [[nodiscard]] Problem problem(std::string text) const { return {ProblemKind::network, name_, {}, std::move(text)}; }

  Status put_whole() {
    const auto response = bucket_->client().ask(ask("PUT", {}, gathered_));
    if (!response) {
      return response.problem();
    }
    return response->status == 200 ? ok() : problem("the server answers status " + std::to_string(response->status));
  }

  Status begin_parts() {
    const auto response = bucket_->client().ask(ask("POST", {{"uploads", ""}}));
    if (!response) {
      return response.problem();
    }
    id_ = response->status == 200 ? upload_id(response->body) : std::string();
    return id_.empty() ? Status(problem("the server does not begin an upload in parts")) : ok();
  }

  /// Sends everything in the buffer.
  Status send_parts() {
    if (Status begun = id_.empty() ? begin_parts() : ok(); !begun) {
      return begun;
    }
    const std::size_t first = etags_.size();
    const std::size_t count = (gathered_.size() + sizes_.part - 1) / sizes_.part;
    if (first + count > most_parts) {
      return make_problem(ProblemKind::io,
                          "is larger than " + std::to_string((most_parts * sizes_.part) >> 30) +
                              " GiB, the most that 10,000 parts of this size hold",
                          name_);
    }
    etags_.resize(first + count);
    Status sent = in_parallel(static_cast<unsigned>(count), count, [&](std::size_t i) {
      const auto body = std::string_view(gathered_).substr(i * sizes_.part, sizes_.part);
      return send_part(first + i + 1, body, etags_[first + i]);
    });
    if (sent) {
      sent_ += gathered_.size();
      gathered_.clear();
    }
    return sent;
  }

  Status send_part(std::size_t number, std::string_view body, std::string& etag) const {
    const auto response =
        bucket_->client().ask(ask("PUT", {{"partNumber", std::to_string(number)}, {"uploadId", id_}}, body));
    if (!response) {
      return response.problem();
    }
    etag = std::string(response->header("etag"));
    return response->status == 200 && !etag.empty()
               ? ok()
               : problem("the server does not take part " + std::to_string(number) + " of the upload (status " +
                         std::to_string(response->status) + ")");
  }

  Status complete() {
    const std::string parts = list_of_parts(etags_);
    Ask post = ask("POST", {{"uploadId", id_}}, parts);
    post.slow_answer = true;
    const auto response = bucket_->client().ask(post);
    if (!response) {
      return response.problem();
    }
    // An earlier attempt whose answer was lost may have succeeded.
    if (response->status != 200 && !(response->status == 404 && is_complete())) {
      return problem("the server does not put the parts of the upload together (status " +
                     std::to_string(response->status) + ")");
    }
    id_.clear();
    return ok();
  }

  /// Returns whether the object consists of these parts.
  [[nodiscard]] bool is_complete() const {
    const auto response = bucket_->client().ask(ask("HEAD"));
    return response && response->status == 200 && parse_number(response->header("content-length")) == sent_ &&
           response->header("etag").find("-" + std::to_string(etags_.size())) != std::string_view::npos;
  }

  std::shared_ptr<Bucket> bucket_;
  std::string name_;
  UploadSizes sizes_;
  std::string gathered_;
  std::uint64_t sent_ = 0;
  std::string id_;                  // of the multipart upload; empty if none was started
  std::vector<std::string> etags_;  // of the parts
};

/// Returns the folder in the root that contains a name, with `/`; for a file in the root, its name.
std::string top_of(const std::string& name) { return name.substr(0, std::min(name.find('/'), name.size() - 1) + 1); }

/// The listed part of a folder: all names from `first` to `last`, or to the end.
struct Listed {
  std::string first;
  std::optional<std::string> last;
  std::vector<std::string> names;  // sorted

  [[nodiscard]] bool covers(const std::string& name) const { return name >= first && (!last || name <= *last); }
  [[nodiscard]] bool has(const std::string& name) const { return std::ranges::binary_search(names, name); }
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
