// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "select/selection.hpp"
#include "selection_support.hpp"
#include "unit/cli/sample_line.hpp"

#include <vector>

using namespace smd::tool;        // NOLINT: a test of most of the header
using namespace smd::tool::test;  // NOLINT

TEST_CASE("tensors by name, pattern and collection") {
  SelectionOptions options;
  options.modes = {smd::Mode::global};
  const auto names = [&] {
    std::vector<std::string> result;
    const Reported outcome = with_messages(running, options, [&](smd::Trial& trial, Diagnostics& messages, Reported&) {
      result = select_tensors(trial, options, messages);
    });
    return std::pair(result, outcome);
  };
  using Names = std::vector<std::string>;
  options.names = {"loss"};
  CHECK(names().first == Names{"loss"});
  options.names = {"los"};
  CHECK(names().first.empty());
  CHECK(names().second.status == ExitStatus::no);
  CHECK(names().second.messages.starts_with("test: TensorUnavailable: 'los' was not saved; did you mean 'loss'"));
  options.names.clear();
  options.collections = {"losess"};
  CHECK(names().first.empty());
  CHECK(names().second.status == ExitStatus::no);
  CHECK(
      names().second.messages.starts_with("test: NotFound: collection 'losess' is not defined; did you mean 'losses'"));
  options.collections.clear();
  options.regexes = {"^lo"};
  CHECK(names().first == Names{"loss"});
  options.excludes = {"ss$"};
  CHECK(names().first.empty());
  options.excludes = {"("};
  CHECK_THROWS_AS((void)names(), UsageError);
}

TEST_CASE("workers that do not exist are named with those that do") {
  SelectionOptions options;
  options.modes = {smd::Mode::global};
  options.worker = "worker_7";
  const auto check = [&] {
    return with_messages(running, options, [&](smd::Trial& trial, Diagnostics& messages, Reported&) {
      CHECK(check_worker(trial, options, messages) == (options.worker == "worker_0"));
    });
  };
  const Reported outcome = check();
  CHECK(outcome.status == ExitStatus::no);
  CHECK(outcome.messages == "test: InvalidWorker: there is no worker 'worker_7'; workers: 'worker_0'\n");
  options.worker = "worker_0";
  CHECK(check().messages.empty());
}

using smd::tool::test::parse;
using smd::tool::test::usage_error;

TEST_CASE("options become values") {
  const auto selection = smd::tool::SelectionOptions::from(
      parse({"-m", "TRAIN,eval,train", "-w", "all", "--every=3", "-s", "first,-2:", "--incomplete", "t"}));
  CHECK(selection.modes == std::vector<smd::Mode>{smd::Mode::train, smd::Mode::eval});
  CHECK(selection.all_workers);
  CHECK_FALSE(selection.worker.has_value());
  CHECK(selection.every == 3);
  CHECK(selection.incomplete);
  REQUIRE(selection.steps.has_value());
  CHECK(selection.steps->terms().size() == 2);
  CHECK(smd::tool::SelectionOptions::from(parse({"t"})).modes == std::vector<smd::Mode>{smd::Mode::global});
}

TEST_CASE("a glob where a pattern is due is refused with the pattern") {
  CHECK(usage_error({"-e", "*weight", "t"}) == "--regex: '*weight' is a regular expression, not a glob: try 'weight$'");
  CHECK(usage_error({"-x", "*.bias", "t"}) ==
        "--exclude: '*.bias' is a regular expression, not a glob: try '\\.bias$'");
  CHECK(usage_error({"-e", "fc*", "t"}).empty());  // a pattern too
}
