// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

/// Which tensors are losses, and what the loss of one is.
namespace smd {

class Trial;

namespace detail::rules {

/// Whether the trial defines a collection `losses` with at least one name or pattern. Where names make the collections
/// it is known in any case: no other number stands in for a loss.
[[nodiscard]] bool knows_losses(const Trial& trial);

/// Losses come through collections, where one of many elements counts by its mean, and otherwise by patterns or because
/// every tensor may be one: then it has exactly one element.
class Losses {
 public:
  Losses() = default;
  /// A selection of collections alone, and one without collections.
  Losses(std::optional<SelectionId> collections, std::optional<SelectionId> others)
      : collections_(collections), others_(others) {}

  /// What may be a loss at this step, as far as the index tells; order as it comes.
  [[nodiscard]] std::vector<Unit> units(const StepTensors& step) const;
  /// Also of a unit of an earlier step.
  [[nodiscard]] bool possible(const StepTensors& step, const Unit& unit) const;
  void need(StepNeeds& step, const Unit& unit) const;
  /// Nothing if it is none after all.
  [[nodiscard]] std::optional<double> loss(const StepView& step, const Unit& unit) const;
  /// The same of a unit that was not asked for: read at once, by itself. What cannot be read counts as unread.
  [[nodiscard]] std::optional<double> look_up(StepView& step, const Unit& unit) const;

  /// For rules that pool workers: needs of all losses of a step, and their means over workers, by tensor.
  void need_all(StepNeeds& step) const;
  [[nodiscard]] std::map<std::string, double> pooled(const StepView& step) const;

 private:
  [[nodiscard]] bool by_collection(const StepTensors& step, const Unit& unit) const;

  std::optional<SelectionId> collections_;
  std::optional<SelectionId> others_;
};

}  // namespace detail::rules

}  // namespace smd
