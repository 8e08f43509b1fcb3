// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/rule_registry.hpp>
#include <smd/version.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// Rules in a shared object of their own. A plug-in is compiled against this header, links libsmd, and has one line
///
///     SMD_RULE_PLUGIN(register_my_rules)
///
/// with a function `void register_my_rules()` that calls `smd::register_rule`. See examples/rule_plugin.
namespace smd {

/// Changed whenever plug-ins that were compiled before would no longer work.
inline constexpr std::uint32_t rule_plugin_interface = 1;

/// What a plug-in's entry point `smd_rule_plugin_v1` returns. Its layout never changes; a new interface has a new entry
/// point.
struct RulePlugin {
  std::uint32_t size;              ///< Of this structure.
  std::uint32_t plugin_interface;  ///< `rule_plugin_interface` when the plug-in was compiled.
  const char* libsmd_version;      ///< `SMD_VERSION_STRING` when the plug-in was compiled.
  const char* compiler_abi;        ///< `plugin_compiler_abi`.
  void (*register_rules)();
};

/// Loads a shared object and lets it register its rules; never unloads it. Returns the names of the rules that it
/// registered; none if it was loaded before. @throws InvalidArgument if the file does not exist, is not a shared
/// object, is broken, has no entry point, or was made for another interface or version, or if a rule's name is taken.
/// Thread-safe.
SMD_EXPORT std::vector<std::string> load_rule_plugin(const std::string& path);

namespace detail {
/// Standard libraries whose classes differ in layout must not be mixed.
#if defined(_LIBCPP_VERSION)
inline constexpr const char* plugin_compiler_abi = "libc++";
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
inline constexpr const char* plugin_compiler_abi = "libstdc++ cxx11";
#else
inline constexpr const char* plugin_compiler_abi = "other";
#endif
}  // namespace detail

}  // namespace smd

#define SMD_RULE_PLUGIN(function)                                                                                   \
  extern "C" __attribute__((visibility("default"))) const smd::RulePlugin* smd_rule_plugin_v1() {                   \
    static const smd::RulePlugin plugin = {sizeof(smd::RulePlugin), smd::rule_plugin_interface, SMD_VERSION_STRING, \
                                           smd::detail::plugin_compiler_abi, function};                             \
    return &plugin;                                                                                                 \
  }                                                                                                                 \
  static_assert(true, "takes the semicolon")
