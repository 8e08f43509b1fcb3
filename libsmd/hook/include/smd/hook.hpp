// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/error.hpp>
#include <smd/export.hpp>
#include <smd/hook_config.hpp>
#include <smd/shape.hpp>
#include <smd/step.hpp>
#include <smd/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// A file could not be written, or an existing one in its place could not be removed. The tag is `WriteError`.
class SMD_EXPORT WriteError : public Error {
 public:
  explicit WriteError(Problem in_problem)
      : Error("WriteError", to_string(in_problem)), problem(std::move(in_problem)) {}
  ~WriteError() override;

  Problem problem;
};

/// The worker has saved the step before, or another index file names the step's event file.
class SMD_EXPORT StepAlreadySaved : public Error {
 public:
  StepAlreadySaved(const std::string& message, std::string in_worker, GlobalStep in_step, bool in_can_append = true)
      : Error("StepAlreadySaved", message), worker(std::move(in_worker)), step(in_step), can_append(in_can_append) {}
  ~StepAlreadySaved() override;

  std::string worker;
  GlobalStep step;
  bool can_append;  ///< False if another index file names the event file: then `ExistingStep::append` does not help.
};

/// A collection that is to be saved is not built in, and has neither patterns nor names of tensors.
class SMD_EXPORT InvalidCollectionConfiguration : public InvalidArgument {
 public:
  InvalidCollectionConfiguration(const std::string& message, std::string in_collection)
      : InvalidArgument(message), collection(std::move(in_collection)) {}
  ~InvalidCollectionConfiguration() override;

  std::string collection;
};

/// Fills `into` with the bytes of a tensor's elements from `offset` on. For elements that are not in memory, for
/// instance in a file. Called with ascending offsets, once for each byte, by one thread at a time. @throws ReadError if
/// they cannot be read.
using ReadElements = std::function<void(std::uint64_t offset, std::span<std::byte> into)>;

/// Saves the tensors of a training job into a trial while it trains. The reference and `Trial` can read the trial.
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
/// Calls copy or reduce a value and return; a thread of the hook writes files, or puts objects to S3. If the thread
/// falls behind, calls wait (`HookConfig::queue_bytes`); nothing is dropped. After a failure to write nothing more is
/// saved, and every call, `close` included, throws WriteError.
///
/// Each file is written under a temporary name and renamed, the event file of a step before its index file. A job that
/// dies leaves a readable trial with all steps but the unfinished ones. On S3 each file is one object, which appears
/// whole: by one request up to 64 MiB, larger ones in parts. Requests are tried as often as for reading
/// (AWS_MAX_ATTEMPTS). Besides `HookConfig::queue_bytes`, at most 64 MiB of an object are held in memory.
///
/// Steps count from 0; `next_step` ends a step, which has one mode. Several processes may save into a trial at the same
/// time, as different workers or as one: see `LockPolicy`. Of two that save the same step as the same worker, the later
/// one is refused, or appends.
///
/// Not for concurrent use. A forked child must not use its parent's hook: calls that save or end something throw
/// InvalidArgument there, and the destructor does nothing.
class SMD_EXPORT Hook {
 public:
  /// Makes the trial's folder; a bucket on S3 must exist. Collections that this worker saved in an earlier run are
  /// kept.
  /// The hook saves nothing, and makes no folder, if `HookConfig::enabled` is false, the environment variable
  /// USE_SMDEBUG is 0, off, no, n or false, or `HookConfig::include_workers` leaves this worker out.
  ///
  /// As the reference, refuses the trial of a job that has ended (the end marker is there) if this worker saved in it:
  /// readers would take what follows as over. If the configuration says `ExistingStep::append` or `end_marker` false,
  /// it only adds to the trial, and the library logs a warning, as it does if another worker saved there.
  /// @throws InvalidArgument for an invalid configuration and the trial of a job that has ended, WriteError, ReadError
  ///         if the collections file is damaged, or if S3 does not answer whether it exists.
  explicit Hook(HookConfig config);
  Hook(const Hook&) = delete;
  Hook(Hook&&) noexcept;
  Hook& operator=(const Hook&) = delete;
  Hook& operator=(Hook&&) = delete;
  /// Closes, but does not throw: an error is logged, unless an exception is on its way already.
  ~Hook();

  /// Returns whether the hook may save something; see the constructor. A hook of a dry run is enabled.
  [[nodiscard]] bool enabled() const noexcept;

