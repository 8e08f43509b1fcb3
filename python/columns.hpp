// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>

#include <optional>
#include <string>
#include <vector>

/// Many values of one tensor at once. All functions are called without Python's lock, and throw ReadError at a value
/// that cannot be read.
namespace smd::python {

/// Which values are meant: those of a mode, by mode steps (`Mode::global`: all, by global steps), and of a worker
/// (nullopt: at each step the first by name).
struct SeriesQuery {
  Mode mode = Mode::global;
  std::optional<std::string> worker = {};
};

/// The single numbers of a tensor in arrays of one length.
struct NumberSeries {
  TensorValue steps;                      ///< int64
  TensorValue numbers;                    ///< In their own type, or float64 if they have several.
  std::optional<TensorValue> times = {};  ///< If wanted: float64, seconds since 1970.
  /// int32: place of each one's worker in the order of names. Nullopt: there is one worker, and rows are by step.
  std::optional<TensorValue> workers = {};
};
/// Returns nullopt if a value is not a single number.
[[nodiscard]] std::optional<NumberSeries> number_series(const Trial& trial, const std::string& tensor,
                                                        const SeriesQuery& query, bool with_times);

/// The values of a tensor, by step.
struct ValueSeries {
  TensorValue steps;
  std::vector<TensorValue> values;  ///< If all have one type and shape a single one, stacked.
  bool stacked = false;
  TensorValue times;
};
[[nodiscard]] ValueSeries value_series(const Trial& trial, const std::string& tensor, const SeriesQuery& query);

/// Returns steps, then for each name the reduction as it was saved, else computed, else NaN. Leaves out steps without
/// any. @throws InvalidArgument for names that are unknown and were not saved, and for values that cannot be reduced.
[[nodiscard]] std::vector<TensorValue> reduced_series(const Trial& trial, const std::string& tensor,
                                                      const std::vector<std::string>& names, const SeriesQuery& query);

}  // namespace smd::python
