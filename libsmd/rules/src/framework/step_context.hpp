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

/// One rule at one step: what it requested and, once the window was read, what it found. Implements `StepNeeds` and
/// `StepView`.
class StepContext {
 public:
  StepContext(RuleRun& run, Window& window, const SnapshotStep& step, bool first);

  [[nodiscard]] const SnapshotStep& step() const noexcept { return step_; }
  [[nodiscard]] bool first() const noexcept { return first_; }
  [[nodiscard]] bool live() const noexcept;

  [[nodiscard]] std::span<const Unit> units(SelectionId selection);
  [[nodiscard]] std::optional<Unit> unit(std::string_view tensor, std::string_view worker) const;
  /// Returns the units of all workers at this step, by name.
  [[nodiscard]] std::vector<Unit> units_of(std::string_view tensor) const;
  [[nodiscard]] bool selected(SelectionId selection, const Unit& unit) const;
  [[nodiscard]] std::vector<std::string_view> workers() const;
  [[nodiscard]] std::span<const Unit> series(const Unit& unit, bool all_modes) const;
  [[nodiscard]] bool other_has_step(std::size_t other) const;
  [[nodiscard]] std::vector<Unit> other_units(std::string_view tensor, std::size_t other) const;
  [[nodiscard]] std::vector<std::string_view> other_workers(std::size_t other) const;

  void want_value(const Unit& unit, bool keep);
  void want_computed(const Unit& unit, const Reduction& reduction);
  void want_saved(const Unit& unit, std::string_view name);
  /// Requests a saved reduction that is not one number.
  void want_saved_value(const Unit& unit, std::string_view name);
  void want_wall_time();
  /// Returns the name under which a reduction of a unit was saved; nullopt if it was not.
  [[nodiscard]] static std::optional<std::string> saved_as(const Unit& unit, const Reduction& reduction);

  [[nodiscard]] const TensorValue* value(const Unit& unit);
  [[nodiscard]] std::optional<double> computed(const Unit& unit, const Reduction& reduction);
  [[nodiscard]] std::optional<double> saved(const Unit& unit, std::string_view name);
  [[nodiscard]] const TensorValue* saved_value(const Unit& unit, std::string_view name);
  [[nodiscard]] std::optional<double> wall_time() const;

  void trigger(Finding finding);

  /// One request.
  struct Ask {
    enum class Kind : std::uint8_t { value, saved, computed, wall_time };
    std::uint32_t slot = 0;
    std::uint32_t tensor = 0;  ///< Id in the slot's trial.
    Kind kind = Kind::value;
    Reduction reduction = {};

    bool operator==(const Ask&) const = default;
  };
  [[nodiscard]] const std::vector<Ask>& asks() const noexcept { return asks_; }
  [[nodiscard]] RuleRun& run() const noexcept { return *run_; }
  [[nodiscard]] const Window& window() const noexcept { return *window_; }

  std::exception_ptr failure;  ///< What the rule threw when the step was planned.
  bool evaluated = false;
  bool done = false;
  std::vector<Finding> findings;
  /// What the rule will compare; the pairs live as long as the plan.
  std::vector<const TensorPair*> pairs;

 private:
  [[nodiscard]] const Slot* asked(const Unit& unit, std::optional<std::uint32_t> position, Ask ask);
  /// As above, for requests of a unit's value.
  [[nodiscard]] const Slot* asked_of_value(const Unit& unit, Ask ask);
  [[nodiscard]] static std::optional<std::uint32_t> value_position(const Unit& unit);
  [[nodiscard]] static std::optional<std::uint32_t> saved_position(const Unit& unit, std::string_view name);
  void add(const Unit& unit, std::uint32_t slot, Ask::Kind kind, const Reduction& reduction = {});

  RuleRun* run_;
  Window* window_;
  SnapshotStep step_;
  bool first_;
  std::vector<SavedRow> rows_;
  std::vector<std::pair<SelectionId, std::vector<Unit>>> units_;
  std::vector<Ask> asks_;
  std::size_t cursor_ = 0;  // requests are mostly looked up in the order in which they were made
};

}  // namespace smd::detail::rules
