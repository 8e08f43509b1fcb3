// SPDX-License-Identifier: Apache-2.0
#include "selection_support.hpp"

#include <doctest/doctest.h>

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
