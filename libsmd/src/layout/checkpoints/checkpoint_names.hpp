// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// Parses the names of checkpoints' folders and files.
namespace smd::detail::layout {

inline constexpr std::string_view safetensors_ending = ".safetensors";
inline constexpr std::string_view shard_index_ending = ".index.json";  ///< Follows the ending of its files.
inline constexpr std::string_view trainer_state_name = "trainer_state.json";
/// In the folder of a model whose components are in folders in it.
inline constexpr std::string_view pipeline_name = "model_index.json";

/// Describes a checkpoint of torch.distributed.checkpoint, whose tensors lie in files with the ending.
inline constexpr std::string_view distributed_name = ".metadata";
inline constexpr std::string_view distributed_ending = ".distcp";
/// A file of PyTorch may have this ending, and so may anything else.
inline constexpr std::string_view doubtful_ending = ".bin";

/// Returns the ending of a name or path if it is one of files of tensors, such as `.safetensors` or `.pt`; else empty.
[[nodiscard]] std::string_view tensor_ending(std::string_view name) noexcept;

/// Returns whether a Trainer saves a file of that name beside the model. It holds no tensors of interest.
[[nodiscard]] bool is_beside_model(std::string_view name) noexcept;

/// Returns whether a name is that of an index of shards.
[[nodiscard]] bool is_shard_index(std::string_view name) noexcept;

/// Returns whether only the first bytes of a file tell whether it is a checkpoint's: it has the doubtful ending, and
/// neither a name that only PyTorch's programs give a model, nor that of a shard.
[[nodiscard]] bool is_doubtful(std::string_view path) noexcept;

/// Returns a set's stem as the same set in the newer form has it: `model` for `pytorch_model`.
[[nodiscard]] std::string_view newer_stem(std::string_view stem) noexcept;

/// Returns the rank of a set, by its stem, among those that may be the model; `no_model` for other sets.
[[nodiscard]] std::size_t rank_of_model(std::string_view stem) noexcept;
inline constexpr std::size_t no_model = 5;

/// Returns whether a file of that name makes its folder one of checkpoints; one with the doubtful ending, if its first
/// bytes do not say otherwise.
[[nodiscard]] bool is_checkpoint_file(std::string_view name) noexcept;

/// The parts of a file's name: `model-00001-of-00003.safetensors`.
struct TensorFileName {
  std::string_view stem;    ///< `model`
  std::string_view ending;  ///< `.safetensors`; of an index, that of its files.
  std::uint32_t shard = 0;  ///< 1; 0: the file is whole.
  std::uint32_t of = 0;     ///< 3
};
[[nodiscard]] TensorFileName split_tensor_file_name(std::string_view file) noexcept;

enum class StepUnit : std::uint8_t { step, epoch };

/// The step or epoch in a folder's or file's name.
struct NamedStep {
  std::int64_t number = 0;
  StepUnit unit = StepUnit::step;

  bool operator==(const NamedStep&) const = default;
};

/// Returns the step, or else the epoch, in a name: `checkpoint-500`, `global_step500`, `epoch=3-step=800`, `500`, ….
/// `name` is that of a folder, or the stem of a file. Nullopt if it has neither. A date is no number.
[[nodiscard]] std::optional<NamedStep> step_of_name(std::string_view name);
/// Returns N of a name that ends with `-vN`, as writers name a checkpoint that would overwrite another; else 0.
[[nodiscard]] std::uint64_t version_of_name(std::string_view name);

/// Returns the rank of a label in the name: 0 for `last`, 1 for `latest`, 2 for `final`, 3 for `best`; the least of
/// several. Returns nullopt for a name without label. A name with a label has no step, whatever number it contains.
[[nodiscard]] std::optional<unsigned> label_of_name(std::string_view name);

/// Returns whether a folder of that name is a checkpoint among others: whether it has a step, an epoch or a label, and
/// is not the name of an unfinished copy.
[[nodiscard]] bool is_checkpoint_folder(std::string_view name);

/// Returns whether the folders in a folder are components of one checkpoint, such as `unet`: in a pipeline, and where
/// the name has a step or an epoch. A number or a label alone may also name what holds runs: `2024`, `final`.
[[nodiscard]] bool may_have_components(std::string_view name, bool is_pipeline);

}  // namespace smd::detail::layout
