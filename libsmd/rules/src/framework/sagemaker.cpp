// SPDX-License-Identifier: Apache-2.0
#include <smd/sagemaker.hpp>

#include <smd/error.hpp>

#include "text/escape.hpp"
#include "text/json.hpp"
#include "text/s3_library.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace smd {
namespace {

using nlohmann::json;

constexpr int most_pages = 1000;
constexpr std::size_t most_matches = 100;

text::JsonDocument<json> call(const char* action, const json& body, const RemoteOptions& options) {
  std::optional<Problem> problem;
  const text::S3Library* const library = text::s3_library(problem);
  const std::string answer =
      library != nullptr ? library->sagemaker(action, text::json_text(body), options, problem) : std::string();
  if (problem) {
    throw ReadError(std::move(*problem));
  }
  text::JsonDocument<json> parsed;
  if (text::parse_json(answer, parsed) || !parsed->is_object()) {
    throw ReadError(
        {ProblemKind::network, {}, {}, std::string("SageMaker ") + action + ": the answer is no JSON object"});
  }
  return parsed;
}

/// Returns the jobs in progress whose names begin with the prefix; the service only filters by names that contain it.
std::vector<std::string> jobs_in_progress(const std::string& prefix, const RemoteOptions& options) {
  std::vector<std::string> names;
  json body = {{"StatusEquals", "InProgress"}, {"NameContains", prefix}, {"MaxResults", 100}};
  for (int page = 0; page < most_pages && names.size() < most_matches; ++page) {
    const auto document = call("ListTrainingJobs", body, options);
    const json& answer = *document;
    const auto jobs = answer.find("TrainingJobSummaries");
    if (jobs == answer.end() || !jobs->is_array()) {
      throw ReadError({ProblemKind::network, {}, {}, "SageMaker ListTrainingJobs: the answer lists no jobs"});
    }
    for (const json& job : *jobs) {
      std::string name = job.is_object() ? text::member_text(job, "TrainingJobName") : std::string();
      if (name.starts_with(prefix) && text::member_text(job, "TrainingJobStatus") == "InProgress" &&
          names.size() < most_matches) {
        names.push_back(std::move(name));
      }
    }
    const std::string next = text::member_text(answer, "NextToken");
    if (next.empty()) {
      break;
    }
    body["NextToken"] = next;
  }
  return names;
}

}  // namespace

std::string stop_training_job(std::string_view prefix, const RemoteOptions& options) {
  if (prefix.empty()) {
    throw InvalidArgument("the prefix of a training job's name is empty: it would match every job");
  }
  const std::vector<std::string> matches = jobs_in_progress(std::string(prefix), options);
  const std::string shown = detail::in_quotes(prefix);
  if (matches.empty()) {
    return "no training job in progress has a name that begins with " + shown + "; nothing was stopped";
  }
  if (matches.size() > 1) {
    return std::to_string(matches.size()) + " training jobs in progress have names that begin with " + shown + " (" +
           detail::in_quotes(matches[0]) + ", " + detail::in_quotes(matches[1]) + (matches.size() > 2 ? ", …" : "") +
           "); nothing was stopped";
  }
  call("StopTrainingJob", {{"TrainingJobName", matches.front()}}, options);
  return "the training job " + detail::in_quotes(matches.front()) + " is being stopped";
}

}  // namespace smd
