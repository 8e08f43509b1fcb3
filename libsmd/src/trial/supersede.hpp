// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "trial/catalog.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace smd::detail::trial {

/// Removes superseded values from rows.
class Superseder {
 public:
  explicit Superseder(std::span<const Superseding> later);

  /// Returns whether rows at that step may have superseded values.
  [[nodiscard]] bool reaches(std::int64_t step) const noexcept { return !by_series_.empty() && step >= first_step_; }
  /// Removes superseded values from `rows`. Returns whether there were any.
  bool apply(Catalog& catalog, std::vector<layout::StepRow>& rows);

  /// The removed values: rows with only superseded values, in the order of `rows`; and the number of values, by tensor.
  std::vector<layout::StepRow> superseded;
  std::map<std::uint32_t, std::uint64_t> counts;

 private:
  /// A later value of one worker and tensor. Sorted by arrival.
  struct Later {
    std::uint64_t before = 0;
    std::int64_t from_step = 0;  ///< The least of this value and all later ones.
  };

  [[nodiscard]] bool is_superseded(const layout::StepRow& row, std::uint32_t tensor) const noexcept;

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Later>> by_series_;
  std::vector<bool> tensors_;  // by id: whether the tensor may have superseded values
  std::int64_t first_step_ = INT64_MAX;
};

}  // namespace smd::detail::trial
