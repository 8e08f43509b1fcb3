// SPDX-License-Identifier: Apache-2.0
// A wait ends during a request, with libsmd as installed.
#include <doctest/doctest.h>

#include <smd/follow.hpp>
#include <smd/hook.hpp>
#include <smd/trial.hpp>

#include <chrono>
#include <future>
#include <optional>
#include <stop_token>
#include <thread>

#include "s3_server.hpp"

using namespace smd;
using namespace smd::test;

namespace {

/// A job with one step that is still running.
struct Running : AwsEnvironment {
  Running() {
    HookConfig config{.out_dir = "s3://bucket/job", .save_config = SaveConfigMode{.save_interval = 1}};
    config.remote.endpoint_url = server.url();
    Hook hook(config);
    hook.save_scalar("loss", 1);
    hook.next_step();
    hook.close();
  }
  [[nodiscard]] TrialOptions options() const {
    TrialOptions options;
    options.auto_refresh = false;
    options.remote.endpoint_url = server.url();
    return options;
  }
  S3Server server;
};

std::chrono::steady_clock::time_point soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(1); }

}  // namespace

TEST_CASE("waiting on S3: a deadline, an idle time and a stop end a request that is never answered") {
  Running job;
  const Trial trial = Trial::open("s3://bucket/job", job.options());
  job.server.faults(R"([{"times": -1, "act": "hang"}])");
  const auto never = [] { return false; };
  CHECK(trial.wait_until(never, {.deadline = soon()}) == WaitOutcome::timed_out);
  CHECK(trial.wait_until(never, {.idle = std::chrono::milliseconds(200)}) == WaitOutcome::idle);
  std::stop_source source;
  auto waiting = std::async(std::launch::async, [&] { return trial.wait_until(never, {.stop = source.get_token()}); });
  while (job.server.log().empty()) {
  }
  source.request_stop();
  CHECK(waiting.get() == WaitOutcome::stopped);
  CHECK(trial.steps().size() == 1);  // known steps remain
}

TEST_CASE("waiting on S3: following ends during a request that is never answered") {
  Running job;
  const Trial trial = Trial::open("s3://bucket/job", job.options());
  StepFollower follower(trial, {.wait = {.deadline = soon()}, .records = false});
  job.server.faults(R"([{"times": -1, "act": "hang"}])");
  FollowEvent event = follower.next();
  while (event.outcome == WaitOutcome::reached) {
    event = follower.next();
  }
  CHECK(event.outcome == WaitOutcome::timed_out);
}

TEST_CASE("waiting on S3: a trial's stop ends its opening, and calls that do not wait report it") {
  Running job;
  job.server.faults(R"([{"times": -1, "act": "hang"}])");
  TrialOptions options = job.options();
  const auto end = soon();
  options.remote.stop = [end] { return std::chrono::steady_clock::now() >= end; };
  WaitOutcome outcome = WaitOutcome::reached;
  CHECK_FALSE(Trial::open_when_there("s3://bucket/job", options, {.deadline = end}, &outcome));
  CHECK(outcome == WaitOutcome::timed_out);
  try {
    (void)Trial::open("s3://bucket/job", options);
    FAIL("opened");
  } catch (const ReadError& error) {
    CHECK(error.problem.kind == ProblemKind::stopped);
  }
}
