// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/export.hpp>
#include <smd/problem.hpp>
#include <smd/shape.hpp>
#include <smd/tensor.hpp>
#include <smd/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smd {

class Trial;

/// How many values are read at once.
struct ReadOptions {
  unsigned jobs = 0;  ///< Threads; 0: as the trial.
};

/// Outcome of reading one entry: a value, or what is wrong with it.
struct ReadResult {
  std::optional<TensorValue> value;
  std::optional<Problem> problem;  ///< Set exactly if `value` is not.
  double wall_time = 0;            ///< Seconds since 1970 at which the record was written.
};

/// Elements of one value in successive blocks, so that no value need fit memory.
class SMD_EXPORT BlockSink {
 public:
  virtual ~BlockSink();
  /// Before `begin`: when the record was written, in seconds since 1970.
  virtual void written(double wall_time);
  /// Once, before any block; again if reading failed and is tried anew. Return false to stop.
  virtual bool begin(Dtype dtype, const Shape& shape) = 0;
  /// Whole elements (of a string tensor: the whole packed value), in order, little-endian, laid out as in
  /// `TensorView`. Valid during the call. Return false to stop.
  virtual bool block(std::span<const std::byte> bytes) = 0;
  /// After a block: `count` elements more, each equal to `element`, as a writer may store them. Returns false to stop.
  /// The default gives them to `block`, at most 256 KiB at a time.
  virtual bool repeat(std::span<const std::byte> element, std::uint64_t count);
  /// Asked before each record. True (the default): values of up to 2 MiB come in one block. False: in blocks small
  /// enough to stay in a processor's cache from being read until they are used.
  [[nodiscard]] virtual bool prefers_whole() const noexcept;
};

/// One value in a file, by its byte range, and the name that its record must bear (of a reduction, the whole stored
/// name). Borrows the name.
struct RecordRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::string_view tensor;
  /// `TensorLocation::bare` of a value that has no record; must live until it was read.
  const BareValue* bare = nullptr;
  RecordPart part = RecordPart::all;
};

/// Reads values in blocks, one after another, in the calling thread, and keeps its buffers, so that many short values
/// cost no allocations. For `Trial::parallel_for_each`, or threads of one's own; not for concurrent use.
class SMD_EXPORT BlockReader {
 public:
  explicit BlockReader(const Trial& trial);
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;
  ~BlockReader();

  /// Reads records of one event file (a path relative to the trial, as `TensorLocation` has it) into `sink`, which
  /// gets `begin` and blocks of each in turn. `done(i, problem)` follows each, with what went wrong, if anything;
  /// it ends the reading by returning false. Sorted by offset, short neighbours are read in one go.
  void read(const std::string& file, std::span<const RecordRange> records, BlockSink& sink,
            const std::function<bool(std::size_t, std::optional<Problem>&&)>& done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A piece of work on a trial, done in one of several threads. See `Trial::parallel_for_each`.
class SMD_EXPORT TrialPart {
 public:
  virtual ~TrialPart();
  /// Called once. `reader` is this thread's own.
  virtual void work(BlockReader& reader) = 0;
};

}  // namespace smd
