// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>
#include <smd/export.hpp>
#include <smd/remote.hpp>
#include <smd/step.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// Parses a comma-separated list: `min,abs_mean,l1,abs_l2_norm,median`. Names are those that a job can save
/// (`ReductionFacts::saved_by`), each also with `abs_`; norms also as `l1_norm`. Ignores blanks around names, empty
/// names, and repetitions of a name.
/// @throws InvalidArgument for any other name, with a similar name or all.
[[nodiscard]] SMD_EXPORT ReductionConfig parse_reduction_config(std::string_view list, bool save_raw_tensor = false,
                                                                bool save_shape = false);

/// Returns whether to save at a mode step.
[[nodiscard]] SMD_EXPORT bool should_save_step(const SaveConfigMode& config, std::int64_t step) noexcept;

/// A `SaveConfigMode` for each mode.
class SMD_EXPORT SaveConfig {
 public:
  /// The default for every mode: every 500th step.
  SaveConfig() = default;
  /// Uses `all` for every mode.
  SaveConfig(const SaveConfigMode& all);  // NOLINT(google-explicit-constructor): configures all modes alike
  /// Modes that are not named use `fallback`, as the reference uses its default.
  SaveConfig(const std::map<Mode, SaveConfigMode>& modes,  // NOLINT(google-explicit-constructor): likewise
             const SaveConfigMode& fallback = {});

  [[nodiscard]] const SaveConfigMode& mode(Mode mode) const noexcept;
  [[nodiscard]] bool should_save_step(Mode in_mode, std::int64_t step) const noexcept {
    return smd::should_save_step(mode(in_mode), step);
  }
  /// Returns the configuration of all four modes.
  [[nodiscard]] std::map<Mode, SaveConfigMode> modes() const;

  bool operator==(const SaveConfig&) const = default;

 private:
  std::array<SaveConfigMode, 4> modes_;  // by the mode's number, starting at 1
};

/// A collection on the writing side.
using CollectionConfig = Collection;

/// Decides which built-in collections a hook has: their patterns, and which of them are always saved.
enum class Framework : std::uint8_t { pytorch, tensorflow, mxnet, xgboost };

/// Returns the built-in collections of a framework: names and patterns, no other settings.
[[nodiscard]] SMD_EXPORT std::map<std::string, Collection> stock_collections(Framework framework);

/// Returns whether some framework has a built-in collection of that name.
[[nodiscard]] SMD_EXPORT bool is_built_in_collection(std::string_view name) noexcept;

/// Returns whether a collection holds numbers (`losses`, `metrics`, …): its tensors are saved whole, not reduced.
[[nodiscard]] inline bool is_scalar_collection(std::string_view name) noexcept {
  return name == "losses" || name == "metrics" || name == "sm_metrics" || name == "feature_importance" ||
         name == "average_shap";
}

/// What to do with a step that the worker has saved before.
enum class ExistingStep : std::uint8_t {
  refuse,      ///< StepAlreadySaved; nothing is changed.
  append_own,  ///< As `append` if this hook saved the step, else as `refuse`.
  append,      ///< Adds to the step. StepAlreadySaved if it has another mode or mode step.
};

/// Which of a job's workers save (`include_workers`).
enum class IncludeWorkers : std::uint8_t {
  all,  ///< Every worker that has a hook.
  one,  ///< The first worker only: `algo-1`, or a name without the digits 1 to 9, such as `worker_0`.
};

/// Whether a hook locks the trial against other processes that save into it. The lock is held only while a finished
/// step is published and joined with what others have saved. S3 has no locks, so the policy has no effect there: do not
/// save as the same worker from two processes at the same time.
enum class LockPolicy : std::uint8_t {
  none,         ///< No lock. No other process may save as this worker at the same time.
  if_possible,  ///< A lock if the file system has locks; else as `none`, and `ExistingStep::append` is refused.
  required,     ///< A lock; WriteError if the file system has none.
};

/// Whether a trial survives a crash of the machine. With either policy it survives a crash of the process.
enum class SyncPolicy : std::uint8_t {
  none,   ///< Files appear whole by renaming; the system decides when their bytes reach the disk.
  files,  ///< A file's bytes are on disk before its name is, and its name before the next file begins.
};

