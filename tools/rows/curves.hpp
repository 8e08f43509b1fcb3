// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <smd/step.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "rows/cell.hpp"
#include "rows/output_options.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool {

/// The columns of `Curves`.
[[nodiscard]] std::span<const Column> curve_columns() noexcept;

/// --spark: numbers over steps, gathered into curves, and printed as a table of them. Each tensor, worker, mode and
/// reduction has a curve of its own; all are of the same length and fill the line.
class Curves {
 public:
  /// The trial that following numbers belong to.
  void set_trial(std::string_view name) { trials_.emplace_back(name); }

  /// What a number is of.
  struct Point {
    std::string_view tensor;
    std::string_view worker;
    Mode mode = Mode::global;
    std::size_t reduction = 0;  ///< Its place in the names given to `print`.
    std::int64_t step = 0;      ///< Global.
    PlaceCell written = {};
  };
  /// Steps of one curve come in ascending order.
  void add(const Point& point, double number);
  [[nodiscard]] bool empty() const noexcept { return curves_.empty(); }

  /// `reductions`: their names; empty if the numbers are values.
  void print(OutputFile& out, const OutputOptions& options, bool several_trials,
             std::span<const std::string> reductions, Diagnostics& messages) const;

 private:
  using Key = std::tuple<std::size_t, std::string, std::string, Mode, std::size_t>;
  struct Curve {
    std::int64_t first = 0;
    std::int64_t last = 0;
    PlaceCell written;
    std::vector<double> numbers;
  };

  std::vector<std::string> trials_;
  std::map<Key, Curve> curves_;
};

}  // namespace smd::tool
