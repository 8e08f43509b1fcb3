// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <smd/trial_options.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::tool {

/// One item of a SPEC: `N`, or `A:B` or `A:B:S` with open ends. Negative numbers count saved steps from the end.
struct StepTerm {
  bool single = false;
  std::int64_t number = 0;            ///< Of a single one; -1 is the last saved step.
  bool oldest = false;                ///< `first`: the first saved step (single).
  std::optional<std::int64_t> start;  ///< Of a range.
  std::optional<std::int64_t> stop;
  std::int64_t stride = 1;  ///< Never 0.
  std::string text;         ///< As written, for messages.
};

/// The steps that a SPEC chooses among those offered.
struct StepChoice {
  std::vector<std::size_t> indices;      ///< Into the steps offered; ascending, each once.
  std::vector<const StepTerm*> missing;  ///< Single steps that are not there; point into the spec.
};

/// The part of a trial that must be read to resolve a SPEC.
struct StepNeed {
  enum class Kind : std::uint8_t {
    everything,
    newest,   ///< The last `count` saved steps.
    oldest,   ///< The first `count` saved steps.
    windows,  ///< Steps whose numbers lie within `windows`.
  };
  Kind kind = Kind::everything;
  std::size_t count = 0;
  std::vector<StepRange> windows;  ///< Half open; each has a `first`, and perhaps an `end`.
};

/// A parsed `--step`: a union of terms, independent of any trial.
class StepSpec {
 public:
  /// All steps.
  StepSpec() = default;
  /// One item without commas: `N`, `A:B`, `A:B:S`, `first`, `last`, `all`, `:`. @throws InvalidValue, also for a
  /// range in which no step can lie: `20:0`.
  static StepTerm parse_term(std::string_view text);
  /// @throws InvalidValue. Items separated by commas.
  static StepSpec parse(std::string_view text);
  explicit StepSpec(std::vector<StepTerm> terms) : terms_(std::move(terms)) {}

  [[nodiscard]] const std::vector<StepTerm>& terms() const noexcept { return terms_; }
  /// Whether every step is chosen.
  [[nodiscard]] bool all() const noexcept;

  /// Chooses among the saved steps, given by their numbers, ascending (numbers may repeat: a job that was restarted). A
  /// range takes the members of Python's `range(A, B, S)` that were saved, where a negative A or B stands for the
  /// number of the step that it counts to (clamped to the first and last as Python's slices are). An open end also
  /// reaches steps below 0.
  [[nodiscard]] StepChoice choose(std::span<const std::int64_t> saved) const;

  [[nodiscard]] StepNeed need() const;

 private:
  std::vector<StepTerm> terms_;
};

/// Whether a SPEC has steps that are counted from an end (`first`, `last`, negative numbers): in commands that print
/// values or statistics these count each tensor's own steps.
[[nodiscard]] bool counts_from_end(const StepSpec& spec) noexcept;
[[nodiscard]] bool counts_from_end(const StepTerm& term) noexcept;
/// Whether a SPEC asks for `last`, or -1.
[[nodiscard]] bool asks_for_last(const StepSpec& spec);

}  // namespace smd::tool
