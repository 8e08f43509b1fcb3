// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "types/outcome.hpp"

#include <smd/place.hpp>
#include <smd/value_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace smd::detail::storage {

/// A part of a tensor.
struct ElementChunk {
  std::vector<std::int64_t> begin;  ///< Where it begins in the tensor, along each axis.
  Place place;                      ///< Of its elements; has a type.
};

/// Bytes of a value that were read one after another. Offsets count from the value's first byte.
struct ReadRun {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t crc = 0;  ///< Their checksum.
};

/// What must be known of bare elements besides their place and type (`ValueType::source`). Thread-safe. Problems lack
/// the file's name; their offsets are those in the file.
class ElementSource {
 public:
  ElementSource() = default;
  ElementSource(const ElementSource&) = delete;
  ElementSource& operator=(const ElementSource&) = delete;
  virtual ~ElementSource() = default;

  /// Of the file that has the elements, taken before its header was read; nullopt if it is unknown.
  std::optional<FileStamp> stamp = {};
  bool swapped = false;  ///< Elements are big-endian; of complex numbers, each part.
  bool has_checksums = false;
  std::vector<std::byte> held = {};       ///< The elements, if the file has them in a form that had to be decoded.
  std::vector<ElementChunk> chunks = {};  ///< The tensor, if it lies in several places; each element once.

  /// Returns a problem if the file has changed since then: the header describes another version.
  [[nodiscard]] Status unchanged(const File& file) const {
    return !stamp || file.stamp() == stamp ? ok()
                                           : make_problem(ProblemKind::not_found, "was replaced while it was read");
  }
  /// Returns where elements begin that a place says to be at `offset`. Checks what stands before them.
  [[nodiscard]] virtual Outcome<std::uint64_t> find(const File& /*file*/, std::uint64_t offset) const { return offset; }
  /// Verifies the checksum of the part of the file in which such elements lie, once for all readers.
  [[nodiscard]] virtual Status verify(const File& /*file*/, std::uint64_t /*offset*/,
                                      const ReadOptions& /*options*/) const {
    return ok();
  }
  /// Returns whether a checksum, which is not verified yet, protects exactly these bytes. Then `verify_read` can do it.
  [[nodiscard]] virtual bool protects(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) const { return false; }
  /// As `verify`, of bytes that readers read anyway: each says what it read. Returns whether all were read and
  /// verified.
  [[nodiscard]] virtual Outcome<bool> verify_read(const File& file, std::uint64_t offset, const ReadRun& /*run*/,
                                                  const ReadOptions& options) const {
    const Status right = verify(file, offset, options);
    return right ? Outcome(true) : right.problem();
  }
};

}  // namespace smd::detail::storage
