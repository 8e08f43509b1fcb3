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

/// One tensor of a file. Its views are valid as long as its header.
struct SafetensorsEntry {
  std::string_view name;
  Dtype dtype = Dtype::float32;
  std::string_view unread_type;  ///< The type's name if elements of the type are not read; `dtype` is then unused.
  std::span<const std::int64_t> shape;
  std::uint64_t offset = 0;  ///< Of the elements in the file, which need not be aligned.
  std::uint64_t length = 0;
  /// Type, shape and range agree, the file holds the range, no other range overlaps it, and the name is not repeated.
  bool sound = false;
};

/// The content of a header. Offsets of problems count from the file's start; their `file` is empty.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< Each name once, in the header's order.
  ProblemList problems{limits::problems_per_file};
  /// The file is shorter than its header states: it may still be written to. Not among `problems`.
  std::optional<Problem> cut;

 private:
  friend class SafetensorsParser;
  std::unique_ptr<const std::string> json_;   ///< Holds the names of entries and of types without escapes.
  std::forward_list<std::string> unescaped_;  ///< Holds the names with escapes.
  std::vector<std::int64_t> sizes_;
};

/// Checks a header's length. If it is wrong, returns false and adds a problem to `header` or sets `header.cut`.
[[nodiscard]] bool check_safetensors_length(std::uint64_t length, std::uint64_t file_bytes, SafetensorsHeader& header);

/// Parses and checks the header of a file of `file_bytes`. A fault in an entry affects only that entry; malformed JSON
/// leaves no entries. Takes a few hundred bytes for each of at most `limits::safetensors_tensors`.
[[nodiscard]] SafetensorsHeader parse_safetensors(std::string json, std::uint64_t file_bytes);

}  // namespace smd::detail::wire