/// What a `Hook` saves, when, in which form and where. All members have defaults: `{.out_dir = "run"}` is complete.
///
/// A hook saves the tensors of these collections: those named in `include_collections`, those in `collections`,
/// `default` if there is an `include_regex`, all of them if `all` is named or `save_all` is set, and those that the
/// framework always saves (losses; with tensorflow and xgboost metrics too). If none of these members is set, it saves
/// every tensor, as with `save_all`, and a single number whose name is that of a loss (`val_loss`) belongs to `losses`
/// if no collection but `all` has it. A JSON configuration that sets none saves what the framework always saves.
struct HookConfig {
  /// The trial: a folder, which is made if it does not exist, or `s3://bucket/prefix` in an existing bucket. In JSON:
  /// `LocalPath`, else `S3OutputPath`.
  std::string out_dir = "/opt/ml/output/tensors";
  Framework framework = Framework::pytorch;
  /// False: the hook saves nothing and touches no file. A job without a `DebugHookConfig` has such a hook.
  bool enabled = true;
  /// Every call returns what it would otherwise, but nothing is written.
  bool dry_run = false;
  SaveConfig save_config = {};
  std::optional<ReductionConfig> reduction_config = {};  ///< Nullopt: the tensor itself.
  /// Whether `reduction_config` also replaces that of collections that only earlier runs configured.
  bool replaces_earlier_reductions = false;
  std::vector<std::string> include_regex = {};  ///< Patterns of the collection `default`.
  std::vector<std::string> include_collections = {};
  /// Collections with settings of their own, which take precedence over those above. A built-in collection keeps its
  /// patterns, also one that only other frameworks have. One that no framework has built in needs patterns or names
  /// when the first tensor is offered: until then `Hook::add_collection` may give them. `all` has every tensor.
  std::vector<CollectionConfig> collections = {};
  bool save_all = false;
  /// Whether TensorBoard gets histograms of collections that do not set `save_histogram`. Nullopt: yes.
  std::optional<bool> save_histogram = {};

  std::string worker = "worker_0";
  std::size_t num_workers = 1;  ///< Number of workers that save. With `IncludeWorkers::one` it counts as 1.
  IncludeWorkers include_workers = IncludeWorkers::all;

  /// Implied by a `tensorboard_dir`. Histograms leave out elements that are not finite; the first time, a warning is
  /// logged.
  bool export_tensorboard = false;
  std::string tensorboard_dir = {};  ///< Empty: `tensorboard` in `out_dir`.

  /// Whether records have checksums of their contents. The reference cannot read a trial that has them.
  bool checksum = false;
  ExistingStep existing_step = ExistingStep::refuse;
  SyncPolicy sync = SyncPolicy::none;
  LockPolicy lock = LockPolicy::if_possible;
  /// How long to wait for other processes that hold the trial's lock; after that, writing fails. `remote.stop` ends
  /// this wait too, also for a local trial.
  std::chrono::nanoseconds lock_timeout = std::chrono::seconds(60);
  /// How many bytes may wait to be written; beyond that, `save_tensor` waits.
  std::size_t queue_bytes = std::size_t{128} << 20;
  /// Whether `close` writes the end marker. Nullopt: unless TRAINING_JOB_NAME is set, because SageMaker then writes it.
  std::optional<bool> end_marker = {};
  /// How to reach `out_dir` and `tensorboard_dir` on S3.
  RemoteOptions remote = {};

  /// Adds a collection to `collections`. If there is one of that name, joins the two into one that saves what either
  /// saves, at the steps of either.
  SMD_EXPORT void add_collection(CollectionConfig collection);

  /// Parses JSON text: a hook configuration (`LocalPath`, `HookParameters`, `CollectionConfigurations`), the
  /// `DebugHookConfig` of a training job, or the whole CreateTrainingJob request or describe-training-job reply that
  /// contains it and `TensorBoardOutputConfig`; without a `DebugHookConfig` (missing, null, false) `enabled` is false.
  /// `CollectionConfigurations` that stand beside a rule (`DebugRuleConfiguration`) are added. Numbers and truth values
  /// may be strings; a key whose value is null counts as missing. A collection's parameters override the hook's; those
  /// of one mode (`train.…`) override those of all modes. If a collection is configured twice, the later steps,
  /// reductions and histograms count, and patterns and names add up. `where` names the text in messages.
  /// @throws InvalidArgument for invalid JSON, unknown keys (with the nearest known one) and invalid values.
  [[nodiscard]] SMD_EXPORT static HookConfig parse(std::string_view json, std::string_view where = "configuration",
                                                   Framework framework = Framework::pytorch);
  /// Parses a file. @throws ReadError if it cannot be read, and as `parse`.
  [[nodiscard]] SMD_EXPORT static HookConfig load(const std::string& path, Framework framework = Framework::pytorch);
  /// Parses the file that SMDEBUG_CONFIG_FILE_PATH names (default: where SageMaker puts it), and takes TensorBoard's
  /// folder from the file that TENSORBOARD_CONFIG_FILE_PATH names, if it exists. Returns nullopt if
  /// SMDEBUG_CONFIG_FILE_PATH is not set and the default does not exist. If TRAINING_JOB_NAME is set, SageMaker uploads
  /// local files: `S3OutputPath` does not become `out_dir`, and without TensorBoard's file nothing is exported for it,
  /// whatever the configuration says.
  /// @throws as `load`.
  [[nodiscard]] SMD_EXPORT static std::optional<HookConfig> from_environment(Framework framework = Framework::pytorch);

  /// Returns the configuration as a `DebugHookConfig`: JSON with strings as values, as SageMaker requires. Defaults are
  /// left out. `parse` reads it back; members that JSON has no key for (`framework`, `checksum`, …) are lost.
  [[nodiscard]] SMD_EXPORT std::string to_json() const;
};

}  // namespace smd
