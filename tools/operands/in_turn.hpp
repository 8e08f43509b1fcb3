// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "cli/diagnostics.hpp"
#include "operands/operands.hpp"

namespace smd::tool {

/// Ends a visit whose result is no longer needed. Thrown by `Turn`; visits let it pass.
struct VisitsOver {};

/// Tells a visit when it may show its results.
class Turn {
 public:
  virtual ~Turn() = default;
  /// Whether all operands before this one were shown, so that this visit can show its results at once.
  /// @throws VisitsOver.
  [[nodiscard]] virtual bool mine() = 0;
  /// Waits until `mine` is true. Only a visit that has more than it can hold should wait. @throws VisitsOver.
  virtual void wait() = 0;
};

/// Shows what a visit still holds, once all operands before it were shown. Returns whether further visits are needed.
using Show = std::function<bool()>;

struct Visit {
  const std::string& operand;
  unsigned jobs;  ///< Threads for this visit; 0: what -j says.
  Turn& turn;
};

struct VisitPlan {
  std::string_view doing;          ///< For the line of progress: `evaluating trials`.
  unsigned jobs = 0;               ///< As -j: threads in all; 0: one per CPU. On S3: requests at once, in all.
  bool one_at_a_time = false;      ///< Visits have side effects, whose order counts.
  std::stop_token interruption{};  ///< Ends the waiting for operands; a visit checks it itself.
};

/// Visits operands, several at the same time, each in one thread; their output and messages come in the order of the
/// operands. Few visits run ahead of the one whose turn it is, so that what they hold is bounded. `visit` must be
/// thread-safe, unless there is one thread; Show, and what a visit shows while `Turn::mine`, run in one thread at a
/// time. An exception from `visit` or Show ends all visits when its turn has come, and is thrown here. Returns how many
/// were shown.
std::size_t visit_in_turn(OperandSource& operands, const VisitPlan& plan, Diagnostics& messages,
                          const std::function<Show(const Visit&)>& visit);

}  // namespace smd::tool
