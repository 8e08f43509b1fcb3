// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>
#include <smd/rule_parameter.hpp>

#include <initializer_list>
#include <string>
#include <vector>

/// Helpers for `RuleDescription::saves`.
namespace smd::detail::rules {

using Collections = std::vector<CollectionConfig>;

/// Returns a collection of a built-in collection's tensors, and of those in whose names a pattern is found.
[[nodiscard]] CollectionConfig collection_of(std::string name, std::vector<std::string> patterns = {});
/// Returns the collection with only these reductions of its tensors.
[[nodiscard]] CollectionConfig reduced(CollectionConfig collection, std::vector<std::string> reductions);
/// Returns the collection, saved only at steps of these modes.
[[nodiscard]] CollectionConfig only_in(std::initializer_list<Mode> modes, CollectionConfig collection);
/// Returns the pattern that matches one name.
[[nodiscard]] std::string exactly(std::string_view name);

/// Returns the collections that the parameters `collection_names` and `tensor_regex` select. Patterns make a collection
/// named `own`. If neither is given, returns a collection of every tensor named `everything`; none if `everything` is
/// empty. Saves only `reductions`; if they are empty, the tensors themselves.
[[nodiscard]] Collections selected(const Parameters& parameters, const std::string& own,
                                   const std::vector<std::string>& reductions = {}, const std::string& everything = {});

}  // namespace smd::detail::rules
