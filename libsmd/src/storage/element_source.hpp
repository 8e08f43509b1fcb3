// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "types/outcome.hpp"

#include <smd/place.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace smd::detail::storage {

/// A part of a tensor.
struct ElementChunk {
  std::vector<std::int64_t> begin;  ///< Where it begins in the tensor, along each axis.
  Place place;                      ///< Of its elements; has a type.
};

/// What must be known of bare elements besides their place and type (`ValueType::source`). Thread-safe. Problems lack
/// the file's name; their offsets are those in the file.
class ElementSource {
 public:
  ElementSource() = default;
  ElementSource(const ElementSource&) = delete;
  ElementSource& operator=(const ElementSource&) = delete;
  virtual ~ElementSource() = default;

  bool swapped = false;  ///< Elements are big-endian; of complex numbers, each part.
  bool has_checksums = false;
  std::vector<std::byte> held = {};       ///< The elements, if the file has them in a form that had to be decoded.
  std::vector<ElementChunk> chunks = {};  ///< The tensor, if it lies in several places; each element once.

  /// Returns where elements begin that a place says to be at `offset`. Checks what stands before them.
  [[nodiscard]] virtual Outcome<std::uint64_t> find(const File& file, std::uint64_t offset) const {
    (void)file;
    return offset;
  }
  /// Verifies the checksum of the part of the file in which such elements lie, once for all readers.
  [[nodiscard]] virtual Status verify(const File& file, std::uint64_t offset, const std::function<bool()>& stop) const {
    (void)file;
    (void)offset;
    (void)stop;
    return ok();
  }
};

}  // namespace smd::detail::storage
