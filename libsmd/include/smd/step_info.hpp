// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/shape.hpp>
#include <smd/step.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smd {

/// One known step.
struct StepInfo {
  GlobalStep step;
  Mode mode = Mode::global;
  ModeStep mode_step;
  bool complete = false;
  std::size_t tensors = 0;           ///< Number of tensors of which anything was saved.
  std::vector<std::string> workers;  ///< Workers that wrote the step, by name.
  std::uint64_t bytes = 0;           ///< That the entries take, as `TrialSnapshot::bytes`.
};

/// What is known of one tensor over all steps in range.
struct TensorSummary {
  std::string tensor;
  std::size_t steps = 0;
  GlobalStep first_step;
  GlobalStep last_step;
  std::vector<Mode> modes;           ///< By number.
  std::vector<std::string> workers;  ///< By name.
  std::vector<std::string> saved;    ///< `value`, `shape`, and names of reductions, in this order.
  std::uint64_t bytes = 0;           ///< As in `StepInfo`.
  std::optional<Shape> shape;        ///< The last shape that was saved by itself; nullopt if none was.
};

}  // namespace smd
