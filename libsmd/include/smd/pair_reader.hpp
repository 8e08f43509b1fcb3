// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/export.hpp>
#include <smd/problem.hpp>
#include <smd/shape.hpp>
#include <smd/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace smd {

class Trial;

/// Receives the elements of two values block by block, the same elements of both at a time.
class SMD_EXPORT PairSink {
 public:
  virtual ~PairSink();
  /// Called before any block, and again if reading failed and is retried: then discard the blocks so far. Return false
  /// to stop. If the numbers of elements differ, or only one value is text, no block follows, whatever this returns.
  virtual bool begin(Dtype dtype_a, const Shape& shape_a, Dtype dtype_b, const Shape& shape_b) = 0;
  /// Receives the same number of whole elements of each value, in order, little-endian, laid out as in `TensorView`;
  /// for text, the whole values. The bytes are valid during the call. Return false to stop.
  virtual bool block(std::span<const std::byte> a, std::span<const std::byte> b) = 0;
};

/// A problem with one value of a pair.
struct PairProblem {
  bool of_b = false;
  Problem problem;
};

/// Reads the values of two trials side by side, in the calling thread, with memory that does not depend on their sizes
/// (for text, and records whose numbers are packed, as far as `BlockReader` bounds it). If both records are large,
/// reads one of them in a second thread. Keeps its buffers. Not for concurrent use.
class SMD_EXPORT PairReader {
 public:
  /// `a` and `b` may be the same trial.
  PairReader(const Trial& a, const Trial& b);
  PairReader(const PairReader&) = delete;
  PairReader& operator=(const PairReader&) = delete;
  ~PairReader();

  /// `name_a` and `name_b` are the names that the records must have, as for `Trial::read_blocks`. Returns the first
  /// problem, nullopt if all was read; `sink` may have received blocks before it.
  [[nodiscard]] std::optional<PairProblem> read(const TensorLocation& a, std::string_view name_a,
                                                const TensorLocation& b, std::string_view name_b, PairSink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the location of `count` elements from `first` on, as a value with one axis; nullopt if the value lies in a
/// record or in no file, so that it cannot be read in parts. Precondition: the value has these elements.
[[nodiscard]] SMD_EXPORT std::optional<TensorLocation> part_of(const TensorLocation& value, std::uint64_t first,
                                                               std::uint64_t count);

}  // namespace smd
