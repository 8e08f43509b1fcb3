// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "s3/s3_storage.hpp"
#include "text/escape.hpp"
#include "text/limits.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::string_view read_whole = ".json";  ///< How the names of index and collections files end.
/// Ends of the names of files that are written whole, so that a listing tells whether they changed.
constexpr std::string_view whole_from_the_start = ".safetensors";
constexpr std::string_view rewritten_whole = "trainer_state.json";
constexpr unsigned most_empty_pages = 100;     ///< In a row: deleted objects may take up pages.
constexpr std::chrono::seconds failed_for{4};  ///< Less than the interval at which a follower looks for changes.
constexpr std::size_t most_failed = 10'000;    ///< Objects whose failure is remembered.

Problem status_problem(const std::string& name, long status) {
  return status == 404 ? Problem{ProblemKind::not_found, name, {}, "no such object"}
                       : Problem{ProblemKind::network, name, {}, "the server answers status " + std::to_string(status)};
}

}  // namespace

Bucket::Bucket(std::shared_ptr<Client> client, Location location, std::shared_ptr<Cache> cache, Stop stop,
               std::function<void()> answered)
    : client_(std::move(client)),
      location_(std::move(location)),
      cache_(std::move(cache)),
      stop_(std::move(stop)),
      answered_(std::move(answered)) {}

Ask Bucket::ask_about(const std::string& name) const {
  Ask ask;
  ask.bucket = location_.bucket;
  ask.key = key_of(name);
  ask.file = name;
  ask.stop = &stop_;
  return ask;
}

Outcome<HttpResponse> Bucket::answer_to(const Ask& ask) {
  using Clock = std::chrono::steady_clock;
  const bool of_object = !ask.key.empty();
  if (of_object) {
    const std::lock_guard lock(failed_mutex_);
    const auto known = failed_.find(ask.file);
    if (known != failed_.end() && Clock::now() < known->second.forgotten) {
      return known->second.problem;
    }
  }
  auto response = client_->ask(ask);
  if (response) {
    if (answered_) {
      answered_();
    }
  } else if (of_object && response.problem().kind == ProblemKind::network) {
    const std::lock_guard lock(failed_mutex_);
    if (failed_.size() >= most_failed) {
      failed_.clear();
    }
    failed_.insert_or_assign(ask.file, Failed{response.problem(), Clock::now() + failed_for});
  }
  return response;
}

struct Bucket::PageRequest {
  const std::string& name;
  bool one_level;
  const std::string& after;
  std::string token;  ///< Of the next page; empty for the first one, and after the last one.
  std::string last;   ///< The last key so far.
  unsigned names = 1000;
};

/// Returns a page; `request` is then that of the next.
Outcome<Bucket::Listed> Bucket::list_page(PageRequest& request) {
  const std::string& name = request.name;
  const std::string prefix = key_of(name);
  const auto wrong = [&](const std::string& text) {
    return Problem{ProblemKind::network, name, {}, "the listing " + text};
  };
  Ask ask = ask_about(name);
  ask.key.clear();  // the request is for the bucket
  ask.query = {{"list-type", "2"}, {"encoding-type", "url"}, {"prefix", prefix}};
  if (request.one_level) {
    ask.query.emplace_back("delimiter", "/");
  }
  if (request.names != 1000) {
    ask.query.emplace_back("max-keys", std::to_string(request.names));
  }
  if (!request.token.empty()) {
    ask.query.emplace_back("continuation-token", request.token);
  } else if (!request.after.empty()) {
    ask.query.emplace_back("start-after", key_of(request.after));
  }
  const auto response = answer_to(ask);
  if (!response) {
    return response.problem();
  }
  if (response->status != 200) {
    return wrong("is unavailable: status " + std::to_string(response->status));
  }
  if (client_->repeats_secrets(response->body)) {
    return wrong("repeats the credentials that it was asked for with");
  }
  auto reply = parse_list_page(response->body);
  if (!reply) {
    return in_file(std::move(reply.problem()), name);
  }
  if (reply->truncated && reply->token == request.token) {
    return wrong("gives the same continuation token again");
  }
  request.token = reply->truncated ? std::move(reply->token) : std::string();
  Listed page;
  page.truncated = reply->truncated;
  const std::string before = request.last;
  const auto take = [&](std::string& key, bool folder) {
    if (!key.starts_with(prefix) || key <= before) {
      return false;
    }
    request.last = std::max(request.last, key);
    key.erase(0, location_.prefix.size());
    if (folder) {
      if (!key.ends_with('/')) {
        return false;
      }
      key.pop_back();
    }
    return true;
  };
  for (ListedObject& object : reply->objects) {
    if (!take(object.key, false)) {
      return wrong("names " + in_quotes(client_->scrub_server_text(object.key)) + ", which does not belong there");
    }
    if (object.key == name && (name.empty() || name.ends_with('/'))) {
      continue;  // represents the folder itself
    }
    if (cache_ || object.key.ends_with(read_whole) || object.key.ends_with(whole_from_the_start)) {
      listed_.add(object.key, object.size, object.etag, object.written);
    }
    page.totals.push_back({object.written, object.size});
    page.names.push_back(std::move(object.key));
  }
  for (std::string& folder : reply->prefixes) {
    if (!take(folder, true)) {
      return wrong("names the folder " + in_quotes(client_->scrub_server_text(folder)) +
                   ", which does not belong there");
    }
    page.folders.push_back(std::move(folder));
  }
  return page;
}

