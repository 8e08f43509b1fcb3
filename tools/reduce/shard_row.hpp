// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "figure.hpp"
#include "options.hpp"
#include "partial_text.hpp"

namespace smd::tool::reduce {

/// A line of a shard's file. Its keys are in the order in which they were written.
using ShardLine = nlohmann::ordered_json;

/// What all rows of shards that go together have.
struct ShardLayout {
  By by{false, false, false};
  std::vector<std::string> reductions;

  /// @throws InvalidValue if it is no row of a shard.
  static ShardLayout of(const ShardLine& line);

  bool operator==(const ShardLayout&) const = default;
};

struct ShardRow {
  std::string source;
  std::string mode;
  std::int64_t mode_step = 0;
  std::vector<Figure> figures;
  Partial partial;
};

/// The figure that such a value of a row stands for.
/// @throws InvalidValue if it stands for none.
[[nodiscard]] Figure figure_of(const ShardLine& value);

}  // namespace smd::tool::reduce
