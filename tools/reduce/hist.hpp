// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "options.hpp"
#include "result_view.hpp"
#include "session.hpp"

namespace smd::tool::reduce {

/// Bounds that grow to hold the finite elements seen.
struct FiniteBounds {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(const FiniteBounds& other) noexcept {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

/// Widens bounds to hold what is selected of a trial.
void widen(FiniteBounds& bounds, const Session& session, const ReduceCommandOptions& options);

/// Shows a histogram for each row of what is selected of some trials.
class HistView {
 public:
  HistView(OutputFile& out, const ReduceCommandOptions& options, const FiniteBounds& bounds, bool several_trials,
           Diagnostics& messages);
  ~HistView();
  ReduceOutcome show(const Session& session);
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::tool::reduce
