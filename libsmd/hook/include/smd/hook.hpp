// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/error.hpp>
#include <smd/export.hpp>
#include <smd/hook_config.hpp>
#include <smd/shape.hpp>
#include <smd/step.hpp>
#include <smd/tensor_view.hpp>

#include <map>
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
/// A call copies or reduces and returns; a thread of the hook's own writes files, or puts objects to S3, behind it. If
/// that falls behind, calls wait (`HookConfig::queue_bytes`): nothing is left out. When writing fails, the next call
/// and `close` throw WriteError, and so does every later one: nothing more is saved then.
///
/// Each file is written under a temporary name and renamed; a step's event file is there before its index file. So a
/// job that dies leaves a trial that can be read, with all steps but the unfinished ones. On S3 each file is one
/// object, which appears whole: put by one request up to 64 MiB, larger ones in parts. Requests are tried as often as
/// for reading (AWS_MAX_ATTEMPTS). Beyond `HookConfig::queue_bytes`, 64 MiB of an object are held in memory at most.
///
/// Steps count from 0: `next_step` ends one. All that is saved between is one step, of one mode. Several processes may
/// save into a trial at the same time, as different workers or as one: see `LockPolicy`. Of two that save the same step
/// as the same worker the later one is refused, or appends.
///
/// Not for concurrent use. A process that forks must not use the parent's hook in the child.
class SMD_EXPORT Hook {
 public:
  /// Makes the trial's folder; a bucket on S3 must be there. Collections that this worker left in an earlier run are
  /// kept.
  /// The hook saves nothing, and makes no folder, if `HookConfig::enabled` is false, the environment variable
  /// USE_SMDEBUG is 0, off, no, n or false, or `HookConfig::include_workers` leaves this worker out.
  /// @throws InvalidArgument for a configuration that cannot be, WriteError, ReadError for a damaged collections file,
  ///         and if S3 does not tell whether there is one.
  explicit Hook(HookConfig config);
  Hook(const Hook&) = delete;
  Hook(Hook&&) noexcept;
  Hook& operator=(const Hook&) = delete;
  Hook& operator=(Hook&&) = delete;
  /// Closes, but does not throw.
  ~Hook();

  /// Whether the hook may save something; see the constructor. A dry run is enabled.
  [[nodiscard]] bool enabled() const noexcept;

  /// All collections by name, the built-in ones included, with every setting resolved.
  [[nodiscard]] std::map<std::string, Collection> collections() const;
  /// One of them. Of an unknown name: an empty one, to be filled and added.
  [[nodiscard]] Collection get_collection(const std::string& name) const;
  /// Adds a collection, or puts it in the place of the one of that name; it is saved, as those of
  /// `HookConfig::collections` are. Before anything is saved. @throws InvalidArgument as the constructor, or when
  /// something was saved; then nothing is changed.
  void add_collection(CollectionConfig collection);

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
  ///         or 2 GiB and more; StepAlreadySaved; WriteError; ReadError if S3 does not tell whether the step was saved
  ///         before, or what it is appended to cannot be read.
  bool save_tensor(std::string_view name, const TensorView& value, const std::vector<std::string>& collections = {});
  /// The same of a value that owns its elements: large ones are not copied but shared until they are written, and must
  /// not change until then.
  bool save_tensor(std::string_view name, const TensorValue& value, const std::vector<std::string>& collections = {});
  /// Saves a number at this step, whatever the configuration says, as `scalar/NAME`, in the mode that is current.
  /// Float64, no dimensions. @throws as `save_tensor`.
  void save_scalar(std::string_view name, double value);
  /// Saves a shape alone, whatever the configuration says. `original_name`: the framework's own; empty: the same.
  void save_shape(std::string_view name, const Shape& shape, std::string_view original_name = {});

  /// Ends the step and waits until all is written. @throws WriteError; StepAlreadySaved if another process has saved a
  /// step of this worker while it was in the making here: the other's stays, all other steps are written.
  void flush();
  /// Flushes, writes the collections file and, last, the end marker. Then nothing more can be saved. A second call
  /// does nothing. @throws WriteError: then there is no end marker; StepAlreadySaved, after all else, as `flush`.
  void close();

  /// For the library's own use.
  struct Impl;
  explicit Hook(std::unique_ptr<Impl> impl) noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

/// Marks the job as over, and writes nothing else: no collections file of a worker that saved nothing. The trial's
/// folder is made if it is not there. Does nothing where a hook of this configuration would write nothing.
/// @throws InvalidArgument for a configuration that cannot be, WriteError.
SMD_EXPORT void mark_job_ended(const HookConfig& config);

/// Whether the end marker of a trial that can be written is there: its readers take the job for over.
/// @throws InvalidArgument for a path that cannot be a trial, WriteError, ReadError.
[[nodiscard]] SMD_EXPORT bool job_marked_ended(const std::string& trial, const RemoteOptions& remote = {});

}  // namespace smd
