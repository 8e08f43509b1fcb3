// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <smd/dtype.hpp>

namespace smd::tool {

/// A number of a scalar at a step.
struct ScalarValue {
  std::int64_t step = 0;
  double number = 0;
  std::uint64_t bits = 0;  ///< The bytes of its element, as `Place::number`; 0 if only `number` is used.
  Dtype dtype = Dtype::float64;
};

/// Finds the best and the last value of one scalar. At each step the value of the first worker counts, unless that of
/// another one is not finite.
class BestAndLast {
 public:
  /// `doubts_zero`: 0 after a value that is positive or not finite is not the best, because some frameworks log 0 in
  /// place of NaN.
  BestAndLast(bool least, bool doubts_zero) noexcept : least_(least), doubts_zero_(doubts_zero) {}

  /// Takes a value. Values must be passed by step, and those of a step by worker. A value of an earlier step is left
  /// out. Not inlined: GCC 12 would take the members of an empty optional for values that are read.
  [[gnu::noinline]] void add(const ScalarValue& value) noexcept {
    const bool finite = std::isfinite(value.number);
    zero_is_doubtful_ = zero_is_doubtful_ || !finite || value.number > 0;
    if (last_ && value.step <= last_->step) {
      if (value.step == last_->step && !finite && std::isfinite(last_->number)) {
        last_ = value;
        best_ = best_before_;
      }
      return;
    }
    last_ = value;
    best_before_ = best_;
    const bool doubtful = doubts_zero_ && zero_is_doubtful_ && value.number == 0;
    doubted_ = doubted_ || doubtful;
    const bool better = !best_ || (least_ ? value.number < best_->number : value.number > best_->number);
    if (finite && better && !doubtful) {
      best_ = value;
    }
  }
  /// Takes the newest value of a worker. If it is not finite, it is the last value, even if others went on.
  void add_newest(const ScalarValue& value) noexcept {
    if (!std::isfinite(value.number) && (!not_finite_ || not_finite_->step < value.step)) {
      not_finite_ = value;
    }
  }

  /// The first of equals. Nullopt if it is a 0 that is doubted: then nobody can say what the best is.
  [[nodiscard]] std::optional<ScalarValue> best() const noexcept {
    return doubted_zero() && best_ && best_->number == 0 ? std::nullopt : best_;
  }
  [[nodiscard]] const std::optional<ScalarValue>& last() const noexcept { return not_finite_ ? not_finite_ : last_; }
  /// Whether a 0 was left out, or all values are 0.
  [[nodiscard]] bool doubted_zero() const noexcept {
    return doubted_ || (doubts_zero_ && !zero_is_doubtful_ && best_ && best_->number == 0);
  }

 private:
  bool least_;
  bool doubts_zero_;
  bool zero_is_doubtful_ = false;  // after the values so far
  bool doubted_ = false;
  std::optional<ScalarValue> last_;
  std::optional<ScalarValue> best_;
  std::optional<ScalarValue> best_before_;  // the last step
  std::optional<ScalarValue> not_finite_;   // of the newest values of workers
};

}  // namespace smd::tool
