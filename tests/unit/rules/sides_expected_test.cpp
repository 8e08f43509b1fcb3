// SPDX-License-Identifier: Apache-2.0
// Sides and pairs of the recorded log directories' names, as NAME.expected.json has them.
#include "framework/sides.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace smd::test {
namespace {

using Json = nlohmann::json;
using detail::rules::ScalarName;
using detail::rules::Side;
using detail::rules::Sides;
using Pairs = std::set<std::pair<std::string, std::string>>;  // of validation and training

const std::filesystem::path root = SMD_TB_LOGS;

std::string side_text(Side side) { return side == Side::train ? "TRAIN" : side == Side::eval ? "EVAL" : ""; }

/// Pairs of which both are in `names`.
Pairs pairs_among(const Sides& sides, const std::set<std::string, std::less<>>& names) {
  Pairs pairs;
  for (const std::string_view validation : sides.names(Side::eval)) {
    const auto partners = sides.partners(validation);
    const auto first =
        std::find_if(partners.begin(), partners.end(), [&](std::string_view name) { return names.contains(name); });
    if (names.contains(validation) && first != partners.end()) {
      pairs.emplace(validation, *first);
    }
  }
  return pairs;
}

void check_trial(const Json& trial) {
  std::vector<ScalarName> names;
  std::set<std::string, std::less<>> scalars;
  std::set<std::string, std::less<>> losses;
  for (const auto& [name, tensor] : trial.at("tensors").items()) {
    if (tensor.at("kind") == "scalar") {
      names.push_back({name, tensor.value("run", std::string()).size()});
      scalars.insert(name);
      const auto collections = tensor.at("collections").get<std::set<std::string>>();
      if (collections.contains("losses")) {
        losses.insert(name);
      }
    }
  }
  const Sides sides(names);
  for (const std::string& name : scalars) {
    INFO(name);
    const Json& tensor = trial.at("tensors").at(name);
    const auto side = tensor.find("side");
    CHECK(side_text(sides.of(name)) == (side == tensor.end() || side->is_null() ? "" : side->get<std::string>()));
  }
  CHECK(pairs_among(sides, losses) == trial.at("pairs").get<Pairs>());
  CHECK(pairs_among(sides, scalars) == trial.at("pairs_all").get<Pairs>());
}

TEST_CASE("sides and pairs of recorded log directories") {
  std::size_t trials = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".expected.json")) {
      continue;
    }
    std::ifstream in(entry.path());
    const Json expected = Json::parse(in);
    for (const auto& trial : expected.at("trials").items()) {
      INFO(file, " ", trial.key());
      check_trial(trial.value());
      ++trials;
    }
  }
  CHECK(trials > 30);
}

}  // namespace
}  // namespace smd::test