  /// Returns all collections by name, including the built-in ones, with every setting resolved.
  [[nodiscard]] std::map<std::string, Collection> collections() const;
  /// Returns the collection of that name; for an unknown name an empty one, which the caller can fill and add.
  [[nodiscard]] Collection get_collection(const std::string& name) const;
  /// Adds a collection, or replaces the one of that name. Like those of `HookConfig::collections`, it is saved. Call
  /// this before anything is saved. @throws InvalidCollectionConfiguration if it is not built in and has neither
  /// patterns nor names; InvalidArgument as the constructor does, or if something was saved; then nothing is changed.
  void add_collection(CollectionConfig collection);

  /// Sets the mode of what is saved next. Ends the step if something was saved at it in another mode.
  void set_mode(Mode mode);
  [[nodiscard]] Mode mode() const noexcept;
  [[nodiscard]] GlobalStep step() const noexcept;
  /// Returns the step's number within the mode; in `Mode::global`, the global step.
  [[nodiscard]] ModeStep mode_step() const noexcept;

  /// Ends the step: step and mode step increase by one, whether or not something was saved. @throws InvalidArgument
  /// if there is no larger number.
  void next_step();
  /// Ends the step and goes to another, for jobs that count steps themselves or resume from a checkpoint. In
  /// `Mode::global` the mode step must equal the step. @throws InvalidArgument for negative numbers.
  void set_step(GlobalStep step, Mode mode, ModeStep mode_step);

  /// Returns whether `save_tensor` would save something of this tensor now. Cheap: call it before computing a value to
  /// save. @throws InvalidArgument as `save_tensor` for a collection without members.
  [[nodiscard]] bool wants(std::string_view name, const std::vector<std::string>& collections = {});

  /// Saves what the configuration asks of a tensor at this step: its value, reductions, its shape, or nothing. The
  /// tensor belongs to `collections` (which are then saved, configured or not) and to those whose names or patterns
  /// match it. Reductions are computed as by `reduce` and saved as float64 (integers as int64, means and sums of
  /// complex numbers as complex128); undefined ones are left out. The collections `gradients` and `optimizer_variables`
  /// save nothing in the modes eval and predict, as in the reference. The caller may change `value` once this returns.
  /// A name that `reduction_tensor_name` returns saves a reduction of another tensor, as it is.
  /// @return whether anything was saved.
  /// @throws InvalidArgument for names that are not UTF-8 or longer than 64 KiB, those with `smdebug/reductions/` that
  ///         `reduction_tensor_name` does not return, bytes that do not fit type and shape, and values of 2 GiB and
  ///         more; InvalidCollectionConfiguration at the first call; StepAlreadySaved; WriteError; ReadError if S3 does
  ///         not answer whether the step was saved before, or if a step to append to cannot be read.
  bool save_tensor(std::string_view name, const TensorView& value, const std::vector<std::string>& collections = {});
  /// As above, for a value that owns its elements: large values are shared, not copied, until they are written, and
  /// must not change until then.
  bool save_tensor(std::string_view name, const TensorValue& value, const std::vector<std::string>& collections = {});
  /// As above, for elements that `read` supplies while they are written, so that a tensor of any size takes little
  /// memory. A thread of the hook calls `read` until the step is written, which `flush` waits for. An exception from
  /// `read` then counts as a failure to write. If reductions or files for TensorBoard are wanted, this call reads all
  /// elements at once.
  /// @throws as above; InvalidArgument for strings too.
  bool save_tensor(std::string_view name, Dtype dtype, const Shape& shape, ReadElements read,
                   const std::vector<std::string>& collections = {});

  /// Saves a number at this step, in the current mode, as the float64 scalar `scalar/NAME`, whatever the configuration
  /// says. Lists it in `losses` if its name is that of a loss and no collection has it. @throws as `save_tensor`.
  void save_scalar(std::string_view name, double value);
  /// Saves only a shape, whatever the configuration says. `original_name` is the framework's name; empty: `name`.
  void save_shape(std::string_view name, const Shape& shape, std::string_view original_name = {});

  /// Ends the step and waits until everything is written. @throws WriteError; StepAlreadySaved if another process saved
  /// a step of this worker in the meantime: its step is kept, and all other steps are written.
  void flush();
  /// Flushes, writes the collections file and, last, the end marker. Nothing can be saved afterwards; a second call
  /// does nothing.
  /// @throws WriteError: then there is no end marker; ReadError if S3 does not answer whether the collections file
  /// exists; StepAlreadySaved as `flush` does, after everything else is done.
  void close();

  /// For the library's own use.
  struct Impl;
  explicit Hook(std::unique_ptr<Impl> impl) noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

/// Writes only the end marker, which marks the job as over; makes the trial's folder if it does not exist. Does nothing
/// if a hook of this configuration would write nothing.
/// @throws InvalidArgument for an invalid configuration, WriteError.
SMD_EXPORT void mark_job_ended(const HookConfig& config);

}  // namespace smd
