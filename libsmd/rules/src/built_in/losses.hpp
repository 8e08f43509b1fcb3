// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Finds the tensors that are losses, and their values.
namespace smd {

class Trial;

namespace detail::rules {

/// Returns whether the trial defines a collection `losses` with at least one name or pattern. True for every trial
/// without modes, whose collections are made from names: no other tensor then counts as a loss.
[[nodiscard]] bool knows_losses(const Trial& trial);

/// The losses of a step. A tensor that a collection selects may have many elements: its mean counts. One that a pattern
/// selects, or that is looked at because every tensor may be a loss, must have exactly one element.
class Losses {
 public:
  /// `collections` selects by collections only, `others` by anything else.
  explicit Losses(std::optional<SelectionId> collections = {}, std::optional<SelectionId> others = {})
      : collections_(collections), others_(others) {}

  /// Returns the units that may be losses at this step, according to the index; in the order of the trial.
  [[nodiscard]] std::vector<Unit> units(const StepTensors& step) const;
  /// Returns whether a unit, also one of an earlier step, may be a loss according to the index.
  [[nodiscard]] bool possible(const StepTensors& step, const Unit& unit) const;
  void need(StepNeeds& step, const Unit& unit) const;
  /// Returns the loss; nullopt if the value is not a loss after all.
  [[nodiscard]] std::optional<double> loss(const StepView& step, const Unit& unit) const;
  /// As above, for a unit that was not requested: reads it at once, separately. A record that cannot be read counts as
  /// unread.
  [[nodiscard]] std::optional<double> look_up(StepView& step, const Unit& unit) const;

  /// For rules that pool workers: requests all losses of a step, and returns their means over workers, by tensor.
  void need_all(StepNeeds& step) const;
  [[nodiscard]] std::map<std::string, double> pooled(const StepView& step) const;

 private:
  [[nodiscard]] bool by_collection(const StepTensors& step, const Unit& unit) const;

  std::optional<SelectionId> collections_;
  std::optional<SelectionId> others_;
};

/// The mean of numbers that are added.
struct Mean {
  double sum = 0;
  std::size_t count = 0;

  void add(double value) {
    sum += value;
    ++count;
  }
  /// Returns nullopt if there is no number.
  [[nodiscard]] std::optional<double> value() const {
    return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
  }
};

/// Counts the observations since a loss last improved.
struct LossHistory {
  double best = std::numeric_limits<double>::infinity();
  std::int64_t stale = -1;  ///< The first observation, which may be NaN or infinite, is never stale.

  void observe(double loss, double delta) {
    if (loss < best && best - loss >= delta) {
      best = loss;
      stale = 0;
    } else {
      ++stale;
    }
  }
};

/// Warns of losses that are exactly 0 after positive ones, in trials without modes: in logs, some frameworks write 0
/// instead of NaN.
class ZeroLosses {
 public:
  /// Takes one loss, in the order of steps.
  void see(StepView& step, const Unit& unit, double loss);

 private:
  struct Seen {
    bool positive = false;
    bool warned = false;
  };
  std::map<std::pair<std::string, std::string>, Seen> seen_;  // by tensor and worker
};

}  // namespace detail::rules

}  // namespace smd
