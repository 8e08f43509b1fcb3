// SPDX-License-Identifier: Apache-2.0
#include "stock_collections.hpp"

#include "text/mapped.hpp"
#include "text/nearest.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace smd {
namespace {

constexpr unsigned only(Framework framework) { return 1U << static_cast<unsigned>(framework); }
constexpr unsigned pytorch = only(Framework::pytorch);
constexpr unsigned tensorflow = only(Framework::tensorflow);
constexpr unsigned mxnet = only(Framework::mxnet);
constexpr unsigned xgboost = only(Framework::xgboost);

struct Stock {
  std::string_view name;
  std::string_view pattern;  ///< Empty: none.
  unsigned frameworks;
};

// The patterns are the reference's, mistakes included ([a-zA-z], [^/bias]): other tools expect these collections.
constexpr std::array<Stock, 26> stock = {{
    {"all", "", pytorch | tensorflow | mxnet | xgboost},
    {"default", "", pytorch | tensorflow | mxnet | xgboost},
    {"weights", "^(?!gradient).*weight", pytorch | mxnet},
    {"biases", "^(?!gradient).*bias", pytorch | mxnet},
    {"gradients", "^gradient", pytorch | mxnet},
    {"losses", "[Ll]oss_(?!input).*output", pytorch},
    {"losses", ".*loss._(?!input).*output", mxnet},
    {"weights", "", tensorflow},
    {"biases", "bias", tensorflow},
    {"gradients", "", tensorflow},
    {"losses", "", tensorflow},
    {"metrics", "", tensorflow},
    {"inputs", "", tensorflow},
    {"outputs", "", tensorflow},
    {"layers", "", tensorflow},
    {"sm_metrics", "", tensorflow},
    {"optimizer_variables", "", tensorflow},
    {"hyperparameters", "^hyperparameters/.*$", xgboost},
    {"metrics", "^[a-zA-z]+-[a-zA-z0-9]+$", xgboost},
    {"losses", "^[a-zA-z]+-.+(?<!(auc|map))$", xgboost},
    {"predictions", "^predictions$", xgboost},
    {"labels", "^labels$", xgboost},
    {"feature_importance", "^feature_importance/.*", xgboost},
    {"average_shap", "^average_shap/.*[^/bias]$", xgboost},
    {"full_shap", "^full_shap/.*[^/bias]$", xgboost},
    {"trees", "^trees/.*", xgboost},
}};

}  // namespace

std::map<std::string, Collection> stock_collections(Framework framework) {
  std::map<std::string, Collection> collections;
  for (const Stock& one : stock) {
    if ((one.frameworks & only(framework)) != 0) {
      Collection collection{.name = std::string(one.name)};
      if (!one.pattern.empty()) {
        collection.include_regex.emplace_back(one.pattern);
      }
      collections.emplace(one.name, std::move(collection));
    }
  }
  return collections;
}

bool is_built_in_collection(std::string_view name) noexcept {
  return std::ranges::any_of(stock, [&](const Stock& one) { return one.name == name; });
}

namespace detail::hook {

std::vector<std::string> collections_always_saved(Framework framework) {
  const std::map<std::string, Collection> built_in = stock_collections(framework);
  std::vector<std::string> names = {"losses", "metrics", "sm_metrics"};
  std::erase_if(names, [&](const std::string& name) { return !built_in.contains(name); });
  return names;
}

std::vector<std::string> patterns_in_any_framework(std::string_view name) {
  std::vector<std::string> patterns;
  for (const Stock& one : stock) {
    if (one.name == name && !one.pattern.empty()) {
      patterns.emplace_back(one.pattern);
    }
  }
  return patterns;
}

std::vector<std::string> similar_collection(std::string_view name) {
  return nearest(name, mapped(stock, &Stock::name), 1);
}

bool selects_nothing(const HookConfig& config) noexcept {
  return !config.save_all && config.include_regex.empty() && config.include_collections.empty() &&
         config.collections.empty();
}

}  // namespace detail::hook
}  // namespace smd
