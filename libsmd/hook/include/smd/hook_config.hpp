// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>
#include <smd/export.hpp>
#include <smd/reduction_config.hpp>
#include <smd/remote.hpp>
#include <smd/save_config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// Whose built-in collections a hook has. They differ in patterns and in which are saved without being asked for.
enum class Framework : std::uint8_t { pytorch, tensorflow, mxnet, xgboost };

/// The built-in collections of a framework: names and patterns, nothing else configured.
[[nodiscard]] SMD_EXPORT std::map<std::string, Collection> stock_collections(Framework framework);

/// Whether it is a collection of numbers (`losses`, `metrics`, …): their tensors are saved themselves, not reduced.
[[nodiscard]] inline bool is_scalar_collection(std::string_view name) noexcept {
  return name == "losses" || name == "metrics" || name == "sm_metrics" || name == "feature_importance" ||
         name == "average_shap";
}

/// What to do with a step that the worker has saved before.
enum class ExistingStep : std::uint8_t {
  refuse,  ///< StepAlreadySaved; nothing is changed.
  append,  ///< What is saved joins what is there. Of another mode or mode step: StepAlreadySaved.
};

/// Which of a job's workers save (`include_workers`).
enum class IncludeWorkers : std::uint8_t {
  all,  ///< Every worker that has a hook.
  one,  ///< The first worker only: `worker_0`, `algo-1`, or a name in which no number is other than 0.
};

/// How a hook keeps out of the way of other processes that save into the same trial. It locks the trial for the moments
/// in which a step, whole by then, is put in its place and joined with what others have saved. S3 has no locks, so the
/// policy has no effect there: do not save as the same worker from two processes at the same time.
enum class LockPolicy : std::uint8_t {
  none,         ///< No lock: no other process saves as this worker, or appends to its steps, at the same time.
  if_possible,  ///< Where the file system has no locks, as with `none`; but `ExistingStep::append` is refused there.
  required,     ///< Where the file system has no locks, nothing is saved: WriteError.
};

/// How much of a crash of the whole machine a trial outlives. The process may die at any time with either.
enum class SyncPolicy : std::uint8_t {
  none,   ///< Files appear whole by renaming; when their bytes reach the disk is the system's business.
  files,  ///< Each file's bytes are on disk before its name is, and its name before the next file is begun.
};

/// What a `Hook` saves, when, in which form and where. Members have initialisers, so that `{.out_dir = "run"}` does.
///
/// Which tensors: those of collections that are saved. These are the ones named in `include_collections`, those in
/// `collections`, `default` if there is an `include_regex`, all of them if `all` is named or `save_all` is set, and
/// each framework's own (losses; with tensorflow and xgboost metrics too). A hook that is told none of these saves
/// everything it is given, as with `save_all`.
struct HookConfig {
  /// The trial: a folder, made if it is not there, or `s3://bucket/prefix`, in a bucket that is there. From JSON:
  /// `LocalPath`, else `S3OutputPath`.
  std::string out_dir = "/opt/ml/output/tensors";
  Framework framework = Framework::pytorch;
  /// False: the hook saves nothing and touches no file. A job without a `DebugHookConfig` has such a hook.
  bool enabled = true;
  /// The hook answers as it would otherwise, and writes nothing.
  bool dry_run = false;
  SaveConfig save_config = {};
  std::optional<ReductionConfig> reduction_config = {};  ///< None: the tensor itself.
  std::vector<std::string> include_regex = {};           ///< Patterns of the collection `default`.
  std::vector<std::string> include_collections = {};
  /// Collections with settings of their own: what is set here goes before the above. One that is not built in wants
  /// patterns or names.
  std::vector<CollectionConfig> collections = {};
  bool save_all = false;
  /// Whether TensorBoard gets histograms of collections that do not say so themselves. None: yes.
  std::optional<bool> save_histogram = {};

  std::string worker = "worker_0";
  std::size_t num_workers = 1;  ///< How many save. With `IncludeWorkers::one` it is 1, whatever stands here.
  IncludeWorkers include_workers = IncludeWorkers::all;

  bool export_tensorboard = false;   ///< A `tensorboard_dir` alone says so too.
  std::string tensorboard_dir = {};  ///< Empty: `tensorboard` in `out_dir`.

  /// True checksums of the records' contents. The reference cannot read such a trial.
  bool checksum = false;
  ExistingStep existing_step = ExistingStep::refuse;
  SyncPolicy sync = SyncPolicy::none;
  LockPolicy lock = LockPolicy::if_possible;
  /// How long to wait for other processes that hold the trial's lock; then writing fails.
  std::chrono::nanoseconds lock_timeout = std::chrono::seconds(60);
  /// Bytes that may wait to be written; then `save_tensor` waits.
  std::size_t queue_bytes = std::size_t{128} << 20;
  /// Whether closing writes the end marker. None: unless TRAINING_JOB_NAME is set, where SageMaker writes it.
  std::optional<bool> end_marker = {};
  /// How to reach `out_dir` and `tensorboard_dir` where they are at `s3://bucket/prefix`.
  RemoteOptions remote = {};

  /// Adds a collection to `collections`, or joins it with the one of that name: what either saves, at the steps of
  /// either, is saved.
  SMD_EXPORT void add_collection(CollectionConfig collection);

  /// From JSON text: a hook configuration (`LocalPath`, `HookParameters`, `CollectionConfigurations`), the
  /// `DebugHookConfig` of a training job, or the whole CreateTrainingJob request or describe-training-job reply with
  /// that and `TensorBoardOutputConfig` in it; without a `DebugHookConfig` (missing, null, false) `enabled` is false.
  /// `CollectionConfigurations` that stand beside a rule (`DebugRuleConfiguration`) are added.
  /// Values may be JSON's own or text. A collection's parameters go before the hook's, one mode's (`train.…`) before
  /// those of all. `where` names the text in messages.
  /// @throws InvalidArgument: invalid JSON, unknown keys (with the nearest), values that cannot be understood.
  [[nodiscard]] SMD_EXPORT static HookConfig parse(std::string_view json, std::string_view where = "configuration",
                                                   Framework framework = Framework::pytorch);
  /// From a file. @throws ReadError if it cannot be read, and as `parse`.
  [[nodiscard]] SMD_EXPORT static HookConfig load(const std::string& path, Framework framework = Framework::pytorch);
  /// From the file that SMDEBUG_CONFIG_FILE_PATH names (default: where SageMaker puts it), with TensorBoard's folder
  /// from the one that TENSORBOARD_CONFIG_FILE_PATH names. Nothing if the variable is not set and no file is there.
  /// Where TRAINING_JOB_NAME is set, SageMaker uploads what is local: `S3OutputPath` is not taken for `out_dir`.
  /// @throws as `load`.
  [[nodiscard]] SMD_EXPORT static std::optional<HookConfig> from_environment(Framework framework = Framework::pytorch);

  /// The configuration as a `DebugHookConfig`: JSON whose values are text, as SageMaker wants them. What has its
  /// default is left out. `parse` reads it back; what JSON has no key for (`framework`, `checksum`, …) is lost.
  [[nodiscard]] SMD_EXPORT std::string to_json() const;
};

}  // namespace smd
