// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "cli/diagnostics.hpp"
#include "cli/operand_source.hpp"

namespace smd::tool {

/// Ends a visit that is of no use any more. Thrown by `Turn`; visits let it pass.
struct VisitsOver {};

/// When a visit may show what it has.
class Turn {
 public:
  virtual ~Turn() = default;
  /// Whether all operands before this one were shown, so that this visit can show what it has as it comes.
  /// @throws VisitsOver.
  [[nodiscard]] virtual bool mine() = 0;
  /// Waits until it is `mine`. Only a visit that has more than it can hold should wait. @throws VisitsOver.
  virtual void wait() = 0;
};

/// Shows what a visit still holds, when all operands before it were shown. Returns whether further ones are of use.
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
  std::stop_token interruption{};  ///< Ends the waiting for operands; a visit looks at it itself.
};

/// Visits operands, several at the same time, each in one thread; what they show and say comes in the order of the
/// operands. Few visits run ahead of the one whose turn it is, so that what they hold is bounded. `visit` must be
/// thread-safe, unless there is one thread; Show and what follows on `Turn::mine` are called by one thread at a time.
/// What `visit` or Show throws ends it when its turn has come, and is thrown here. Returns how many were shown.
std::size_t visit_in_turn(OperandSource& operands, const VisitPlan& plan, Diagnostics& messages,
                          const std::function<Show(const Visit&)>& visit);

}  // namespace smd::tool
