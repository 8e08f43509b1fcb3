// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <smd/reduction.hpp>
#include <span>
#include <string_view>

#include "figure.hpp"
#include "plan.hpp"
#include "session.hpp"

namespace smd::tool::reduce {

/// How those figures of a row that are there were come by.
class RowSource {
 public:
  RowSource(std::span<const Figure> figures, const Plan& plan);

  [[nodiscard]] bool nothing() const noexcept { return !saved_ && !computed_; }
  /// What the column says.
  [[nodiscard]] std::string_view text() const noexcept;
  /// Adds to a shard's row what merging must know of it. `elements` is what is known of those that figures were
  /// computed of: nothing of complex numbers, or if some could not be read.
  void tell_part(ResultRow& row, const Session& session, const ReduceCommandOptions& options,
                 const std::optional<PartialReduction>& elements) const;

 private:
  std::span<const Figure> figures_;
  const Plan& plan_;
  bool saved_ = false;
  bool computed_ = false;
};

}  // namespace smd::tool::reduce
