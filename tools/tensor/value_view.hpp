// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <smd/step.hpp>
#include <smd/tensor_view.hpp>
#include <smd/trial.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "cli/progress.hpp"
#include "options.hpp"
#include "rows/elements.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool::tensor {

/// Identifies a value, in every row. Borrowed from the trial's catalog.
struct ValueKey {
  std::string_view tensor;
  std::string_view worker;
  GlobalStep step;
  Mode mode = Mode::global;
  ModeStep mode_step;
  PlaceCell written;
  double wall_time = 0;               ///< Seconds since 1970; set when the value was read.
  double elapsed = 0;                 ///< Seconds since the trial's first value, if that is asked for.
  std::optional<double> smooth = {};  ///< --smooth
  bool superseded = false;
  bool buckets = false;         ///< Not the value but its saved buckets: for --hist.
  std::string_view trial = {};  ///< Its name, if there are several; borrowed from the command line.
};

/// The columns that say which value a row is of, and then others.
[[nodiscard]] std::vector<Column> with_key_columns(const std::vector<Column>& others);

/// The cells of those columns.
[[nodiscard]] std::vector<Cell> with_key_cells(const ValueKey& key, std::initializer_list<Cell> others = {});

/// One way to show values. A new one is a file that makes one, and a line in `make_view`.
class ValueView {
 public:
  virtual ~ValueView() = default;
  /// Whether `announce` must be called for each value of all trials before the first is shown, and the trials stay open
  /// until `finish`.
  [[nodiscard]] virtual bool plans() const { return false; }
  /// The trial that following values are of.
  virtual void set_trial(std::string_view name) { trial_ = name; }
  /// @throws UsageError if the view cannot show that many.
  virtual void announce(const ValueKey& /*key*/) {}
  /// Values come in the documented order.
  virtual void show(const ValueKey& key, const TensorValue& value) = 0;
  /// The same for a single float32 or float64 that the trial holds: `Place::number`.
  virtual void show_number(const ValueKey& key, const Place& value);
  /// Shows all values of a tensor, in the order of steps, if they are many numbers that the trial holds, and if the
  /// view makes text of them: in at most `jobs` threads. Returns whether it did. Benchmark: measurements.py,
  /// `smd-tensor --csv of one tag, 1 tag x 1,000,000 steps`.
  [[nodiscard]] virtual bool show_held(const Trial& /*trial*/, std::string_view /*tensor*/, unsigned /*jobs*/,
                                       Progress& /*progress*/) {
    return false;
  }
  /// Whether the view can show a value block by block.
  [[nodiscard]] virtual bool streams() const { return false; }
  /// Shows numbers that are too large to be held, as far as they can be read. Precondition: streams().
  virtual void show_blocks(Extent& /*value*/) {}
  /// Whether the next `end_step` chooses the columns of all rows.
  [[nodiscard]] virtual bool lays_out() const { return false; }
  /// For such a view: a tensor of a followed trial that may come at any step.
  virtual void expect(std::string_view /*trial*/, std::string_view /*tensor*/) {}
  /// At the end of a followed step: prints what is held back.
  virtual void end_step() {}
  /// After the last value of a trial: what is borrowed from it may be gone, unless the view `plans`.
  virtual void end_trial() {}
  /// Called after the last value.
  virtual void finish() {}

 protected:
  std::string trial_;
};

/// What a view is made from; everything must outlive it.
struct ViewContext {
  OutputFile& out;
  const TensorOptions& options;
  Diagnostics& messages;
  bool several_trials = false;
};

/// The view that the options ask for.
[[nodiscard]] std::unique_ptr<ValueView> make_view(ViewContext context);

/// The formats that `-f` takes: the shared ones, then npy npz raw pgm svg.
[[nodiscard]] std::span<const std::string_view> tensor_format_names() noexcept;

/// For `CommandDefinition::columns`.
[[nodiscard]] std::vector<Column> rows_view_columns();
[[nodiscard]] std::vector<Column> stat_view_columns();
[[nodiscard]] std::vector<Column> hist_view_columns();
/// Those before the scalars'; the worker, with -w all only, is the last.
[[nodiscard]] std::vector<Column> pivot_view_columns();

std::unique_ptr<ValueView> make_rows_view(ViewContext context);
std::unique_ptr<ValueView> make_table_view(ViewContext context);
std::unique_ptr<ValueView> make_stat_view(ViewContext context);
std::unique_ptr<ValueView> make_hist_view(ViewContext context);
std::unique_ptr<ValueView> make_heatmap_view(ViewContext context);
std::unique_ptr<ValueView> make_spark_view(ViewContext context);
std::unique_ptr<ValueView> make_pivot_view(ViewContext context);
std::unique_ptr<ValueView> make_matrix_view(ViewContext context);
std::unique_ptr<ValueView> make_raw_view(ViewContext context);
std::unique_ptr<ValueView> make_npy_view(ViewContext context);
std::unique_ptr<ValueView> make_npz_view(ViewContext context);
std::unique_ptr<ValueView> make_stack_view(ViewContext context);
std::unique_ptr<ValueView> make_pgm_view(ViewContext context);
std::unique_ptr<ValueView> make_folder_view(ViewContext context);

/// `step 38 (train 30)`.
[[nodiscard]] std::string step_text(const ValueKey& key);

/// `fc.weight  step 38 (train 30)  worker_0`, safe to show.
[[nodiscard]] std::string value_heading(const ValueKey& key, bool ascii);

/// The same with type and shape: `fc.weight  step 38 (train 30)  worker_0  float32 10x32`.
[[nodiscard]] std::string heading(const ValueKey& key, const TensorValue& value, bool ascii);

/// `'fc.weight' step 38`, for messages.
[[nodiscard]] std::string value_name(const ValueKey& key);

/// Warns if text had to be repaired.
void warn_unless_utf8(const Elements& elements, const ValueKey& key, Diagnostics& messages);

/// Throws the UsageError of a view that shows one value only, at the second one announced.
class OneValue {
 public:
  /// `view`: `-f npy`; `instead`: what to do about it in one trial.
  OneValue(std::string_view view, std::string_view instead) : view_(view), instead_(instead) {}
  void announce(const ValueKey& key);

 private:
  std::string_view view_;
  std::string_view instead_;
  std::string first_;
};

}  // namespace smd::tool::tensor
