// SPDX-License-Identifier: Apache-2.0
#include "requests/requests.hpp"

#include <smd/rule_registry.hpp>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"

namespace smd::tool {
namespace {

class Watcher final : public Rule {
 public:
  using Rule::Rule;
  void invoke_at_step(StepView& /*step*/) override {}
};

TEST_CASE("rules that watch the clock go on where others are made again, by each of their names") {
  register_rule({.name = "Watcher", .alias = "watcher", .watches_clock = true, .create = [](const Parameters& of) {
                   return std::make_unique<Watcher>(of);
                 }});
  const test::TempDir folder;
  RuleOptions options;
  options.rules = {"StalledTrainingRule", "watcher", "Overtraining"};
  options.configs = {folder.write("rules.json", R"([{"RuleConfigurationName": "a",
                                  "RuleParameters": {"rule_to_invoke": "stalled_training_rule"}},
                                 {"RuleConfigurationName": "b", "RuleParameters": {"rule_to_invoke": "Overfit"}}])")};
  Diagnostics messages("test");
  std::vector<bool> again;
  for (const RuleRequest& request : rule_requests(options, {}, messages)) {
    again.push_back(request.make_again() != nullptr);
  }
  CHECK(again == std::vector<bool>{false, false, true, false, true});
}

}  // namespace
}  // namespace smd::tool
