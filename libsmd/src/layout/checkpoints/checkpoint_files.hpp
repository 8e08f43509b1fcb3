// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"
#include "pytorch/torch_file.hpp"
#include "storage/element_source.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "wire/safetensors.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// Reads the files of checkpoints; of files of tensors only what describes them.
namespace smd::detail::layout {

/// What describes the tensors of a file, and the file's state when that was read.
struct TensorFileHeader {
  wire::SafetensorsHeader header;
  std::shared_ptr<const pytorch::TorchFile> torch;  ///< What else a file of PyTorch says; its tensors are in `header`.
  bool foreign = false;                             ///< By its first bytes the file holds no tensors; it is left out.
  bool hole = false;                                ///< The file is young, and its end was never written.
  std::optional<Problem> unreadable;                ///< Why the file could not be opened or read.
  std::chrono::system_clock::time_point written;    ///< The epoch if unknown.
  std::optional<storage::FileStamp> stamp;          ///< Taken before the file was read.
  std::shared_ptr<const storage::ElementSource> source;  ///< Of tensors that have none of their own; may be null.
  std::uint64_t reading = 0;                             ///< Unique id of this reading.
};

/// How long a file that ends too soon may still be written to.
inline constexpr std::chrono::seconds young = std::chrono::minutes(1);
/// Returns the age of a file that was written at a time.
using AgeOf = std::function<std::chrono::nanoseconds(const std::string& path, std::chrono::system_clock::time_point)>;

[[nodiscard]] TensorFileHeader read_header(storage::Storage& storage, const std::string& path, const AgeOf& age,
                                           const pytorch::Stop& stop = {});

/// Returns the text of a JSON file of at most `limits::json_bytes`, in memory of `buffer`.
[[nodiscard]] Outcome<std::string_view> read_json_text(storage::Storage& storage, const std::string& path,
                                                       Buffer& buffer);

/// What a trainer_state.json tells about its checkpoint.
struct TrainerStep {
  std::optional<std::int64_t> step;  ///< Its `global_step`.
  std::optional<Problem> problem;    ///< Why the log cannot be used, or not yet. It has no file name.
};

/// Reads the step, in most cases from the beginning of the file. If `young`, a text that ends too soon is reported as
/// not yet there, and has no step.
[[nodiscard]] TrainerStep read_trainer_step(storage::Storage& storage, const std::string& path, bool young);

}  // namespace smd::detail::layout
