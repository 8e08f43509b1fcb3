// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"

#include <smd/error.hpp>
#include <smd/evaluator.hpp>
#include <smd/rule_plugin.hpp>
#include <smd/rule_registry.hpp>
#include <smd/trial.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <string>

namespace smd::test {
namespace {

const std::string digits = std::string(SMD_TEST_FIXTURES) + "/good-pytorch-digits";

std::string refused(const std::string& path) {
  try {
    static_cast<void>(load_rule_plugin(path));
  } catch (const InvalidArgument& error) {
    std::string text = error.what();
    const std::string prefix = "plug-in " + path + ": ";
    CHECK(text.starts_with(prefix));
    return text.substr(std::min(prefix.size(), text.size()));
  }
  return "accepted";
}

std::string output_of(const std::string& command, int& status) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) {
    text.append(buffer.data(), got);
  }
  status = pclose(pipe);
  return text;
}

TEST_CASE("the example's rule is there after loading, and evaluates") {
  CHECK_THROWS_AS(static_cast<void>(describe_rule("MyRule")), ConfigurationError);
  CHECK(load_rule_plugin(EXAMPLE_PLUGIN) == std::vector<std::string>{"MyRule"});
  CHECK(load_rule_plugin(EXAMPLE_PLUGIN).empty());  // once is enough
  CHECK(describe_rule("my_rule").parameters.size() == 3);
  try {
    static_cast<void>(make_rule("MyRule"));
    FAIL("a required parameter was not missed");
  } catch (const ConfigurationError& error) {
    CHECK(error.kind == ConfigurationErrorKind::missing_parameter);
    CHECK(error.parameter == "threshold");
  }
  const Trial trial = Trial::open(digits);
  Evaluator evaluator(trial);
  // No element is above the largest float, all but NaN are above -infinity.
  evaluator.add(make_rule("MyRule", {{"threshold", "3.5e38"}, {"tensor_regex", "fc.weight$"}}));
  evaluator.add(make_rule("MyRule", {{"threshold", "-inf"}, {"tensor_regex", "fc.weight$"}}));
  evaluator.run();
  CHECK(evaluator.results()[0].status == RuleStatus::no_issues_found);
  REQUIRE(evaluator.results()[1].findings.size() >= 1);
  const Finding& finding = evaluator.results()[1].findings[0];
  const TensorValue value = trial.tensor(*finding.tensor).value(*finding.step);
  CHECK(finding.value == static_cast<double>(value.view().size()));
}

TEST_CASE("wrong and broken plug-ins are refused with a reason") {
  const std::string folder = std::string(WRONG_PLUGINS) + "/plugin_";
  CHECK(refused(folder + "throws.so") == "no licence");
  CHECK(refused(folder + "no_rules.so") == "registered no rule");
  CHECK(refused(folder + "other_interface.so") ==
        "was made for interface 2 of libsmd; this one has 1; compile it again");
  CHECK(refused(folder + "other_version.so") ==
        "was made for libsmd 7.1.0; this is " + std::string(version()) + "; compile it again");
  CHECK(refused(folder + "no_entry.so") == "has no smd_rule_plugin_v1: it is no plug-in, or one for another libsmd");
  const TempDir dir;
  CHECK(refused(dir / "absent.so") == "cannot open shared object file: No such file or directory");
  CHECK(refused(dir.write("text.so", "#!/bin/sh\n")) == "file too short");
  CHECK_THROWS_AS(static_cast<void>(load_rule_plugin("")), InvalidArgument);
}

TEST_CASE("a plug-in that is cut off anywhere is refused before the loader touches what is not there") {
  const std::string whole = read_file(EXAMPLE_PLUGIN);
  REQUIRE(whole.size() > 32768);
  const TempDir dir;
  for (const std::size_t bytes : {100U, 4096U, 16384U}) {  // debug information at the end is not loaded
    CAPTURE(bytes);
    CHECK(refused(dir.write("cut.so", whole.substr(0, bytes))) ==
          "is cut off: it is shorter than its header says; copy or compile it again");
  }
}

TEST_CASE("the example program with a rule of its own") {
  int status = 0;
  const std::string calm = output_of(std::string(EXAMPLE_PROGRAM) + " " + digits + " factor=1e30", status);
  CHECK(status == 0);
  CHECK(calm.starts_with("NoIssuesFound, "));
  const std::string jumps = output_of(std::string(EXAMPLE_PROGRAM) + " " + digits + " factor=1", status);
  CHECK(status != 0);
  CHECK(jumps.find(" jump ") != std::string::npos);
}

TEST_CASE("names must be free, tables must make sense") {
  const auto create = [](const Parameters&) -> std::unique_ptr<Rule> { return nullptr; };
  CHECK_THROWS_AS(register_rule({.name = "VanishingGradient", .create = create}), InvalidArgument);
  CHECK_THROWS_AS(register_rule({.name = "New", .alias = "dead_relu", .create = create}), InvalidArgument);
  CHECK_THROWS_AS(register_rule({.name = "", .create = create}), InvalidArgument);
  CHECK_THROWS_AS(register_rule({.name = "New"}), InvalidArgument);
  CHECK_THROWS_AS(register_rule({.name = "New", .parameters = {{.name = "a"}, {.name = "a"}}, .create = create}),
                  InvalidArgument);
  CHECK_THROWS_AS(register_rule({.name = "New",
                                 .parameters = {{.name = "a", .type = ParameterType::integer, .default_text = "x"}},
                                 .create = create}),
                  InvalidArgument);
  CHECK_THROWS_AS(static_cast<void>(describe_rule("New")), ConfigurationError);
}

}  // namespace
}  // namespace smd::test
