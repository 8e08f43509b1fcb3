// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "wire/safetensors.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Reads the files of checkpoints; of safetensors files only the header.
namespace smd::detail::layout {

/// The header of a safetensors file, and the file's state when the header was read.
struct TensorFileHeader {
  wire::SafetensorsHeader header;
  std::optional<Problem> unreadable;              ///< Why the file could not be opened or read.
  std::chrono::system_clock::time_point written;  ///< The epoch if unknown.
  std::optional<storage::FileStamp> stamp;        ///< Taken before the file was read.
  std::uint64_t reading = 0;                      ///< Unique id of this reading.
};

[[nodiscard]] TensorFileHeader read_header(storage::Storage& storage, const std::string& path);

/// Returns the text of a JSON file of at most `limits::json_bytes`, in memory of `buffer`.
[[nodiscard]] Outcome<std::string_view> read_json_text(storage::Storage& storage, const std::string& path,
                                                       Buffer& buffer);

/// Returns `global_step` of a trainer_state.json, in most cases from its beginning. Nullopt if the file has none or
/// cannot be read.
[[nodiscard]] std::optional<std::int64_t> read_global_step(storage::Storage& storage, const std::string& path);

}  // namespace smd::detail::layout
