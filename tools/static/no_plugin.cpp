// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>
#include <smd/rule_plugin.hpp>

// In place of the library's: a static program cannot load one.
std::vector<std::string> smd::load_rule_plugin(const std::string& path) {
  throw InvalidArgument("plug-in " + path +
                        ": this is the static program, which loads none; the packages' smd-rule does");
}
