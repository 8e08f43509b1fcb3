// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/reduction.hpp>
#include <smd/trial.hpp>

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace smd::python {

/// Values of a tensor over its steps. All of these functions are called without Python's lock.
struct Series {
  TensorValue steps;                                         ///< int64, ascending.
  std::variant<TensorValue, std::vector<TensorValue>> data;  ///< One array, or one for each step if shapes differ.
  TensorValue times;                                         ///< float64: seconds since 1970.
};

/// Which values of a tensor are meant: those of a mode, by mode steps (`Mode::global`: all, by global steps), and of a
/// worker (nullopt: at each step the first by name).
struct SeriesQuery {
  Mode mode = Mode::global;
  std::optional<std::string> worker = {};
};

/// Returns the series if all values are single numbers, else nullopt. @throws ReadError at a value that cannot be read.
[[nodiscard]] std::optional<Series> number_series(const Trial& trial, const std::string& tensor,
                                                  const SeriesQuery& query);
/// Returns the series of any values, in one array with the steps as first axis if all have one type and shape.
/// @throws as above.
[[nodiscard]] Series value_series(const Trial& trial, const std::string& tensor, const SeriesQuery& query);

/// Returns `step`, and under each name the reduction: what was saved, else what is computed, else NaN. Leaves out steps
/// without any. @throws InvalidArgument for unknown names and values that cannot be reduced; ReadError.
[[nodiscard]] std::vector<std::pair<std::string, TensorValue>> reduced_series(const Trial& trial,
                                                                              const std::string& tensor,
                                                                              const std::vector<std::string>& names,
                                                                              const SeriesQuery& query);

/// The scalars of tensors: one after another, with `tensors` saying whose each row is.
struct ScalarTable {
  std::vector<std::pair<std::string, TensorValue>> columns;
  std::vector<std::pair<std::string, std::size_t>> tensors;  ///< And how many rows; empty if wide.
};

/// Returns the scalars of those of the tensors that are single numbers: long, or wide with a row for each step.
[[nodiscard]] ScalarTable scalar_table(const Trial& trial, const std::vector<std::string>& tensors,
                                       const SeriesQuery& query, bool wide, bool wall_time);

}  // namespace smd::python
