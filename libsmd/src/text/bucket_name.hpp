// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/ascii.hpp"

#include <algorithm>
#include <string_view>

namespace smd::text {

/// Returns true if a text may name a bucket. Old buckets have underscores, capital letters and up to 255 characters.
[[nodiscard]] inline bool is_bucket_name(std::string_view name) noexcept {
  return name.size() >= 3 && name.size() <= 255 && is_alphanumeric(name.front()) && name.find("..") == name.npos &&
         std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || c == '-' || c == '.' || c == '_'; });
}

/// Returns why a path that begins with `s3://` cannot name a trial; empty if it can.
[[nodiscard]] inline std::string_view refuse_location(std::string_view url) noexcept {
  constexpr std::string_view scheme = "s3://";
  if (!url.starts_with(scheme)) {
    return "is no S3 URL; it should look like s3://bucket/prefix";
  }
  url.remove_prefix(scheme.size());
  const std::string_view bucket = url.substr(0, url.find('/'));
  if (is_bucket_name(bucket)) {
    return {};
  }
  return bucket.starts_with("arn:") ? "access points are not supported; name the bucket itself: s3://bucket/prefix"
                                    : "has no valid bucket name; it should look like s3://bucket/prefix";
}

}  // namespace smd::text
