// SPDX-License-Identifier: Apache-2.0
#include <smd/export.hpp>
#include <smd/version.hpp>

#include <new>
#include <optional>
#include <utility>

#include "s3/cache.hpp"
#include "s3/s3_storage.hpp"
#include "storage/s3_module.hpp"
#include "text/escape.hpp"
#include "text/s3_library.hpp"

namespace smd::detail::storage::s3 {
namespace {

/// Calls `make` with the settings of these options. `requests` at once; 0: as many as usual.
template <class T, class Make>
Outcome<T> with_settings(const RemoteOptions& options, unsigned requests, Make make) try {
  auto settings = Settings::make(options, requests);
  return settings ? make(std::move(*settings)) : Outcome<T>(std::move(settings.problem()));
} catch (const std::bad_alloc&) {
  return make_problem(ProblemKind::io, "memory ran out");
}

Outcome<std::unique_ptr<Storage>> open(const std::string& url, const RemoteOptions& options, unsigned requests) {
  return with_settings<std::unique_ptr<Storage>>(options, requests,
                                                 [&](Settings settings) { return open_s3(url, std::move(settings)); });
}

Outcome<std::unique_ptr<RemoteWriter>> open_writer(const std::string& url, const RemoteOptions& options) {
  return with_settings<std::unique_ptr<RemoteWriter>>(
      options, 0, [&](Settings settings) { return open_s3_writer(url, std::move(settings)); });
}

std::string refuse_cache(const RemoteOptions& options) {
  const std::string folder = cache_folder_of(options);
  if (folder.empty()) {
    return {};
  }
  const CacheFolder opened = open_cache_folder(folder);
  return opened.foreign ? "the cache folder " + in_quotes(folder) + " " + opened.trouble : std::string();
}

/// JSON 1.1 protocol: docs.aws.amazon.com, "Amazon SageMaker API Reference".
Outcome<std::string> call_sagemaker(const std::string& action, const std::string& body, Settings settings) {
  const auto problem = [&](ProblemKind kind, const std::string& text) {
    return make_problem(kind, "SageMaker " + action + ": " + text);
  };
  if (!settings.region_given) {
    return problem(ProblemKind::io, "in which region is not said; give --region, AWS_REGION or the profile's");
  }
  settings.sign = true;
  auto endpoint = service_endpoint(settings, "sagemaker", "AWS_ENDPOINT_URL_SAGEMAKER");
  if (!endpoint) {
    return std::move(endpoint.problem());
  }
  const Stop stop = settings.stop;
  Client client(std::move(settings));
  Ask ask;
  ask.stop = &stop;
  ask.method = "POST";
  ask.service = "sagemaker";
  ask.endpoint = std::move(*endpoint);
  ask.headers = {{"content-type", "application/x-amz-json-1.1"}, {"x-amz-target", "SageMaker." + action}};
  ask.body = body;
  auto response = client.ask(ask);
  if (!response) {
    return problem(response.problem().kind, response.problem().text);
  }
  return response->status == 200 ? Outcome<std::string>(std::move(response->body))
                                 : problem(ProblemKind::network, "status " + std::to_string(response->status));
}

std::string sagemaker(const std::string& action, const std::string& body, const RemoteOptions& options,
                      std::optional<Problem>& problem) {
  auto answer = with_settings<std::string>(
      options, 1, [&](Settings settings) { return call_sagemaker(action, body, std::move(settings)); });
  if (answer) {
    return *std::move(answer);
  }
  problem = std::move(answer.problem());
  return {};
}

constexpr S3Module functions{&open, &open_writer, &refuse_cache};
constexpr text::S3Library library{SMD_VERSION_STRING, &functions, &sagemaker};

}  // namespace
}  // namespace smd::detail::storage::s3

extern "C" SMD_EXPORT const smd::text::S3Library* smd_s3_library();
const smd::text::S3Library* smd_s3_library() { return &smd::detail::storage::s3::library; }
