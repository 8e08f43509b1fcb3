// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/error.hpp>
#include <smd/export.hpp>
#include <smd/hook_config.hpp>
#include <smd/shape.hpp>
#include <smd/step.hpp>
#include <smd/tensor_view.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// Saves the tensors of a training job into a trial, while it trains. What it writes, the reference and `Trial` read.
///
/// ```
/// smd::Hook hook({.out_dir = "run", .save_config = smd::SaveConfigMode{.save_interval = 10}});
/// for (…) {
///   …
///   hook.save_tensor("loss", view);
///   hook.next_step();
/// }
/// hook.close();
/// ```
///
/// A call copies or reduces and returns; a thread of the hook's own writes files behind it. If that falls behind,
/// calls wait (`HookConfig::queue_bytes`): nothing is left out. When writing fails, the next call and `close` throw
/// WriteError, and so does every later one: nothing more is saved then.
///
/// Each file is written under a temporary name and renamed; a step's event file is there before its index file. So a
/// job that dies leaves a trial that can be read, with all steps but the unfinished ones.
///
/// Steps count from 0: `next_step` ends one. All that is saved between is one step, of one mode. One file of each step
/// belongs to each worker: two hooks must not write as the same worker at the same time.
///
/// Not for concurrent use. A process that forks must not use the parent's hook in the child.
class SMD_EXPORT Hook {
 public:
  /// Makes the trial's folder. Collections that this worker left there in an earlier run are kept.
  /// @throws InvalidArgument for a configuration that cannot be, WriteError, ReadError for a damaged collections file.
  explicit Hook(HookConfig config);
  Hook(const Hook&) = delete;
  Hook(Hook&&) noexcept;
  Hook& operator=(const Hook&) = delete;
  Hook& operator=(Hook&&) = delete;
  /// Closes, but does not throw.
  ~Hook();

  /// What the job does from here on. Ends the step if something was offered in it in another mode.
  void set_mode(Mode mode);
  [[nodiscard]] Mode mode() const noexcept;
  [[nodiscard]] GlobalStep step() const noexcept;
  /// The step's number within the mode. In `Mode::global`, the global step.
  [[nodiscard]] ModeStep mode_step() const noexcept;

  /// Ends the step: both counts go up by one, whether or not something was saved.
  void next_step();
  /// Ends the step and goes to another, for jobs that count themselves or go on from a checkpoint. In `Mode::global`
  /// the mode step must equal the step. @throws InvalidArgument for negative numbers.
  void set_step(GlobalStep step, Mode mode, ModeStep mode_step);

  /// Whether `save_tensor` would save something of this tensor now. Cheap: ask before computing what is to be saved.
  [[nodiscard]] bool wants(std::string_view name, const std::vector<std::string>& collections = {});

  /// Saves what the configuration asks of a tensor at this step: itself, reductions, its shape, or nothing. It is a
  /// member of `collections` (which are then saved, configured or not) and of those whose names or patterns have it.
  /// Reductions are float64 (integers int64, means and sums of complex numbers complex128), computed as by `reduce`;
  /// those that are not defined are left out. `value` may be changed once this returns.
  /// @return whether anything was saved.
  /// @throws InvalidArgument for names that are not UTF-8 or longer than 64 KiB, bytes that do not fit type and shape,
  ///         or 2 GiB and more; StepAlreadySaved; WriteError.
  bool save_tensor(std::string_view name, const TensorView& value, const std::vector<std::string>& collections = {});
  /// The same of a value that owns its elements: large ones are not copied but shared until they are written, and must
  /// not change until then.
  bool save_tensor(std::string_view name, const TensorValue& value, const std::vector<std::string>& collections = {});
  /// Saves a number at this step, whatever the configuration says, as `scalar/NAME`, in the mode that is current.
  /// Float64, no dimensions. @throws as `save_tensor`.
  void save_scalar(std::string_view name, double value);
  /// Saves a shape alone, whatever the configuration says. `original_name`: the framework's own; empty: the same.
  void save_shape(std::string_view name, const Shape& shape, std::string_view original_name = {});

  /// Ends the step and waits until all is written. @throws WriteError.
  void flush();
  /// Flushes, writes the collections file and, last, the end marker. Then nothing more can be saved. A second call
  /// does nothing. @throws WriteError; then there is no end marker.
  void close();

  /// For the library's own use.
  struct Impl;
  explicit Hook(std::unique_ptr<Impl> impl) noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd
