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

/// Elements of two values, block by block in step.
class SMD_EXPORT PairSink {
 public:
  virtual ~PairSink();
  /// Before any block; again if reading failed and is tried anew: forget what came. Return false to stop. Where the
  /// numbers of elements differ, or one is text and the other is not, no block follows, whatever it returns.
  virtual bool begin(Dtype dtype_a, const Shape& shape_a, Dtype dtype_b, const Shape& shape_b) = 0;
  /// As many whole elements of each, in order, little-endian, laid out as in `TensorView`; of text the whole values.
  /// Valid during the call. Return false to stop.
  virtual bool block(std::span<const std::byte> a, std::span<const std::byte> b) = 0;
};

/// What is wrong with one value of a pair.
struct PairProblem {
  bool of_b = false;
  Problem problem;
};

/// Reads the values of two trials in step, in the calling thread, with memory that no value's size changes (text, and
/// records whose numbers are packed, as far as `BlockReader` bounds it). Of two large records one is read in a second
/// thread. Keeps its buffers. Not for concurrent use.
class SMD_EXPORT PairReader {
 public:
  /// Two trials, or one twice.
  PairReader(const Trial& a, const Trial& b);
  PairReader(const PairReader&) = delete;
  PairReader& operator=(const PairReader&) = delete;
  ~PairReader();

  /// The names are those that the records must bear, as for `Trial::read_blocks`. Returns the first problem; blocks
  /// before it may have been given.
  [[nodiscard]] std::optional<PairProblem> read(const TensorLocation& a, std::string_view name_a,
                                                const TensorLocation& b, std::string_view name_b, PairSink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns where `count` elements from `first` on lie, as a value of one axis; nullopt if the value has a record around
/// it or stands in no file, so that it cannot be read in parts. Precondition: it has so many elements.
[[nodiscard]] SMD_EXPORT std::optional<TensorLocation> part_of(const TensorLocation& value, std::uint64_t first,
                                                               std::uint64_t count);

}  // namespace smd
