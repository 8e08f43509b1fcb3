// SPDX-License-Identifier: Apache-2.0
// A job that saves to S3, with libsmd as installed.
#include <doctest/doctest.h>

#include <smd/hook.hpp>
#include <smd/trial.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "s3_server.hpp"

using namespace smd;
using namespace smd::test;

namespace {

struct Job : AwsEnvironment {
  Job() { set("AWS_MAX_ATTEMPTS", "1"); }
  [[nodiscard]] HookConfig config() const {
    HookConfig config{.out_dir = "s3://bucket/job", .save_config = SaveConfigMode{.save_interval = 1}};
    config.end_marker = true;
    config.remote.endpoint_url = server.url();
    return config;
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(server.dir() / ("root/bucket/job/" + name));
  }
  [[nodiscard]] std::vector<GlobalStep> steps() const {
    TrialOptions options;
    options.remote.endpoint_url = server.url();
    return Trial::open("s3://bucket/job", options).steps();
  }
  S3Server server;
};

constexpr const char* first_event = "events/000000000000/000000000000_worker_0.tfevents";
constexpr const char* first_index = "index/000000000/000000000000_worker_0.json";

}  // namespace

TEST_CASE("hook on S3: saved values are read back") {
  Job job;
  Hook hook(job.config());
  for (int step = 0; step < 3; ++step) {
    hook.save_scalar("loss", step);
    hook.next_step();
  }
  hook.flush();
  CHECK(job.steps().size() == 3);
  CHECK_FALSE(job.has("training_job_end.ts"));
  hook.close();
  CHECK(job.has("training_job_end.ts"));
}

TEST_CASE("hook on S3: uploads run in the background") {
  Job job;
  const std::string gate = job.server.dir() / "gate";
  job.server.faults(R"([{"match": "^PUT", "act": "gate", "times": -1, "file": ")" + gate + "\"}]");
  Hook hook(job.config());
  for (int step = 0; step < 5; ++step) {
    hook.save_scalar("loss", step);
    hook.next_step();
  }
  CHECK_FALSE(job.has(first_event));  // the job continues although the server accepts nothing so far
  job.server.dir().write("gate", "");
  hook.close();
  CHECK(job.steps().size() == 5);
}

TEST_CASE("hook on S3: a failed upload is an error of close, and of each call after it") {
  for (const char* const match : {"events/", "collections/", "index/"}) {
    CAPTURE(match);
    Job job;
    job.server.faults(std::string(R"([{"match": "^PUT.*)") + match +
                      R"(", "act": "error", "status": 403, "code": "AccessDenied", "times": -1}])");
    Hook hook(job.config());
    hook.save_scalar("loss", 1);
    CHECK_THROWS_AS(hook.close(), WriteError);
    CHECK_THROWS_AS(hook.close(), WriteError);
    CHECK_THROWS_AS(hook.save_scalar("loss", 2), WriteError);
    CHECK_FALSE(job.has(first_index));
    CHECK_FALSE(job.has("training_job_end.ts"));
  }
}

TEST_CASE("hook on S3: a job that continues keeps collections, and does not replace a step") {
  Job job;
  {
    HookConfig interrupted = job.config();
    interrupted.end_marker = false;
    Hook hook(interrupted);
    const double value = 1;
    hook.save_tensor("w", TensorView(Dtype::float64, {}, std::as_bytes(std::span(&value, 1))), {"mine"});
    hook.close();
  }
  Hook hook(job.config());
  CHECK_THROWS_AS(hook.save_scalar("loss", 1), StepAlreadySaved);
  hook.set_step(GlobalStep(1), Mode::global, ModeStep(1));
  hook.save_scalar("loss", 1);
  CHECK(hook.collections().at("mine").tensor_names == std::vector<std::string>{"w"});
  hook.close();
  CHECK(job.steps().size() == 2);
  CHECK_THROWS_AS(Hook(job.config()), InvalidArgument);  // the job has ended
}

TEST_CASE("hook on S3: nothing is saved if listing fails") {
  Job job;
  job.server.faults(R"([{"match": "list-type", "act": "error", "status": 500, "code": "InternalError", "times": -1}])");
  CHECK_THROWS_AS(Hook(job.config()), ReadError);
  job.server.faults("[]");
  Hook hook(job.config());
  job.server.faults(R"([{"match": "list-type", "act": "error", "status": 500, "code": "InternalError", "times": -1}])");
  CHECK_THROWS_AS(hook.save_scalar("loss", 1), ReadError);
  HookConfig nowhere = job.config();
  nowhere.out_dir = "s3://";
  CHECK_THROWS_AS(Hook{nowhere}, InvalidArgument);
}
