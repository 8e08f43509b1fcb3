// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// `trainer_state.json`, which Hugging Face's Trainer writes beside each checkpoint: the step of the checkpoint, and a
/// log of all numbers since the job's start. It may contain bare `NaN` and `Infinity`.
/// Format: transformers/trainer_callback.py, `TrainerState`.
namespace smd::detail::layout {

/// A log in columns: a value takes 8 bytes, and an entry of the log 16.
class TrainerLog {
 public:
  /// Index in `names`, and the value.
  using Number = std::pair<std::uint32_t, double>;

  std::vector<std::string> names;  ///< As TensorBoard shows them: `train/loss`, `eval/loss`.
  std::uint64_t without_step = 0;  ///< Entries with numbers whose step is no whole number. They were not added.
  std::uint64_t texts = 0;         ///< Values that are no number: texts, null, lists, ….

  /// Adds an entry of the log: its numbers in their order.
  void add(std::int64_t step, std::span<const Number> numbers);
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  /// Calls `take(step, numbers)` for each step, in order: the numbers by name, and of several with one name the last.
  /// Returns how many others had another value.
  std::size_t for_each_step(const std::function<void(std::int64_t step, std::span<const Number> numbers)>& take) const;

 private:
  struct Entry {
    std::int64_t step = 0;
    std::uint32_t kind = 0;   ///< Index in `kinds_`.
    std::uint32_t first = 0;  ///< Index in `values_`.
  };

  std::vector<Entry> entries_;
  std::vector<double> values_;
  std::vector<std::vector<std::uint32_t>> kinds_;  ///< The names of an entry. Most entries have those of another.
};

/// Both read a text after which `Buffer::padding` more bytes may be read.
/// Returns the step of a state. `json` may be the beginning of a file; nullopt if it does not contain the step.
[[nodiscard]] std::optional<std::int64_t> global_step_of(std::string_view json);

/// Returns the whole log; a problem if the text is malformed, or if `stop`, which may be null, returns true.
[[nodiscard]] Outcome<TrainerLog> parse_trainer_log(std::string_view json, const std::function<bool()>* stop = nullptr);

}  // namespace smd::detail::layout
