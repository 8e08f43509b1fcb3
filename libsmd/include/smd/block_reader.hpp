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
  unsigned jobs = 0;  ///< Threads; 0: as many as the trial uses.
};

/// The result of reading one entry: a value or a problem.
struct ReadResult {
  std::optional<TensorValue> value;
  std::optional<Problem> problem;  ///< Set if and only if `value` is not.
  double wall_time = 0;            ///< Seconds since 1970 at which the record was written.
};

/// Receives the elements of one value in successive blocks, so that no value need fit in memory.
class SMD_EXPORT BlockSink {
 public:
  virtual ~BlockSink();
  /// Called before `begin` with the time at which the record was written, in seconds since 1970.
  virtual void written(double wall_time);
  /// Called once, before any block, and again if reading failed and is retried. Return false to stop.
  virtual bool begin(Dtype dtype, const Shape& shape) = 0;
  /// Receives whole elements (of a string tensor: the whole packed value), in order, little-endian, laid out as in
  /// `TensorView`. `bytes` is valid during the call. Return false to stop.
  virtual bool block(std::span<const std::byte> bytes) = 0;
  /// Receives, after a block, `count` more elements that all equal `element`, which a writer may store once. Return
  /// false to stop. The default passes them to `block`, at most 256 KiB at a time.
  virtual bool repeat(std::span<const std::byte> element, std::uint64_t count);
  /// Called before each record. If true (the default), values of up to 2 MiB come in one block; if false, in blocks
  /// small enough to stay in the processor's cache until they are used.
  [[nodiscard]] virtual bool prefers_whole() const noexcept;
};

/// One value in a file: its byte range, and the name that its record must have (for a reduction, the whole stored
/// name). Borrows the name.
struct RecordRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::string_view tensor;
  /// `TensorLocation::bare` of a value that has no record; must stay valid until the value is read.
  const BareValue* bare = nullptr;
  RecordPart part = RecordPart::all;
};

/// Reads values in blocks, one after another, in the calling thread, and keeps its buffers, so that many short values
/// cost no allocations. For `Trial::parallel_for_each`, or for the caller's own threads. Not for concurrent use.
class SMD_EXPORT BlockReader {
 public:
  explicit BlockReader(const Trial& trial);
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;
  ~BlockReader();

  /// Reads records of one event file (a path relative to the trial, as in `TensorLocation`) into `sink`, which receives
  /// `begin` and the blocks of each record in turn. Calls `done(i, problem)` after each record, with the problem if
  /// there was one; stops if it returns false. If the records are sorted by offset, short neighbours are read together.
  void read(const std::string& file, std::span<const RecordRange> records, BlockSink& sink,
            const std::function<bool(std::size_t, std::optional<Problem>&&)>& done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A part of the work on a trial, done in one of several threads. See `Trial::parallel_for_each`.
class SMD_EXPORT TrialPart {
 public:
  virtual ~TrialPart();
  /// Called once. `reader` is this thread's own.
  virtual void work(BlockReader& reader) = 0;
};

}  // namespace smd
