// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// `trainer_state.json`, which Hugging Face's Trainer writes beside each checkpoint: the step of the checkpoint, and a
/// log of all numbers since the job's start. It may contain bare `NaN` and `Infinity`.
/// Format: transformers/trainer_callback.py, `TrainerState`.
namespace smd::detail::layout {

/// One number of the log.
struct LoggedNumber {
  std::int64_t step = 0;
  std::uint32_t name = 0;  ///< Index in `TrainerLog::names`.
  double value = 0;
};

struct TrainerLog {
  std::vector<std::string> names;     ///< As TensorBoard shows them: `train/loss`, `eval/loss`.
  std::vector<LoggedNumber> numbers;  ///< In the log's order; of two with the same name and step the later one counts.
};

/// Returns the step of a state. `json` may be the beginning of a file; nullopt if it does not contain the step.
[[nodiscard]] std::optional<std::int64_t> global_step_of(std::string_view json);

/// Returns the whole log; a problem with an offset if the text is malformed.
[[nodiscard]] Outcome<TrainerLog> parse_trainer_log(std::string_view json);

}  // namespace smd::detail::layout
