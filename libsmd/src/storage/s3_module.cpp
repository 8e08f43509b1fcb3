// SPDX-License-Identifier: Apache-2.0
#include "storage/s3_module.hpp"

#include <smd/error.hpp>

#include <optional>
#include <utility>

#include "text/bucket_name.hpp"
#include "text/escape.hpp"
#include "text/s3_library.hpp"

namespace smd::detail::storage {

Outcome<const S3Module*> s3_module() {
  std::optional<Problem> problem;
  const text::S3Library* const library = text::s3_library(problem);
  return library != nullptr ? Outcome<const S3Module*>(library->storage) : std::move(*problem);
}

namespace {

/// @throws InvalidArgument if the URL cannot name a trial.
void check_location(const std::string& url) {
  if (const std::string_view refused = text::refuse_location(url); !refused.empty()) {
    throw InvalidArgument(in_quotes(url) + " " + std::string(refused));
  }
}

}  // namespace

Outcome<std::unique_ptr<Storage>> open_remote(const std::string& url, const RemoteOptions& options, unsigned requests) {
  check_location(url);
  const auto module = s3_module();
  if (!module) {
    return module.problem();
  }
  if (const std::string refused = (*module)->refuse_cache(options); !refused.empty()) {
    throw InvalidArgument(refused);
  }
  return (*module)->open(url, options, requests);
}

Outcome<std::unique_ptr<RemoteWriter>> open_remote_writer(const std::string& url, const RemoteOptions& options) {
  check_location(url);
  const auto module = s3_module();
  return module ? (*module)->open_writer(url, options) : module.problem();
}

}  // namespace smd::detail::storage
