// SPDX-License-Identifier: Apache-2.0
#include "sample_command.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using Strings = std::vector<std::string>;

TEST_CASE("every option has a help text, a group, and names of its own") {
  const auto& definition = smd::tool::test::sample_definition();
  Strings names;
  std::string letters;
  const std::string help = smd::tool::help_text(definition, 80);
  for (const smd::tool::OptionSpec* spec : definition.options()) {
    CAPTURE(spec->name);
    CHECK_FALSE(spec->help.empty());
    CHECK_FALSE(spec->help.ends_with("."));
    CHECK_FALSE(spec->group.empty());
    CHECK((spec->kind == smd::tool::ArgumentKind::none) == spec->metavar.empty());
    CHECK((spec->kind == smd::tool::ArgumentKind::choice) == !spec->choices.empty());
    CHECK(std::find(names.begin(), names.end(), spec->name) == names.end());
    names.emplace_back(spec->name);
    if (spec->short_name != '\0') {
      CHECK(letters.find(spec->short_name) == std::string::npos);
      letters += spec->short_name;
    }
    CHECK(help.find("--" + std::string(spec->name)) != std::string::npos);
  }
  for (const auto& example : definition.examples) {
    CHECK(help.find(example.command) != std::string::npos);
  }
  CHECK(help.starts_with("Usage: smd-sample [OPTION]... TRIAL...\nShow what tests need.\n"));
  CHECK(help.ends_with("Manual page: smd-sample(1)\n"));
}

TEST_CASE("help keeps to the width") {
  for (const std::size_t width : {40, 45, 46, 60, 80, 120}) {
    const std::string help = smd::tool::help_text(smd::tool::test::sample_definition(), width);
    std::size_t begin = 0;
    while (begin < help.size()) {
      const std::size_t end = help.find('\n', begin);
      REQUIRE(end != std::string::npos);
      CHECK(end - begin <= width);
      begin = end + 1;
    }
  }
}
