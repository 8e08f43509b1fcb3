// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/remote.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "s3/aws_files.hpp"
#include "s3/http.hpp"
#include "s3/uri.hpp"
#include "text/limits.hpp"
#include "types/outcome.hpp"

namespace smd::detail::storage::s3 {

/// How long to wait; tests wait less.
struct Patience {
  std::chrono::milliseconds connect{5000};
  std::chrono::seconds stall{20};
  std::chrono::milliseconds first_pause{500};  ///< Doubled with each attempt.
  std::chrono::milliseconds most_pause{20000};
  std::chrono::milliseconds metadata{1000};
  std::chrono::milliseconds total = std::chrono::seconds(limits::request_seconds);  ///< Includes all attempts.
};

/// Returns a random pause after attempt number `attempt` (from 1) failed, so that clients do not retry at the same
/// time.
[[nodiscard]] std::chrono::milliseconds random_pause(const Patience& patience, unsigned attempt);

/// The settings from options, environment and AWS files, in this order of precedence.
struct Settings {
  std::optional<Endpoint> endpoint;  ///< For S3.
  std::string region;                ///< The first region to try.
  bool region_given = false;         ///< Otherwise any region: S3 knows where a bucket is.
  std::string profile_name = "default";
  bool profile_by_option = false;  ///< Then credentials in the environment are ignored.
  bool profile_asked_for = false;  ///< By option or environment: it must exist.
  AwsFiles files;
  bool sign = true;
  bool requester_pays = false;
  bool fips = false;  ///< Use AWS endpoints that are validated by FIPS 140.
  std::string ca_file;
  unsigned attempts = 3;
  unsigned in_flight = 32;
  std::string cache;
  LogSink log;
  Stop stop;                       ///< For the user of these settings; a shared client takes it from each request.
  std::function<void()> answered;  ///< As `stop`.
  Patience patience;

  /// `in_flight` 0: the default, 32. Returns a problem of kind io, without a file, if a value is not valid.
  static Outcome<Settings> make(const RemoteOptions& options, unsigned in_flight);
};

/// Returns the folder for the cache; empty: no cache.
[[nodiscard]] std::string cache_folder_of(const RemoteOptions& options);

/// Returns another service's endpoint: its own variable (AWS_ENDPOINT_URL_STS), AWS_ENDPOINT_URL, or AWS's endpoint.
[[nodiscard]] Outcome<Endpoint> service_endpoint(const Settings& settings, std::string_view service,
                                                 const char* variable);

}  // namespace smd::detail::storage::s3
