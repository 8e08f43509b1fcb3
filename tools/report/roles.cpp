// SPDX-License-Identifier: Apache-2.0
#include "roles.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace smd::tool::report {

namespace {

// A collection whose name holds one of these words is one of activations.
constexpr std::array<std::string_view, 6> activation_words = {"relu", "activation", "sigmoid",
                                                              "tanh", "gelu",       "layers"};

bool names_activations(std::string_view collection) {
  return std::any_of(activation_words.begin(), activation_words.end(),
                     [&](std::string_view word) { return collection.find(word) != std::string_view::npos; });
}

}  // namespace

std::string_view role_text(Role role) noexcept {
  constexpr std::array<std::string_view, 6> texts = {"loss", "gradient", "weight", "bias", "activation", "other"};
  return texts[static_cast<std::size_t>(role)];
}

Role Roles::of(const Trial& trial, std::string_view tensor) {
  if (const auto known = roles_.find(tensor); known != roles_.end()) {
    return known->second;
  }
  const auto put_all = [&](std::vector<std::string> names, Role role) {
    for (std::string& name : names) {
      roles_.try_emplace(std::move(name), role);
    }
  };
  const auto put = [&](const std::string& collection, Role role) {
    put_all(trial.tensor_names({.collections = {collection}}), role);
  };
  // The first of these collections that holds a tensor decides.
  put("losses", Role::loss);
  put("gradients", Role::gradient);
  put("weights", Role::weight);
  put("biases", Role::bias);
  for (const auto& [name, collection] : trial.collections()) {
    if (names_activations(name)) {
      put(name, Role::activation);
    }
  }
  put_all(trial.tensor_names(), Role::other);
  return roles_.try_emplace(std::string(tensor), Role::other).first->second;
}

}  // namespace smd::tool::report
