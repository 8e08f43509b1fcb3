// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <smd/dtype.hpp>
#include <smd/limits.hpp>
#include <smd/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The header of a safetensors file: 8 bytes with its length N, N bytes of JSON, then the tensors' elements.
/// Format: https://github.com/huggingface/safetensors (safetensors/src/tensor.rs).
namespace smd::detail::wire {

/// Bytes before the JSON.
inline constexpr std::size_t safetensors_length_bytes = 8;

/// One tensor of a file. What it refers to lives as long as its header.
struct SafetensorsEntry {
  std::string_view name;
  Dtype dtype = Dtype::float32;
  std::string_view unread_type;  ///< The type's name, if its elements are not read; then `dtype` means nothing.
  std::span<const std::int64_t> shape;
  std::uint64_t offset = 0;  ///< Of the elements in the file, which need not be aligned.
  std::uint64_t length = 0;
  /// Type, shape and range agree, the file holds the range, no other overlaps it, and the name stands once.
  bool sound = false;
};

/// What a header says. Offsets of problems count from the file's start; their `file` is empty.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< Each name once, as they stand there.
  ProblemList problems{limits::problems_per_file};
  /// The file ends before what its header says: it may still be written. Not among `problems`.
  std::optional<Problem> cut;

 private:
  friend class SafetensorsParser;
  std::unique_ptr<const std::string> json_;   ///< With the names of entries and of types,
  std::forward_list<std::string> unescaped_;  ///< but for those that stand there with escapes.
  std::vector<std::int64_t> sizes_;
};

/// Checks a header's length. Sets the problem that the file has, or that it is cut; else returns true.
[[nodiscard]] bool check_safetensors_length(std::uint64_t length, std::uint64_t file_bytes, SafetensorsHeader& header);

/// Parses and checks a header of a file of that length. A fault in one entry costs that entry, and one in the JSON all
/// of them. Memory: a few hundred bytes for each of at most `limits::safetensors_tensors`.
[[nodiscard]] SafetensorsHeader parse_safetensors(std::string json, std::uint64_t file_bytes);

}  // namespace smd::detail::wire
