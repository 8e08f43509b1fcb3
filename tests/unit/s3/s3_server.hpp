// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "s3/client.hpp"
#include "s3/settings.hpp"
#include "support/temp_dir.hpp"

namespace smd::test {

/// During its lifetime the environment has no AWS settings other than those set here.
class AwsEnvironment {
 public:
  /// Keys that the server knows; no metadata service.
  AwsEnvironment();
  AwsEnvironment(const AwsEnvironment&) = delete;
  AwsEnvironment& operator=(const AwsEnvironment&) = delete;
  ~AwsEnvironment();

  void set(const char* name, const std::string& value) const;
  void unset(const char* name) const;

 private:
  TempDir home_;
  std::map<std::string, std::string> before_;
};

inline constexpr const char* key_id = "AKIDEXAMPLE";
inline constexpr const char* secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/// Runs tests/support/s3_server.py as a child process, with a bucket named `bucket`.
class S3Server {
 public:
  explicit S3Server(const std::vector<std::string>& arguments = {});
  S3Server(const S3Server&) = delete;
  S3Server& operator=(const S3Server&) = delete;
  ~S3Server();

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + port_; }
  void put(std::string_view key, std::string_view content, std::string_view bucket = "bucket") const;
  void faults(std::string_view json);
  /// Returns the requests since the last call.
  [[nodiscard]] std::vector<nlohmann::json> log();
  [[nodiscard]] const TempDir& dir() const noexcept { return dir_; }
  /// Returns settings for this server, with short pauses.
  [[nodiscard]] detail::storage::s3::Settings settings(const RemoteOptions& options = {}) const;

 private:
  TempDir dir_;
  pid_t child_ = -1;
  std::string port_;
  std::size_t log_read_ = 0;
  int fault_files_ = 0;
};

/// Of test cases: a server, and the environment of its clients.
struct WithServer {
  const AwsEnvironment environment;
  S3Server server;
};

}  // namespace smd::test
