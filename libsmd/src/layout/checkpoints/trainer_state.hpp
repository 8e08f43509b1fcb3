// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// `trainer_state.json`, which the Trainer of Hugging Face writes beside each checkpoint: the step that it is of, and a
/// log of all numbers since the job's start. `NaN` and `Infinity` stand bare in it.
/// Format: transformers/trainer_callback.py, `TrainerState`.
namespace smd::detail::layout {

/// One number of the log.
struct LoggedNumber {
  std::int64_t step = 0;
  std::uint32_t name = 0;  ///< Which of `TrainerLog::names`.
  double value = 0;
};

struct TrainerLog {
  std::vector<std::string> names;     ///< As TensorBoard shows them: `train/loss`, `eval/loss`.
  std::vector<LoggedNumber> numbers;  ///< As they stand there: of two with one name and step the later one counts.
};

/// The step that a state is of. The beginning of a file may do; nullopt if it is not there.
[[nodiscard]] std::optional<std::int64_t> global_step_of(std::string_view json);

/// The whole log; a problem with an offset if the text is not what it must be.
[[nodiscard]] Outcome<TrainerLog> parse_trainer_log(std::string_view json);

}  // namespace smd::detail::layout
