// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// Parses the names of checkpoints' folders and files.
namespace smd::detail::layout {

inline constexpr std::string_view safetensors_ending = ".safetensors";
inline constexpr std::string_view shard_index_ending = ".safetensors.index.json";
inline constexpr std::string_view trainer_state_name = "trainer_state.json";

/// Returns whether a name or path is that of a safetensors file.
[[nodiscard]] constexpr bool is_safetensors(std::string_view name) noexcept {
  return name.ends_with(safetensors_ending) && name.size() > safetensors_ending.size();
}

/// Returns the last part of a path.
[[nodiscard]] constexpr std::string_view last_part_of(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

/// The parts of a file's name: `model-00001-of-00003.safetensors`.
struct SafetensorsName {
  std::string_view stem;    ///< `model`
  std::uint32_t shard = 0;  ///< 1; 0: the file is whole.
  std::uint32_t of = 0;     ///< 3
};
[[nodiscard]] SafetensorsName split_safetensors_name(std::string_view file) noexcept;

enum class StepUnit : std::uint8_t { step, epoch };

/// The step or epoch in a folder's or file's name.
struct NamedStep {
  std::int64_t number = 0;
  StepUnit unit = StepUnit::step;
};

/// Returns the step, or else the epoch, in a name: `checkpoint-500`, `global_step500`, `epoch=3-step=800`, `500`, ….
/// `name` is that of a folder, or the stem of a file. Nullopt if it has neither.
[[nodiscard]] std::optional<NamedStep> step_of_name(std::string_view name);
/// Returns N of a name that ends with `-vN`, as writers name a checkpoint that would overwrite another; else 0.
[[nodiscard]] std::uint64_t version_of_name(std::string_view name);

/// Returns the rank of a label in the name: 0 for `last`, 1 for `latest`, 2 for `final`, 3 for `best`; the least of
/// several. Returns nullopt for a name without label. A name with a label has no step, whatever number it contains.
[[nodiscard]] std::optional<unsigned> label_of_name(std::string_view name);

}  // namespace smd::detail::layout
