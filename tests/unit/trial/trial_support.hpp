// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/temp_dir.hpp"
#include "support/trial_builder.hpp"

#include <smd/trial.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// What the tests of trials share.
namespace smd::test {

using Numbers = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

template <class Step>
Numbers numbers(const std::vector<Step>& steps) {
  Numbers result;
  for (const Step step : steps) {
    result.push_back(step.value);
  }
  return result;
}

/// A step at which one worker saved tensor `a` of one element, the step's number; its mode step is the same number.
inline BuiltStep simple_step(std::int64_t step, const std::string& worker = "worker_0", Mode mode = Mode::train) {
  return {.step = step,
          .worker = worker,
          .mode = mode,
          .mode_step = step,
          .tensors = {{"a", {static_cast<float>(step)}}},
          .shapes = {}};
}

/// The first element of a float32 value.
inline float first_float(const TensorValue& value) {
  float number = -1;
  std::copy_n(value.bytes().begin(), sizeof number, reinterpret_cast<std::byte*>(&number));
  return number;
}

/// `KIND file` of each problem, in order.
inline Texts kinds_and_files(const std::vector<Problem>& problems) {
  Texts result;
  for (const Problem& problem : problems) {
    result.push_back(std::string(to_string(problem.kind)) + " " + problem.file);
  }
  return result;
}

}  // namespace smd::test
