// SPDX-License-Identifier: Apache-2.0
// Plug-ins that must be refused, one a definition.
#include <smd/rule_plugin.hpp>

#include <stdexcept>

namespace {

[[maybe_unused]] void nothing() {}
[[maybe_unused]] void throws() { throw std::runtime_error("no licence"); }

}  // namespace

#if defined(WRONG_throws)
SMD_RULE_PLUGIN(throws);
#elif defined(WRONG_no_rules)
SMD_RULE_PLUGIN(nothing);
#elif defined(WRONG_other_interface)
extern "C" __attribute__((visibility("default"))) const smd::RulePlugin* smd_rule_plugin_v1() {
  static const smd::RulePlugin plugin = {sizeof(smd::RulePlugin), smd::rule_plugin_interface + 1, SMD_VERSION_STRING,
                                         smd::detail::plugin_compiler_abi, nothing};
  return &plugin;
}
#elif defined(WRONG_other_version)
extern "C" __attribute__((visibility("default"))) const smd::RulePlugin* smd_rule_plugin_v1() {
  static const smd::RulePlugin plugin = {sizeof(smd::RulePlugin), smd::rule_plugin_interface, "7.1.0",
                                         smd::detail::plugin_compiler_abi, nothing};
  return &plugin;
}
#endif
