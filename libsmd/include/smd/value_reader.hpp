// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/export.hpp>
#include <smd/parallel.hpp>
#include <smd/place.hpp>
#include <smd/problem.hpp>
#include <smd/shape.hpp>
#include <smd/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace smd {

class Trial;

/// How values are read.
struct ReadOptions {
  unsigned jobs = 0;  ///< Threads; 0: as many as the trial uses.
  /// Ends reading, as `RemoteOptions::stop` ends requests. Called between blocks of a value.
  std::function<bool()> stop = {};
};

/// An open value, whose elements are read on request, so that no value need fit in memory. They are laid out as in
/// `TensorView`. If reading fails, the `ValueReader` that returned it has the problem.
class SMD_EXPORT Extent {
 public:
  Extent(const Extent&) = delete;
  Extent& operator=(const Extent&) = delete;

  [[nodiscard]] Dtype dtype() const noexcept { return dtype_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  ///< Number of elements.
  /// Returns the time at which the value was written, in seconds since 1970.
  [[nodiscard]] double wall_time() const noexcept { return wall_time_; }
  /// Returns whether it has a checksum, which is verified before the first element is read (see `verify_while_reading`;
  /// unless `TrialOptions::verify` is false).
  [[nodiscard]] bool has_checksum() const noexcept { return has_checksum_; }
  /// Returns how many of its last elements repeat the one before them, which is stored once.
  [[nodiscard]] std::uint64_t repeats() const noexcept { return repeats_; }
  /// Returns whether any range can be read without reading what stands before it.
  [[nodiscard]] bool random_access() const noexcept { return random_access_; }

  /// The most bytes that `view` returns of a whole value that is not in memory, and what is best for one pass: such
  /// blocks stay in the processor's cache until they are used.
  static constexpr std::size_t most_view_bytes = std::size_t{2} << 20;
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

  /// Returns elements from `first` on: at least one, and at most `at_most`. Does not copy elements that lie in memory.
  /// Of text, returns the whole packed value. Empty if reading failed, or if there is no such element. Valid until the
  /// next call.
  [[nodiscard]] virtual std::span<const std::byte> view(std::uint64_t first, std::uint64_t at_most) = 0;
  /// Fills `into` with the elements from `first` on. Returns false if reading failed. Precondition: they exist; of
  /// text, `into` has the size of the packed value.
  [[nodiscard]] virtual bool read(std::uint64_t first, std::span<std::byte> into) = 0;
  /// Reads the whole value; its bytes are aligned to 16. Nullopt if reading failed.
  [[nodiscard]] virtual std::optional<TensorValue> value() = 0;
  /// Narrows the value to a part of it. Reads only ranges with elements of the part. If the value is a part already,
  /// and rows of the new part run over the ends of its rows, reads all of it.
  virtual void narrow(const StridedPart& part) = 0;
  /// Lets the elements come in the order in which they are stored, for statistics, which need no other. `shape()` is
  /// then of that order. Call it before the first element is read, and before `verify_while_reading`.
  virtual void in_any_order() noexcept = 0;
  /// Does not verify the checksum: another reader of the same value does.
  virtual void trust() noexcept = 0;
  /// Verifies the checksum with the last of `count` elements from `first` on, which the caller reads once and in order,
  /// instead of before the first one, so that none is read twice; other readers read the rest of the value so. If
  /// reading fails, drop what was made of the elements. Call it before the first element is read.
  virtual void verify_while_reading(std::uint64_t first, std::uint64_t count) noexcept = 0;

  /// Calls `take(bytes)` with all elements, or at most `count` from `first` on, in order, block after block. Returns
  /// false if reading failed.
  [[nodiscard]] bool for_each_block(const std::function<void(std::span<const std::byte>)>& take,
                                    std::uint64_t first = 0, std::uint64_t count = UINT64_MAX);

 protected:
  Extent() = default;
  ~Extent() = default;

  Dtype dtype_ = Dtype::float32;
  Shape shape_;
  std::uint64_t size_ = 0;
  double wall_time_ = 0;
  std::uint64_t repeats_ = 0;
  bool has_checksum_ = false;
  bool random_access_ = false;
};

/// A value to read: where it is, and the name (borrowed) that its record must have; of a reduction, as it is stored.
struct WantedValue {
  Place place;
  std::string_view name;
};

/// Reads values one after another, without allocations for many short ones. Each thread needs its own.
class SMD_EXPORT ValueReader {
 public:
  explicit ValueReader(const Trial& trial, const ReadOptions& options = {});
  ~ValueReader();

  /// Opens a value, and closes the one before. Null if there is a problem: a file that does not exist, a record that
  /// is damaged, or that holds another tensor. `name`: as in `WantedValue`. @throws InvalidArgument for an empty place.
  [[nodiscard]] Extent* open(const Place& place, std::string_view name);
  /// Why the last value could not be opened or read; nullopt if it could.
  [[nodiscard]] const std::optional<Problem>& problem();

  /// Calls `use` with an open value, and again from the start if reading failed for a reason that may pass: descriptors
  /// ran out, or an object of a remote store was replaced. Returns the problem; nullopt if all was read.
  [[nodiscard]] std::optional<Problem> read(const Place& place, std::string_view name,
                                            const std::function<void(Extent&)>& use);
  /// Calls `use(i, value)` and then `done(i, problem)`, as above, for each of several values in the order of their
  /// files and places. Reads short neighbours together. @throws InvalidArgument for an empty place.
  void read_each(std::span<const WantedValue> wanted, const std::function<void(std::size_t, Extent&)>& use,
                 const std::function<void(std::size_t, const std::optional<Problem>&)>& done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns a loop over `count` pieces of work that reads with the threads of `options` (0: those of the trial).
[[nodiscard]] SMD_EXPORT ParallelLoop reading_loop(const Trial& trial, std::size_t count, const ReadOptions& options);
/// As `parallel_for_each`, with a reader for each thread.
SMD_EXPORT void parallel_read(const Trial& trial, const ParallelLoop& loop, const ReadOptions& options,
                              const std::function<void(const LoopIndex&, ValueReader&)>& work,
                              const std::function<bool(const LoopIndex&)>& take = {});

}  // namespace smd
