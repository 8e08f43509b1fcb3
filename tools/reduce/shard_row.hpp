// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operands/shard.hpp"
#include "options.hpp"
#include "session.hpp"
#include "statistic.hpp"

#include <smd/reduction.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool::reduce {

/// What a shard's row holds beside its statistics, so that rows can be pooled: which part of which steps it is, where
/// each statistic came from (`c` computed, `s` saved, `b` saved but can be computed too, `-` missing), the options of
/// those computed, and what is known of their elements.
struct Partial {
  Shard shard;
  ShardedSteps steps;
  std::string how;
  ReduceOptions options;
  std::optional<PartialReduction> data;  ///< Absent for complex numbers.
};

/// Words separated by spaces, numbers as decimal text that reads back the same: safe in any JSON program.
[[nodiscard]] std::string to_text(const Partial& partial);
/// Nullopt if the text is not of that form.
[[nodiscard]] std::optional<Partial> parse_partial(std::string_view text);

/// A line that is no JSON object of a shard.
class MalformedShardLine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A line of a shard's file. @throws MalformedShardLine in all functions, for a key that is missing or of another type.
class ShardLine {
 public:
  explicit ShardLine(const std::string& line);
  ShardLine(const ShardLine&) = delete;
  ShardLine& operator=(const ShardLine&) = delete;
  ~ShardLine();

  [[nodiscard]] std::string text(const std::string& key) const;
  [[nodiscard]] std::string text_or_null(const std::string& key) const;  ///< Empty for null.
  [[nodiscard]] std::int64_t number(const std::string& key) const;
  [[nodiscard]] bool is_floating(const std::string& key) const;
  /// @throws InvalidValue also, if the value is no statistic.
  [[nodiscard]] Statistic statistic(const std::string& key) const;
  /// With its keys in the order in which they were written.
  [[nodiscard]] const nlohmann::ordered_json& object() const noexcept { return *object_; }

 private:
  std::unique_ptr<nlohmann::ordered_json> object_;
};

/// What all rows of shards that belong together have in common.
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
  std::vector<Statistic> statistics;
  Partial partial;
};

}  // namespace smd::tool::reduce
