// SPDX-License-Identifier: Apache-2.0
#include "framework/saves.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace smd::detail::rules {

CollectionConfig collection_of(std::string name, std::vector<std::string> patterns) {
  return {.name = std::move(name), .include_regex = std::move(patterns)};
}

CollectionConfig reduced(CollectionConfig collection, std::vector<std::string> reductions) {
  // The hook saves scalars whole; reductions do not apply to them.
  if (!reductions.empty() && !is_scalar_collection(collection.name)) {
    collection.reduction_config = ReductionConfig{.reductions = std::move(reductions)};
  }
  return collection;
}

CollectionConfig only_in(std::initializer_list<Mode> modes, CollectionConfig collection) {
  for (const Mode mode : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
    if (std::find(modes.begin(), modes.end(), mode) == modes.end()) {
      collection.save_config[mode] = SaveConfigMode{.end_step = 0};
    }
  }
  return collection;
}

std::string exactly(std::string_view name) {
  std::string pattern = "^";
  for (const char c : name) {
    pattern += std::string_view(R"(\^$.|?*+()[]{})").find(c) == std::string_view::npos ? "" : "\\";
    pattern += c;
  }
  return pattern + "$";
}

Collections selected(const Parameters& parameters, const std::string& own, const std::vector<std::string>& reductions,
                     const std::string& everything) {
  Collections all;
  for (const std::string& name : parameters.list("collection_names")) {
    all.push_back(reduced(collection_of(name), reductions));
  }
  if (const std::vector<std::string>& patterns = parameters.list("tensor_regex"); !patterns.empty()) {
    all.push_back(reduced(collection_of(own, patterns), reductions));
  }
  if (all.empty() && !everything.empty()) {
    all.push_back(reduced(collection_of(everything, {".*"}), reductions));
  }
  return all;
}

}  // namespace smd::detail::rules
