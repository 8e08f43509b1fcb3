// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "draw/chart.hpp"
#include "options.hpp"
#include "result_view.hpp"
#include "rows/buckets.hpp"
#include "rows/histogram_output.hpp"
#include "session.hpp"

namespace smd::tool::reduce {

/// Widens bounds to hold what is selected of a trial.
void widen(AxisRange& bounds, const Session& session);

struct Counted;

/// Shows a histogram for each row of what is selected of some trials.
class HistView {
 public:
  HistView(OutputFile& out, const ReduceCommandOptions& options, const AxisRange& bounds, bool several_trials,
           Diagnostics& messages);
  ReduceOutcome show(const Session& session);
  void finish() { output_.finish(); }

 private:
  void print(const Counted& row, const std::string& trial);

  const ReduceCommandOptions& options_;
  Diagnostics& messages_;
  Histogram empty_;
  bool several_trials_;
  HistogramOutput output_;
};

}  // namespace smd::tool::reduce
