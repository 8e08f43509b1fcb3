// SPDX-License-Identifier: Apache-2.0
#include <smd/limits.hpp>

#include <cstring>

#include "base/escape.hpp"
#include "storage/s3/s3_storage.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr unsigned most_empty_pages = 100;  ///< In a row: what was deleted may take up pages.

}  // namespace

Bucket::Bucket(std::shared_ptr<Client> client, Location location, std::shared_ptr<Cache> cache)
    : client_(std::move(client)), location_(std::move(location)), cache_(std::move(cache)) {}

Problem Bucket::problem(ProblemKind kind, const std::string& name, std::string text) const {
  return {kind, name, {}, std::move(text)};
}

Outcome<Bucket::Listed> Bucket::list(const std::string& name, bool one_level, const std::string& after,
                                     unsigned most_pages, unsigned page_size) {
  Listed listed;
  const std::string prefix = key_of(name);
  std::string last = after.empty() ? std::string() : key_of(after);
  std::string token;
  const auto wrong = [&](const std::string& text) {
    return problem(ProblemKind::network, name, "the listing " + text);
  };
  for (unsigned pages = 0, empty_pages = 0;;) {
    Ask ask;
    ask.bucket = location_.bucket;
    ask.file = name;
    ask.query = {{"list-type", "2"}, {"encoding-type", "url"}, {"prefix", prefix}};
    if (one_level) {
      ask.query.emplace_back("delimiter", "/");
    }
    if (page_size != 1000) {
      ask.query.emplace_back("max-keys", std::to_string(page_size));
    }
    if (!token.empty()) {
      ask.query.emplace_back("continuation-token", token);
    } else if (!after.empty()) {
      ask.query.emplace_back("start-after", key_of(after));
    }
    const auto response = client_->ask(ask);
    if (!response) {
      return response.problem();
    }
    if (response->status != 200) {
      return wrong("is not to be had: status " + std::to_string(response->status));
    }
    auto page = parse_list_page(response->body);
    if (!page) {
      page.problem().file = name;
      return std::move(page.problem());
    }
    std::string page_last = last;
    const auto take = [&](std::string& key, bool folder) {
      if (!key.starts_with(prefix) || key <= last) {
        return false;
      }
      page_last = std::max(page_last, key);
      key.erase(0, location_.prefix.size());
      if (folder) {
        if (!key.ends_with('/')) {
          return false;
        }
        key.pop_back();
      }
      return true;
    };
    for (ListedObject& object : page->objects) {
      if (!take(object.key, false)) {
        return wrong("names '" + printable(object.key) + "', which does not belong there");
      }
      if (object.key == name && (name.empty() || name.ends_with('/'))) {
        continue;  // stands for the folder itself
      }
      if (cache_ && !object.etag.empty()) {
        const std::lock_guard lock(mutex_);
        etags_[object.key] = object.etag;
      }
      listed.names.push_back(std::move(object.key));
    }
    for (std::string& folder : page->prefixes) {
      if (!take(folder, true)) {
        return wrong("names the folder '" + printable(folder) + "', which does not belong there");
      }
      listed.folders.push_back(std::move(folder));
    }
    if (!page->truncated) {
      return listed;
    }
    const bool empty = page->objects.empty() && page->prefixes.empty();
    empty_pages = empty ? empty_pages + 1 : 0;
    pages += empty ? 0 : 1;
    if (pages >= most_pages) {
      listed.truncated = true;
      if (most_pages >= limits::listing_pages) {
        return wrong("has more than " + std::to_string(limits::listing_pages) + " pages, the most allowed");
      }
      return listed;
    }
    if (page->token == token || empty_pages > most_empty_pages) {
      return wrong("does not get on");
    }
    token = std::move(page->token);
    last = std::move(page_last);
  }
}

