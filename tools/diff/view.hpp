// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "options.hpp"
#include "paired_steps.hpp"
#include "rows/row_writer.hpp"

#include <smd/difference.hpp>
#include <smd/shape.hpp>
#include <smd/step.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool::diff {

/// For `CommandDefinition::columns`.
[[nodiscard]] std::vector<ColumnTable> column_tables();

/// What a row says of two values.
enum class State : std::uint8_t {
  equal,
  differs,
  dtype,   ///< Equal as numbers.
  shape,   ///< Of different shapes.
  only_a,  ///< In A only.
  only_b,
  unread,  ///< One of them cannot be read.
};

/// What is known of a value besides its elements.
struct ValueFacts {
  const Shape* shape = nullptr;  ///< Borrowed.
  std::string dtype = {};        ///< With what its elements mean, if that differs.
};

/// One row of results. Names and forms are valid until the view's `row` returns. Fields that rows are not grouped `by`
/// are not set.
struct DiffRow {
  std::string_view tensor;
  std::string_view worker;
  std::optional<GlobalStep> step;
  std::optional<GlobalStep> step_b;
  State state = State::equal;
  std::optional<Difference> statistics = {};  ///< If elements were compared.
  ValueFacts a = {};                          ///< Not of pools.
  ValueFacts b = {};
};

/// Where rows go. Every value, or pool of values, that was compared has one; the view shows those that are asked for.
class DiffView {
 public:
  virtual ~DiffView() = default;
  /// Called once both trials are open.
  virtual void begin() {}
  virtual void row(const DiffRow& row) = 0;
  virtual void finish() = 0;
};

/// Shows the rows themselves, with --summary one row about them, with -f svg their curves. `operands`: A, and B if it
/// is another trial. All arguments must outlive the view.
[[nodiscard]] std::unique_ptr<DiffView> make_view(OutputFile& out, const DiffCommandOptions& options,
                                                  std::span<const std::string> operands, Diagnostics& messages);

/// Compares what is selected of two trials and passes a row for each pair of values, or pool of them, to the view, in
/// the documented order. Statuses: 1 if something is not equal, 4 if something cannot be read.
void compare_trials(const ComparedTrial& a, const ComparedTrial& b, const DiffCommandOptions& options, DiffView& view,
                    Diagnostics& messages);

}  // namespace smd::tool::diff
