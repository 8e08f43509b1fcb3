// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>
#include <smd/rule_parameter.hpp>

#include <initializer_list>
#include <string>
#include <vector>

/// What rules say in `RuleDescription::saves`.
namespace smd::detail::rules {

using Collections = std::vector<CollectionConfig>;

/// The tensors of a built-in collection, and those in whose name a pattern is found.
[[nodiscard]] CollectionConfig collection_of(std::string name, std::vector<std::string> patterns = {});
/// Of the same tensors only these reductions.
[[nodiscard]] CollectionConfig reduced(CollectionConfig collection, std::vector<std::string> reductions);
/// The same at steps of these modes only.
[[nodiscard]] CollectionConfig only_in(std::initializer_list<Mode> modes, CollectionConfig collection);
/// The pattern of one name.
[[nodiscard]] std::string exactly(std::string_view name);

/// What the parameters `collection_names` and `tensor_regex` select. Patterns make a collection `own`; if neither is
/// given, a collection `everything` has every tensor (empty: nothing). `reductions`: only these; none: the tensors.
[[nodiscard]] Collections selected(const Parameters& parameters, const std::string& own,
                                   const std::vector<std::string>& reductions = {}, const std::string& everything = {});

}  // namespace smd::detail::rules
