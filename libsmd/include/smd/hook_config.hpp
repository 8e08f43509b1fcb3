// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>
#include <smd/export.hpp>
#include <smd/reduction_config.hpp>
#include <smd/save_config.hpp>

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

/// What to do with a step that the worker has saved before.
enum class ExistingStep : std::uint8_t {
  refuse,  ///< StepAlreadySaved; nothing is changed.
  append,  ///< What is saved joins what is there. Of another mode or mode step: StepAlreadySaved.
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
  std::string out_dir = "/opt/ml/output/tensors";  ///< The trial; made if it is not there.
  Framework framework = Framework::pytorch;
  SaveConfig save_config = {};
  std::optional<ReductionConfig> reduction_config = {};  ///< None: the tensor itself.
  std::vector<std::string> include_regex = {};           ///< Patterns of the collection `default`.
  std::vector<std::string> include_collections = {};
  /// Collections with settings of their own: what is set here goes before the above. One that is not built in wants
  /// patterns or names.
  std::vector<CollectionConfig> collections = {};
  bool save_all = false;

  std::string worker = "worker_0";
  std::size_t num_workers = 1;  ///< How many save.

  bool export_tensorboard = false;
  std::string tensorboard_dir = {};  ///< Empty: `tensorboard` in `out_dir`.

  /// True checksums of the records' contents. The reference cannot read such a trial.
  bool checksum = false;
  ExistingStep existing_step = ExistingStep::refuse;
  SyncPolicy sync = SyncPolicy::none;
  /// Bytes that may wait to be written; then `save_tensor` waits.
  std::size_t queue_bytes = std::size_t{128} << 20;
  /// Whether closing writes the end marker. None: unless TRAINING_JOB_NAME is set, where SageMaker writes it.
  std::optional<bool> end_marker = {};

  /// From JSON text: a hook configuration (`LocalPath`, `HookParameters`, `CollectionConfigurations`), the
  /// `DebugHookConfig` of a CreateTrainingJob request, or such a request with that and `TensorBoardOutputConfig` in it.
  /// Values may be JSON's own or text. A collection's parameters go before the hook's, one mode's (`train.…`) before
  /// those of all. `where` names the text in messages.
  /// @throws InvalidArgument: invalid JSON, unknown keys (with the nearest), values that cannot be understood.
  [[nodiscard]] SMD_EXPORT static HookConfig parse(std::string_view json, std::string_view where = "configuration",
                                                   Framework framework = Framework::pytorch);
  /// From a file. @throws ReadError if it cannot be read, and as `parse`.
  [[nodiscard]] SMD_EXPORT static HookConfig load(const std::string& path, Framework framework = Framework::pytorch);
  /// From the file that SMDEBUG_CONFIG_FILE_PATH names (default: where SageMaker puts it), with TensorBoard's folder
  /// from the one that TENSORBOARD_CONFIG_FILE_PATH names. Nothing if the variable is not set and no file is there.
  /// @throws as `load`.
  [[nodiscard]] SMD_EXPORT static std::optional<HookConfig> from_environment(Framework framework = Framework::pytorch);
};

}  // namespace smd
