// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace smd {

/// How much is said of what goes on with a remote store.
enum class RemoteDetail : std::uint8_t {
  warning,  ///< Something wanted does not work, but there is a way without it: the cache, say.
  info,     ///< An attempt failed and is made again.
  debug,    ///< Every request.
};

/// How to reach trials at `s3://bucket/prefix`. What is empty is taken from the environment (AWS_ENDPOINT_URL_S3,
/// AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION, AWS_PROFILE, AWS_CA_BUNDLE, AWS_MAX_ATTEMPTS, SMD_CACHE_DIR), then
/// from the profile in the AWS files; a bucket's region is found out if need be. Credentials come from the environment,
/// the profile (keys, credential_process, role_arn with source_profile or credential_source), the container's endpoint
/// or the instance's metadata (version 2), in this order, and are renewed five minutes before they expire; with a
/// profile given here the environment's are left aside. They never stand in a text that the library hands out.
struct RemoteOptions {
  std::string endpoint_url = {};  ///< `https://host:port`: another server than AWS, with buckets in the path.
  std::string region = {};
  std::string profile = {};
  bool sign_requests = true;  ///< False: ask as anybody, for public buckets.
  /// Folder in which objects are kept by their ETag, so that they are fetched once; made if need be, shared by any
  /// number of processes, bounded (`limits::cache_bytes`). Empty, and SMD_CACHE_DIR unset: nothing is kept.
  std::string cache = {};
  /// Told what goes on; may be empty. Called from any thread, never from two at once.
  std::function<void(RemoteDetail, std::string_view)> log = {};
};

/// Whether a trial's path is that of a remote store: begins with `s3://`.
[[nodiscard]] SMD_EXPORT bool is_remote_path(std::string_view path) noexcept;

}  // namespace smd
