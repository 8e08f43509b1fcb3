// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <smd/step.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "draw/chart.hpp"
#include "rows/histogram.hpp"
#include "rows/picture_options.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool {

/// The columns of histograms, after those that say what a histogram is of.
inline constexpr std::array<Column, 7> histogram_columns = {{{"bin", Align::right, true, false},
                                                             {"lo", Align::right, true, false},
                                                             {"hi", Align::right, true, false},
                                                             {"count", Align::right, true, false},
                                                             {"edges", Align::left, false, true},
                                                             {"counts", Align::left, false, true},
                                                             written_column}};

/// Notes how many elements are in no bin, if any. `what`: what the histogram is of.
void note_uncounted(const std::string& what, const Histogram& counted, Diagnostics& messages);

/// What a histogram is of; pooled fields are empty.
struct HistogramOf {
  std::string_view tensor;
  std::string_view worker;
  Mode mode = Mode::global;
  std::optional<std::int64_t> step = {};  ///< Global.
};

/// Shows histograms: bars in a table; charts in -f svg, bars of one step or a heat map of several for each tensor,
/// worker and mode; elsewhere one row per bin, in JSON one object per histogram.
class HistogramOutput {
 public:
  /// `columns` end with `histogram_columns`, and are copied. All else must outlive this.
  HistogramOutput(OutputFile& out, const OutputOptions& options, const PictureOptions& picture,
                  std::span<const Column> columns, bool several_trials, Diagnostics& messages);

  /// Whether there are bars, not rows or charts.
  [[nodiscard]] bool bars() const noexcept { return !rows_ && !svg_; }
  /// The trial that following histograms belong to.
  void set_trial(std::string_view name);

  /// `edges`: one more than `counts`. `cells`: of the columns before `histogram_columns`. `title`: of bars. `whole`:
  /// counts are not estimates. Steps of one tensor come in ascending order.
  void show(const HistogramOf& of, std::vector<Cell> cells, PlaceCell written, const std::string& title,
            const std::vector<double>& edges, const std::vector<double>& counts, bool whole);

  void end_step();
  void finish();

 private:
  using Key = std::tuple<std::size_t, std::string, std::string, Mode>;
  struct Histograms {
    bool steps = false;
    std::vector<HeatColumn> columns;
  };

  void print_rows(std::vector<Cell> cells, PlaceCell written, const std::vector<double>& edges,
                  const std::vector<double>& counts, bool whole);
  [[nodiscard]] std::vector<Chart> charts() const;

  OutputFile& out_;
  const OutputOptions& options_;
  const PictureOptions& picture_;
  bool svg_;
  std::optional<RowWriter> rows_;
  bool first_ = true;
  std::vector<std::string> trials_;
  std::map<Key, Histograms> histograms_;  // of -f svg
};

}  // namespace smd::tool
