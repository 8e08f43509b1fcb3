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
/// AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION, AWS_PROFILE, AWS_CA_BUNDLE, AWS_MAX_ATTEMPTS,
/// AWS_USE_FIPS_ENDPOINT, SMD_CACHE_DIR), then from the profile in the AWS files; a bucket's region is found out if
/// need be. Credentials come from the environment, a web identity (AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN), the
/// profile (keys, credential_process, role_arn with source_profile, credential_source or web_identity_token_file), the
/// container's endpoint or the instance's metadata (version 2), in this order, except that a profile with a role_arn
/// and a source comes before the web identity. They are renewed five minutes before they expire; with a profile given
/// here the environment's are left aside. They never stand in a text that the library hands out.
struct RemoteOptions {
  std::string endpoint_url = {};  ///< `https://host:port`: another server than AWS, with buckets in the path.
  std::string region = {};
  std::string profile = {};
  bool sign_requests = true;    ///< False: ask as anybody, for public buckets.
  bool requester_pays = false;  ///< Who asks pays for requests and transfer: for buckets with Requester Pays.
  /// Folder in which objects are kept by their ETag, so that they are fetched once; made if need be, shared by any
  /// number of processes, bounded (`limits::cache_bytes`). A folder that is not empty and that no cache made (it lacks
  /// the file CACHEDIR.TAG) is refused with InvalidArgument, and nothing in it changes. Empty, and SMD_CACHE_DIR unset:
  /// nothing is kept.
  std::string cache = {};
  /// Told what goes on; may be empty. Called from any thread, never from two at once.
  std::function<void(RemoteDetail, std::string_view)> log = {};
  /// True ends every request made with these options, those in progress included, as well as waits between attempts:
  /// they then give a problem of kind `ProblemKind::stopped`. For a stop token, a deadline, or both. Asked every 50 ms
  /// while something is waited for, from any thread and from several at once; must return quickly, must not throw, and
  /// stays true once it is. Empty: nothing ends a request but its own limits.
  std::function<bool()> stop = {};
  /// Called after each answer of the store, whatever it says; not for a request that got none. For who wants to know
  /// whether the store still answers. From any thread and from several at once; must not throw. May be empty.
  std::function<void()> answered = {};
};

/// Whether a trial's path is that of a remote store: begins with `s3://`.
[[nodiscard]] SMD_EXPORT bool is_remote_path(std::string_view path) noexcept;
/// What is wrong with the form of such a path; empty if it may be a trial's. Nothing is asked of a server.
[[nodiscard]] SMD_EXPORT std::string_view refuse_remote_path(std::string_view path) noexcept;

}  // namespace smd
