// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smd::tool::report {

/// Tensors whose names begin with the same parts.
struct LayerGroup {
  std::string name;  ///< The common beginning; if names have no parts, the first and the last name.
  std::vector<std::string> tensors;
  bool by_name = true;  ///< Whether exactly these begin with the name.
};

/// Names grouped by their first parts, between `/` and `.`: by as many parts as leave few groups. Groups and names keep
/// the order in which they first come.
[[nodiscard]] std::vector<LayerGroup> layer_groups(const std::vector<std::string>& names);

/// A regular expression that finds this text.
[[nodiscard]] std::string escaped_pattern(std::string_view text);

}  // namespace smd::tool::report
