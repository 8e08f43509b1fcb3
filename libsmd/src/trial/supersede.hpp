// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "trial/catalog.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace smd::detail::trial {

/// Takes out of rows what later values supersede.
class Superseder {
 public:
  explicit Superseder(std::span<const Superseding> later);

  /// Whether a row at that step or a later one may lose anything.
  [[nodiscard]] bool reaches(std::int64_t step) const noexcept { return !by_series_.empty() && step >= first_step_; }
  /// Leaves of `rows` what still counts. Returns whether anything went.
  bool apply(Catalog& catalog, std::vector<layout::StepRow>& rows);

  /// What went: rows with nothing but superseded values, in the order of `rows`; and how many values, by tensor.
  std::vector<layout::StepRow> superseded;
  std::map<std::uint32_t, std::uint64_t> counts;

 private:
  /// Of one worker and tensor, by arrival of the later value.
  struct Later {
    std::uint64_t before = 0;
    std::int64_t from_step = 0;  ///< The least of this one and all after it.
  };

  [[nodiscard]] bool is_superseded(const layout::StepRow& row, std::uint32_t tensor) const noexcept;

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Later>> by_series_;
  std::vector<bool> tensors_;  // by id: whether anything of it may go
  std::int64_t first_step_ = INT64_MAX;
};

}  // namespace smd::detail::trial