/// Returns the first page from `request` on that is not empty, or the last one; `request` is then that of the next.
Outcome<Bucket::Listed> Bucket::next_page(PageRequest& request) {
  for (unsigned empty_pages = 0; empty_pages <= most_empty_pages; ++empty_pages) {
    auto page = list_page(request);
    if (!page || !page->truncated || !page->names.empty() || !page->folders.empty()) {
      return page;
    }
  }
  return Problem{ProblemKind::network, request.name, {}, "the listing has nothing but empty pages"};
}

Status Bucket::list_pages(const std::string& name, bool one_level, const std::string& after, Pages& left,
                          const TakePage& take) {
  PageRequest request{name, one_level, after, {}, after.empty() ? std::string() : key_of(after)};
  while (true) {
    auto page = next_page(request);
    if (!page) {
      return std::move(page.problem());
    }
    if (!(page->names.empty() && page->folders.empty()) && left.fetch_sub(1) <= 0) {
      return make_problem(ProblemKind::network,
                          "the listing has more than " + std::to_string(limits::listing_pages) +
                              " pages of 1,000 names, the most allowed (listing_pages); name a folder further down",
                          name);
    }
    const bool last = !page->truncated;
    if (auto taken = take(std::move(*page)); !taken || last) {
      return taken;
    }
  }
}

Outcome<Bucket::Listed> Bucket::list_first(const std::string& name, bool one_level, const std::string& after,
                                           unsigned names) {
  PageRequest request{name, one_level, after, {}, after.empty() ? std::string() : key_of(after), names};
  return next_page(request);
}

std::string Bucket::cache_name(const std::string& name, std::string_view part) const {
  const Settings& settings = client_->settings();
  return (settings.endpoint ? settings.endpoint->host + settings.endpoint->base : std::string("aws")) + "\n" +
         location_.bucket + "\n" + std::string(part) + "\n" + key_of(name);  // only a key may contain line breaks
}

std::optional<ListedObjectFacts> Bucket::listed_facts(std::string_view name) const {
  return name.ends_with(whole_from_the_start) || name.ends_with(rewritten_whole) ? listed_.find(name) : std::nullopt;
}

void Bucket::forget(const std::string& name) { listed_.forget(name); }

Outcome<std::string> Bucket::get(const std::string& name, std::uint64_t most) {
  Ask ask = ask_about(name);
  ask.most = most;
  ask.listed = listed_.find(name);
  std::optional<Cache::Entry> kept;
  if (cache_) {
    kept = cache_->find(cache_name(name, ""));
    if (kept && ask.listed && ask.listed->has_etag(kept->etag) && kept->data.size() <= most) {
      return std::move(kept->data);
    }
    if (kept) {
      ask.headers.push_back({"if-none-match", kept->etag});
    }
  }
  auto response = answer_to(ask);
  if (!response) {
    return std::move(response.problem());
  }
  if (response->status == 304 && kept) {
    return std::move(kept->data);
  }
  if (response->status != 200) {
    return status_problem(name, response->status);
  }
  if (cache_) {
    cache_->keep(cache_name(name, ""), {std::string(response->header("etag")), response->body.size(), response->body});
  } else {
    listed_.forget(name);  // most are read only once
  }
  return std::move(response->body);
}

Outcome<Bucket::Range> Bucket::get_range(const std::string& name, std::uint64_t offset, std::span<std::byte> into,
                                         const std::string& etag, bool keep) {
  Ask ask = ask_about(name);
  ask.into = into;
  ask.offset = offset;
  const std::string part = keep && cache_ ? std::to_string(offset) + "+" + std::to_string(into.size()) : std::string();
  std::optional<Cache::Entry> kept;
  if (!part.empty()) {
    kept = cache_->find(cache_name(name, part));
    if (kept && kept->data.size() > into.size()) {
      kept.reset();
    }
    if (kept && !etag.empty() && kept->etag == etag) {  // of the same version of the object
      std::memcpy(into.data(), kept->data.data(), kept->data.size());
      return Range{kept->etag, kept->object_size, kept->data.size()};
    }
  }
  if (!etag.empty()) {
    ask.headers.push_back({"if-match", etag});
  } else if (kept) {
    ask.headers.push_back({"if-none-match", kept->etag});
  }
  const auto response = answer_to(ask);
  if (!response) {
    return response.problem();
  }
  const long status = response->status;
  const auto range = parse_content_range(response->header("content-range"));
  if (status == 304 && kept && etag.empty()) {
    std::memcpy(into.data(), kept->data.data(), kept->data.size());
    return Range{kept->etag, kept->object_size, kept->data.size()};
  }
  if (status == 412) {
    return Problem{ProblemKind::io, name, {}, "was replaced while it was read; try again"};
  }
  if (status == 416 && range && !range->first && range->total <= offset) {
    return Range{std::string(response->header("etag")), range->total, 0};
  }
  if (status != 200 && status != 206) {
    return status_problem(name, status);
  }
  Range result{std::string(response->header("etag")),
               status == 206 ? range->total : *parse_number(response->header("content-length")), response->into_bytes};
  if (!part.empty() && result.bytes > 0) {
    cache_->keep(cache_name(name, part), {result.etag, result.object_size,
                                          std::string(reinterpret_cast<const char*>(into.data()), result.bytes)});
  }
  return result;
}

}  // namespace smd::detail::storage::s3
