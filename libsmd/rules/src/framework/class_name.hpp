// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

namespace smd::detail::rules {

/// Returns the name of a class without its namespace, as in the source: `MyRule`, `MyRule<int>`.
[[nodiscard]] inline std::string class_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  const std::string_view whole = demangled ? demangled.get() : type.name();
  const std::string_view plain = whole.substr(0, whole.find('<'));
  const std::size_t scope = plain.rfind("::");
  return std::string(scope == std::string_view::npos ? whole : whole.substr(scope + 2));
}

}  // namespace smd::detail::rules
