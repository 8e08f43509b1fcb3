// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/limits.hpp"
#include "types/problem_list.hpp"
#include "wire/file_tensors.hpp"

#include <smd/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// The header of a safetensors file: 8 bytes with its length N, N bytes of JSON, then the tensors' elements.
/// Format: https://github.com/huggingface/safetensors (safetensors/src/tensor.rs).
namespace smd::detail::wire {

/// Bytes before the JSON.
inline constexpr std::size_t safetensors_length_bytes = 8;

/// The content of a header. Offsets of problems count from the file's start; their `file` is empty.
struct SafetensorsHeader {
  FileTensors entries;
  ProblemList problems{limits::problems_per_file};
  /// The file is shorter than its header states: it may still be written to. Not among `problems`.
  std::optional<Problem> cut;
};

/// Returns whether a file begins with the length of a header, and the header. `first`: its first bytes.
[[nodiscard]] bool looks_like_safetensors(std::span<const std::byte> first) noexcept;

/// Checks a header's length. If it is wrong, returns false and adds a problem to `header` or sets `header.cut`.
[[nodiscard]] bool check_safetensors_length(std::uint64_t length, std::uint64_t file_bytes, SafetensorsHeader& header);

/// Parses and checks the header of a file of `file_bytes`. A fault in an entry affects only that entry; malformed JSON
/// leaves no entries. Takes about a hundred bytes and the name for each of at most `limits::safetensors_tensors`.
/// Precondition: `Buffer::padding` more bytes may be read after `json`.
[[nodiscard]] SafetensorsHeader parse_safetensors(std::string_view json, std::uint64_t file_bytes);

}  // namespace smd::detail::wire
