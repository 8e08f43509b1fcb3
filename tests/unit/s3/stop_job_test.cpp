// SPDX-License-Identifier: Apache-2.0
// Uses libsmd as installed, which loads libsmd-s3 from the same folder.
#include <doctest/doctest.h>

#include <smd/error.hpp>
#include <smd/sagemaker.hpp>

#include <string>

#include "s3_server.hpp"

using namespace smd;
using namespace smd::test;

namespace {

struct Account : AwsEnvironment {
  explicit Account(const std::string& jobs) : server({"--jobs", dir.write("jobs", jobs)}) {
    set("AWS_ENDPOINT_URL_SAGEMAKER", server.url());
    set("AWS_REGION", "us-east-1");
  }
  [[nodiscard]] std::string status(const char* job) const {
    return nlohmann::json::parse(read_file(dir / "jobs"))[job];
  }
  TempDir dir;
  S3Server server;
};

}  // namespace

TEST_CASE("stopping a training job: exactly one in progress") {
  // Pages of two; names that only contain the prefix do not count.
  Account account(R"({"a-other": "InProgress", "b-train-0": "InProgress", "c-train-0": "InProgress",
                      "train-1": "InProgress", "train-2": "Completed", "z": "InProgress"})");
  CHECK(stop_training_job("train-") == "the training job 'train-1' is being stopped");
  CHECK(account.status("train-1") == "Stopping");
  CHECK(account.status("b-train-0") == "InProgress");
  const auto log = account.server.log();
  REQUIRE(log.size() == 3);  // two pages, one stop
  CHECK(log[2]["headers"]["x-amz-target"] == "SageMaker.StopTrainingJob");
  CHECK(log[2]["body"] == R"({"TrainingJobName":"train-1"})");
}

TEST_CASE("stopping a training job: none, or several") {
  Account account(R"({"train-1": "InProgress", "train-2": "InProgress", "train-3": "InProgress", "old": "Completed"})");
  CHECK(
      stop_training_job("train-") ==
      "3 training jobs in progress have names that begin with 'train-' ('train-1', 'train-2', …); nothing was stopped");
  CHECK(stop_training_job("old") ==
        "no training job in progress has a name that begins with 'old'; nothing was stopped");
  for (const char* const name : {"train-1", "train-2", "train-3"}) {
    CHECK(account.status(name) == "InProgress");
  }
  CHECK_THROWS_AS(static_cast<void>(stop_training_job("")), InvalidArgument);
}

TEST_CASE("stopping a training job: refusals") {
  Account account(R"({"train-1": "InProgress"})");
  account.server.faults(
      R"([{"act": "error", "status": 400, "code": "AccessDeniedException", "text": "no", "times": -1}])");
  try {
    static_cast<void>(stop_training_job("train-"));
    FAIL("not refused");
  } catch (const ReadError& error) {
    CHECK(error.problem.kind == ProblemKind::access_denied);
    CHECK(std::string(error.what()).find("SageMaker ListTrainingJobs: access is denied") == 0);
  }
  CHECK(account.status("train-1") == "InProgress");
}

TEST_CASE("stopping a training job: no request without a region") {
  Account account(R"({"train-1": "InProgress"})");
  account.set("AWS_REGION", "");
  try {
    static_cast<void>(stop_training_job("train-"));
    FAIL("not refused");
  } catch (const ReadError& error) {
    CHECK(std::string(error.what()).find("in which region is not said; give --region") != std::string::npos);
  }
  CHECK(account.server.log().empty());
}