std::string Bucket::cache_name(const std::string& name, std::string_view part) const {
  const Settings& settings = client_->settings();
  return (settings.endpoint ? settings.endpoint->host + settings.endpoint->base : std::string("aws")) + "\n" +
         location_.bucket + "\n" + std::string(part) + "\n" + key_of(name);  // only a key may hold line breaks
}

std::string Bucket::listed_etag(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = etags_.find(name);
  return found == etags_.end() ? std::string() : found->second;
}

void Bucket::forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  etags_.erase(name);
}

Outcome<std::string> Bucket::get(const std::string& name, std::uint64_t most) {
  Ask ask;
  ask.bucket = location_.bucket;
  ask.key = key_of(name);
  ask.file = name;
  ask.most = most;
  std::optional<Cache::Entry> kept;
  if (cache_) {
    kept = cache_->find(cache_name(name, ""));
    if (kept && kept->etag == listed_etag(name) && kept->data.size() <= most) {
      return std::move(kept->data);
    }
    if (kept) {
      ask.headers.push_back({"if-none-match", kept->etag});
    }
  }
  auto response = client_->ask(ask);
  if (!response) {
    return std::move(response.problem());
  }
  if (response->status == 304 && kept) {
    return std::move(kept->data);
  }
  if (response->status == 404) {
    return problem(ProblemKind::not_found, name, "no such object");
  }
  if (response->status != 200) {
    return problem(ProblemKind::network, name, "the server answers status " + std::to_string(response->status));
  }
  if (cache_) {
    cache_->keep(cache_name(name, ""), {std::string(response->header("etag")), response->body.size(), response->body});
  }
  return std::move(response->body);
}

Outcome<Bucket::Range> Bucket::get_range(const std::string& name, std::uint64_t offset, std::span<std::byte> into,
                                         const std::string& etag, bool keep) {
  Ask ask;
  ask.bucket = location_.bucket;
  ask.key = key_of(name);
  ask.file = name;
  ask.into = into;
  ask.offset = offset;
  const std::string part = keep && cache_ ? std::to_string(offset) + "+" + std::to_string(into.size()) : std::string();
  std::optional<Cache::Entry> kept;
  if (!part.empty()) {
    kept = cache_->find(cache_name(name, part));
    if (kept && kept->data.size() > into.size()) {
      kept.reset();
    }
    if (kept && !etag.empty() && kept->etag == etag) {  // of the very object that is being read
      std::memcpy(into.data(), kept->data.data(), kept->data.size());
      return Range{kept->etag, kept->object_size, kept->data.size()};
    }
  }
  if (!etag.empty()) {
    ask.headers.push_back({"if-match", etag});
  } else if (kept) {
    ask.headers.push_back({"if-none-match", kept->etag});
  }
  const auto response = client_->ask(ask);
  if (!response) {
    return response.problem();
  }
  switch (response->status) {
    case 304:
      if (kept && etag.empty()) {
        std::memcpy(into.data(), kept->data.data(), kept->data.size());
        return Range{kept->etag, kept->object_size, kept->data.size()};
      }
      break;
    case 404:
      return problem(ProblemKind::not_found, name, "no such object");
    case 412:
      return problem(ProblemKind::io, name, "was replaced while it was read; try again");
    case 416:
      if (const auto range = parse_content_range(response->header("content-range"));
          range && !range->first && range->total <= offset) {
        return Range{std::string(response->header("etag")), range->total, 0};
      }
      break;
    case 200:
    case 206: {
      const auto range = parse_content_range(response->header("content-range"));
      const auto length = parse_number(response->header("content-length"));
      Range result{std::string(response->header("etag")), response->status == 206 ? range->total : *length,
                   response->into_bytes};
      if (!part.empty() && result.bytes > 0) {
        cache_->keep(cache_name(name, part), {result.etag, result.object_size,
                                              std::string(reinterpret_cast<const char*>(into.data()), result.bytes)});
      }
      return result;
    }
    default:
      break;
  }
  return problem(ProblemKind::network, name, "the server answers status " + std::to_string(response->status));
}

}  // namespace smd::detail::storage::s3
