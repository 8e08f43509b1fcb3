// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <smd/step.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "draw/chart.hpp"

namespace smd::tool {

/// Gathers histograms for -f svg: each tensor, worker and mode has a chart of its own, bars of one step or a heat map
/// of several.
class HistogramCharts {
 public:
  /// The trial that following histograms belong to.
  void set_trial(std::string_view name) { trials_.emplace_back(name); }

  /// What a histogram is of; pooled fields are empty.
  struct Of {
    std::string_view tensor;
    std::string_view worker;
    Mode mode = Mode::global;
    std::optional<std::int64_t> step = {};  ///< Global.
  };
  /// `edges`: one more than counts. Steps come in ascending order. Does nothing if there are no counts.
  void add(const Of& of, std::vector<double> edges, std::vector<double> counts);

  [[nodiscard]] std::vector<Chart> charts() const;

 private:
  using Key = std::tuple<std::size_t, std::string, std::string, Mode>;
  struct Histograms {
    bool steps = false;
    std::vector<HeatColumn> columns;
  };

  std::vector<std::string> trials_;
  std::map<Key, Histograms> histograms_;
};

}  // namespace smd::tool
