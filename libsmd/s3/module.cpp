// SPDX-License-Identifier: Apache-2.0
#include <smd/export.hpp>
#include <smd/version.hpp>

#include <new>

#include "s3/cache_folder.hpp"
#include "s3/s3_storage.hpp"
#include "s3/s3_writer.hpp"
#include "storage/s3_module.hpp"
#include "text/escape.hpp"

namespace smd::detail::storage::s3 {
namespace {

Outcome<std::unique_ptr<Storage>> open(const std::string& url, const RemoteOptions& options, unsigned requests) try {
  auto settings = Settings::make(options, requests);
  if (!settings) {
    return std::move(settings.problem());
  }
  return open_s3(url, std::move(*settings));
} catch (const std::bad_alloc&) {
  return Problem{ProblemKind::io, {}, {}, "memory ran out"};
}

Outcome<std::unique_ptr<RemoteWriter>> open_writer(const std::string& url, const RemoteOptions& options) try {
  constexpr unsigned usual = 0;
  auto settings = Settings::make(options, usual);
  if (!settings) {
    return std::move(settings.problem());
  }
  return open_s3_writer(url, std::move(*settings));
} catch (const std::bad_alloc&) {
  return Problem{ProblemKind::io, {}, {}, "memory ran out"};
}

std::string refuse_cache(const RemoteOptions& options) {
  const std::string folder = cache_folder_of(options);
  if (folder.empty()) {
    return {};
  }
  const CacheFolder opened = open_cache_folder(folder);
  return opened.foreign ? "the cache folder '" + printable(folder) + "' " + opened.trouble : std::string();
}

/// JSON 1.1 protocol: docs.aws.amazon.com, "Amazon SageMaker API Reference".
Outcome<std::string> sagemaker(const std::string& action, const std::string& body, const RemoteOptions& options) try {
  constexpr unsigned one = 1;
  auto settings = Settings::make(options, one);
  if (!settings) {
    return std::move(settings.problem());
  }
  if (!settings->region_given) {
    return Problem{ProblemKind::io,
                   {},
                   {},
                   "SageMaker " + action + ": in which region is not said; give --region, AWS_REGION or the profile's"};
  }
  settings->sign = true;
  auto endpoint = service_endpoint(*settings, "sagemaker", "AWS_ENDPOINT_URL_SAGEMAKER");
  if (!endpoint) {
    return std::move(endpoint.problem());
  }
  const Stop stop = settings->stop;
  Client client(std::move(*settings));
  Ask ask;
  ask.stop = &stop;
  ask.method = "POST";
  ask.service = "sagemaker";
  ask.endpoint = std::move(*endpoint);
  ask.headers = {{"content-type", "application/x-amz-json-1.1"}, {"x-amz-target", "SageMaker." + action}};
  ask.body = body;
  auto response = client.ask(ask);
  if (!response) {
    response.problem().text = "SageMaker " + action + ": " + response.problem().text;
    return std::move(response.problem());
  }
  if (response->status != 200) {
    return Problem{
        ProblemKind::network, {}, {}, "SageMaker " + action + ": status " + std::to_string(response->status)};
  }
  return std::move(response->body);
} catch (const std::bad_alloc&) {
  return Problem{ProblemKind::io, {}, {}, "memory ran out"};
}

constexpr S3Module table{SMD_VERSION_STRING, &open, &open_writer, &sagemaker, &refuse_cache};

}  // namespace
}  // namespace smd::detail::storage::s3

extern "C" SMD_EXPORT const smd::detail::storage::S3Module* smd_s3_module();
const smd::detail::storage::S3Module* smd_s3_module() { return &smd::detail::storage::s3::table; }
