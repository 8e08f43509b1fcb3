// SPDX-License-Identifier: Apache-2.0
// SageMaker's calls, made through the client.
#include <doctest/doctest.h>

#include <string>

#include "s3/client.hpp"
#include "s3_server.hpp"

using namespace smd;
using namespace smd::test;
using namespace smd::detail::storage::s3;

TEST_CASE("sagemaker: a signed call, its answer and its refusal") {
  const AwsEnvironment environment;
  const TempDir dir;
  S3Server server({"--jobs", dir.write("jobs", R"({"train-1": "InProgress", "train-2": "Completed"})")});
  Client client(server.settings());
  environment.set("AWS_ENDPOINT_URL_SAGEMAKER", server.url());
  Ask ask;
  ask.method = "POST";
  ask.service = "sagemaker";
  ask.endpoint = *service_endpoint(client.settings(), "sagemaker", "AWS_ENDPOINT_URL_SAGEMAKER");
  ask.headers = {{"content-type", "application/x-amz-json-1.1"}, {"x-amz-target", "SageMaker.StopTrainingJob"}};
  ask.body = R"({"TrainingJobName": "train-1"})";
  const auto stopped = client.ask(ask);
  REQUIRE(stopped);
  CHECK(stopped->body == "{}");
  CHECK(nlohmann::json::parse(read_file(dir / "jobs"))["train-1"] == "Stopping");
  const auto refused = client.ask(ask);
  REQUIRE_FALSE(refused);
  CHECK(refused.problem().text.find("ValidationException") != std::string::npos);
  environment.unset("AWS_ENDPOINT_URL_SAGEMAKER");
  CHECK(service_endpoint(client.settings(), "sagemaker", "AWS_ENDPOINT_URL_SAGEMAKER")->host ==
        "api.sagemaker.us-east-1.amazonaws.com");
  CHECK(service_endpoint(client.settings(), "sts", "AWS_ENDPOINT_URL_STS")->host == "sts.us-east-1.amazonaws.com");
}
