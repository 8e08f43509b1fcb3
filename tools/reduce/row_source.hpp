// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <smd/reduction.hpp>
#include <span>
#include <string_view>

#include "row_plan.hpp"
#include "session.hpp"
#include "statistic.hpp"

namespace smd::tool::reduce {

/// Where the statistics of a row that exist came from.
class RowSource {
 public:
  RowSource(std::span<const Statistic> statistics, const RowPlan& plan);

  [[nodiscard]] bool nothing() const noexcept { return !saved_ && !computed_; }
  /// The text of the column `source`.
  [[nodiscard]] std::string_view text() const noexcept;
  /// Adds what merging must know to a shard's row. `elements`: those that statistics were computed from; nullopt for
  /// complex numbers, or if some could not be read.
  void tell_part(ResultRow& row, const Session& session, const ReduceCommandOptions& options,
                 const std::optional<PartialReduction>& elements) const;

 private:
  std::span<const Statistic> statistics_;
  const RowPlan& plan_;
  bool saved_ = false;
  bool computed_ = false;
};

}  // namespace smd::tool::reduce
