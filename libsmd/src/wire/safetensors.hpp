// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <smd/dtype.hpp>
#include <smd/limits.hpp>
#include <smd/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
  std::uint32_t type = 0;  ///< Entries with the same number have the same dtype and shape.
  Dtype dtype = Dtype::float32;
  std::string_view unread_type;  ///< The type's name if elements of the type are not read; `dtype` is then unused.
  std::span<const std::int64_t> shape;
  std::uint64_t offset = 0;  ///< Of the elements in the file, which need not be aligned.
  std::uint64_t length = 0;
  /// Type, shape and range agree, the file holds the range, no other range overlaps it, and the name is not repeated.
  bool sound = false;
};

/// The entries of a header, in its order; each name once. In compact form: 32 bytes for each, and its name.
class SafetensorsEntries {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  [[nodiscard]] bool empty() const noexcept { return places_.empty(); }
  [[nodiscard]] SafetensorsEntry operator[](std::size_t i) const noexcept {
    const Place& place = places_[i];
    const Type& type = types_[place.type];
    return {{texts_.get() + place.name, place.name_bytes},
            place.type,
            type.dtype,
            {texts_.get() + type.unread, type.unread_bytes},
            std::span(sizes_).subspan(type.first_size, type.dimensions),
            place.offset,
            place.length,
            place.sound};
  }
  [[nodiscard]] std::string_view name(std::size_t i) const noexcept {
    return {texts_.get() + places_[i].name, places_[i].name_bytes};
  }
  /// `SafetensorsEntry::type` is below this.
  [[nodiscard]] std::size_t types() const noexcept { return types_.size(); }
  /// The memory of all names. Null if there are no entries.
  [[nodiscard]] const std::shared_ptr<char[]>& texts() const noexcept { return texts_; }

 private:
  friend class SafetensorsParser;
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::uint32_t name = 0;  // where it begins in `texts_`
    std::uint32_t name_bytes = 0;
    std::uint32_t type = 0;
    bool sound = false;
  };
  struct Type {
    std::uint32_t first_size = 0;
    std::uint32_t dimensions = 0;
    std::uint32_t unread = 0;  // where the type's name begins in `texts_`
    std::uint32_t unread_bytes = 0;
    Dtype dtype = Dtype::float32;
  };
  std::vector<Place> places_;
  std::vector<Type> types_;
  std::vector<std::int64_t> sizes_;
  std::shared_ptr<char[]> texts_;
};

/// The content of a header. Offsets of problems count from the file's start; their `file` is empty.
struct SafetensorsHeader {
  SafetensorsEntries entries;
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
