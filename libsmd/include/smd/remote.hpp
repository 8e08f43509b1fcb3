// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/log.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace smd {

/// How to reach trials at `s3://bucket/prefix`. Empty fields are taken from the environment, then from the profile in
/// the AWS files: docs/s3.md lists the variables, and where credentials come from. If a profile is given here,
/// credentials in the environment are ignored. No text that the library returns contains credentials.
struct RemoteOptions {
  std::string endpoint_url = {};  ///< `https://host:port`: a server other than AWS, with buckets in the path.
  std::string region = {};
  std::string profile = {};
  bool sign_requests = true;    ///< False: send anonymous requests, for public buckets.
  bool requester_pays = false;  ///< The requester pays for requests and transfer: for buckets with Requester Pays.
  /// Folder in which objects are cached by their ETag, so that each is downloaded once. Created if needed, shared by
  /// any number of processes, bounded (the limit `cache_bytes`, see docs/security.md). A folder that is not empty and
  /// is not a cache (it lacks the file CACHEDIR.TAG) is refused with InvalidArgument and is not changed. If this field
  /// is empty and SMD_CACHE_DIR is not set, nothing is cached.
  std::string cache = {};
  /// Receives messages about requests, from any thread, but never from two at once; may be empty. Warning: something
  /// does not work, but there is an alternative, as without a cache; info: an attempt failed and is repeated; debug:
  /// every request.
  LogSink log = {};
  /// If it returns true, every request made with these options ends, including those in progress and waits between
  /// attempts, and so does opening, refreshing and reading a local trial (a look at one that takes less than 100 ms may
  /// end first); they return a problem of kind `ProblemKind::stopped`. For a stop token, a deadline, or both. Called
  /// every 50 ms during a wait, from any thread and from several at once; must return quickly, must not throw, and must
  /// keep returning true. Empty: only the requests' own limits end them.
  std::function<bool()> stop = {};
  /// Called after each request that the store answered, even if the object does not exist, but not after one that
  /// failed or was refused. Called from any thread and from several at once; must not throw. May be empty.
  std::function<void()> answered = {};
};

/// Returns whether a trial's path begins with `s3://`. To refresh such a trial costs requests; no changes are notified.
[[nodiscard]] SMD_EXPORT bool is_remote_path(std::string_view path) noexcept;

}  // namespace smd
