// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "wire/safetensors.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

/// Reads files of checkpoints: of safetensors files the header only.
namespace smd::detail::layout {

/// A safetensors file as it was when it was read.
struct TensorFileHeader {
  wire::SafetensorsHeader header;
  std::optional<Problem> unreadable;              ///< It could not be opened, or not be read.
  std::chrono::system_clock::time_point written;  ///< The epoch if that is unknown.
  std::optional<storage::FileStamp> stamp;        ///< As it was before it was read.
  std::uint64_t reading = 0;                      ///< Tells this reading from all others.
};

[[nodiscard]] TensorFileHeader read_header(storage::Storage& storage, const std::string& path);

/// The text of a file of JSON, at most `limits::json_bytes` long.
[[nodiscard]] Outcome<std::string> read_json_text(storage::Storage& storage, const std::string& path);

/// `global_step` of a trainer_state.json, of which mostly the beginning is enough; nullopt if it tells none.
[[nodiscard]] std::optional<std::int64_t> read_global_step(storage::Storage& storage, const std::string& path);

}  // namespace smd::detail::layout
