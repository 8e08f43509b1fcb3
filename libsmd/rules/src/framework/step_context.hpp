// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/evaluated_trial.hpp"
#include "framework/window.hpp"

#include <smd/rule.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::detail::rules {

class RuleRun;

/// Sets the step of a finding.
void place_at(Finding& finding, const SnapshotStep& step);

/// One request of a rule. `stored`: the value, or the integers of a quantised tensor. `aside`: a saved reduction that
/// only a warning needs, so that the result does not count it, nor say that it cannot be read.
struct RecordRequest {
  enum class Kind : std::uint8_t { value, stored, saved, aside, computed, wall_time };
  std::uint32_t slot = 0;
  std::uint32_t tensor = 0;  ///< Id in the slot's trial.
  Kind kind = Kind::value;
  Reduction reduction = {};
};

/// Returns whether a record holds numbers of which a request may get something.
[[nodiscard]] inline bool serves(Held held, RecordRequest::Kind kind) noexcept {
  return held == Held::numbers || (held == Held::quantised && kind == RecordRequest::Kind::stored);
}

/// One rule at one step: what it requested and, once the window was read, what it found. `StepNeeds` and `StepView` are
/// views of it.
class StepContext {
 public:
  /// `in_rows`: those of the step in the base trial.
  StepContext(RuleRun& in_run, Window& in_window, const SnapshotStep& in_step, bool in_first,
              std::vector<SavedRow> in_rows);

  [[nodiscard]] std::span<const Unit> units(SelectionId selection);
  /// Returns the units of all workers at this step, by name.
  [[nodiscard]] std::vector<Unit> units_of(std::string_view tensor) const;
  [[nodiscard]] bool selected(SelectionId selection, const Unit& unit) const;
  enum class Stretch : std::uint8_t { mode, since_restart, all_modes };
  [[nodiscard]] std::span<const Unit> series(const Unit& unit, Stretch stretch);

  /// Returns the position of a unit's raw value, or of a saved reduction, in its row; nullopt if it was not saved.
  [[nodiscard]] static std::optional<std::uint32_t> value_position(const Unit& unit);
  [[nodiscard]] static std::optional<std::uint32_t> saved_position(const Unit& unit, std::string_view reduction);
  /// Returns how many elements a unit has by the shape that was saved beside it; nullopt if none was.
  [[nodiscard]] static std::optional<std::uint64_t> saved_count(const Unit& unit) noexcept;
  /// Returns what the elements of a unit's value mean: `ValueType::meaning`.
  [[nodiscard]] static std::string meaning_of(const Unit& unit);
  /// Returns the name under which a reduction of a unit was saved; nullopt if it was not.
  [[nodiscard]] static std::optional<std::string> saved_as(const Unit& unit, const Reduction& reduction);
  /// Notes a unit of which something that the rule needs was not saved.
  void lacks(const Unit& unit);
  /// Requests a record; without a position, `lacks` it.
  void want(const Unit& unit, std::optional<std::uint32_t> position, RecordRequest::Kind kind,
            const Reduction& reduction = {}, bool keep = false);
  /// As `StepNeeds::value` and `StepView::value`, for rules that compare two values of the same meaning: they may also
  /// take the integers of quantised tensors.
  void want_stored(const Unit& unit, bool keep) {
    want(unit, value_position(unit), RecordRequest::Kind::stored, {}, keep);
  }
  [[nodiscard]] const TensorValue* stored(const Unit& unit) { return value(unit, RecordRequest::Kind::stored); }
  [[nodiscard]] const TensorValue* value(const Unit& unit, RecordRequest::Kind kind);
  /// Returns what a request read; null if there was no such request, or no numbers.
  [[nodiscard]] const Slot* asked(const Unit& unit, std::optional<std::uint32_t> position, RecordRequest::Kind kind,
                                  const Reduction& reduction = {});
  /// As above, for requests of a unit's value.
  [[nodiscard]] const Slot* asked_of_value(const Unit& unit, RecordRequest::Kind kind, const Reduction& reduction = {});

  RuleRun& run;
  Window& window;
  SnapshotStep step;
  bool first;
  std::vector<SavedRow> rows;
  std::vector<RecordRequest> asks;
  std::vector<std::uint32_t> lacking;  ///< Ids of tensors of which something that the rule needs was not saved.
  bool looked_back = false;            ///< The rule looked at earlier steps, which may lie before its range.

  std::exception_ptr failure;  ///< What the rule threw when the step was planned.
  bool evaluated = false;
  bool done = false;
  std::vector<Finding> findings;
  /// What the rule will compare; the pairs live as long as the plan.
  std::vector<const TensorPair*> pairs;

 private:
  [[nodiscard]] const Slot& next_slot() const { return window[asks[cursor_].slot]; }
  void advance() { cursor_ = cursor_ + 1 == asks.size() ? 0 : cursor_ + 1; }

  std::vector<std::pair<SelectionId, std::vector<Unit>>> units_;
  std::size_t cursor_ = 0;  // requests are mostly looked up in the order in which they were made
};

}  // namespace smd::detail::rules
