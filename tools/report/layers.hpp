// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smd::tool::report {

/// Tensors whose names begin with the same parts.
struct LayerGroup {
  std::string name;  ///< What they begin with; where names have no parts, what the first and the last are.
  std::vector<std::string> tensors;
  bool by_name = true;  ///< Exactly these begin with the name.
};

/// Names grouped by their first parts, between `/` and `.`: by as many as leave few groups. Groups and names keep the
/// order in which they first come.
[[nodiscard]] std::vector<LayerGroup> layer_groups(const std::vector<std::string>& names);

/// A regular expression that finds this text.
[[nodiscard]] std::string escaped_pattern(std::string_view text);

}  // namespace smd::tool::report
