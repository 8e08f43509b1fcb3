// SPDX-License-Identifier: Apache-2.0
#include <smd/block_reader.hpp>
#include <smd/pair_reader.hpp>
#include <smd/trial.hpp>

#include "trial/block_pipe.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace smd {

namespace {

using detail::trial::BlockPipe;

/// Records up to this size are held in memory while the other value is read.
constexpr std::uint64_t held_record_bytes = std::uint64_t{2} << 20;
/// The most bytes of bare elements in a block of a `BlockReader`.
constexpr std::uint64_t bare_block_bytes = std::uint64_t{256} << 10;

/// Returns whether parts of the value can be read separately.
bool has_parts(const TensorLocation& value) { return value.bare && !value.bare->number; }

/// One of the two values.
struct Side {
  BlockReader& reader;
  const TensorLocation& location;
  std::string_view name;
  bool is_b;

  /// Reads the value, or a part of it.
  std::optional<Problem> read(const TensorLocation& place, BlockSink& sink) const {
    const RecordRange range = {place.offset, place.length, name, place.bare.get(), place.part};
    std::optional<Problem> problem;
    reader.read(place.file, {&range, 1}, sink, [&](std::size_t, std::optional<Problem>&& found) {
      problem = std::move(found);
      return true;
    });
    return problem;
  }
};

/// Passes an outer and an inner value to a sink in the order of a and b.
class Ordered {
 public:
  Ordered(PairSink& sink, bool outer_is_b) : sink_(sink), outer_is_b_(outer_is_b) {}

  bool begin(Dtype outer, const Shape& outer_shape, Dtype inner, const Shape& inner_shape) {
    outer_ = outer;
    inner_ = inner;
    const bool more = outer_is_b_ ? sink_.begin(inner, inner_shape, outer, outer_shape)
                                  : sink_.begin(outer, outer_shape, inner, inner_shape);
    return more && (outer_item() == 0) == (inner_item() == 0) &&
           element_count(outer_shape) == element_count(inner_shape);
  }
  bool block(std::span<const std::byte> outer, std::span<const std::byte> inner) {
    return outer_is_b_ ? sink_.block(inner, outer) : sink_.block(outer, inner);
  }
  [[nodiscard]] std::size_t outer_item() const noexcept { return item_size(outer_); }
  [[nodiscard]] std::size_t inner_item() const noexcept { return item_size(inner_); }
  /// Returns whether values must be compared whole, because elements of text differ in size.
  [[nodiscard]] bool whole() const noexcept { return outer_item() == 0; }

 private:
  PairSink& sink_;
  bool outer_is_b_;
  Dtype outer_ = Dtype::float32;
  Dtype inner_ = Dtype::float32;
};

/// Collects all bytes of a value.
class Collected : public BlockSink {
 public:
  explicit Collected(std::vector<std::byte>& bytes) : bytes_(bytes) {}

  bool begin(Dtype dtype, const Shape& shape) override {
    dtype_ = dtype;
    shape_ = shape;
    bytes_.clear();
    return true;
  }
  bool block(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return true;
  }

  [[nodiscard]] Dtype dtype() const noexcept { return dtype_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte>& bytes_;
  Dtype dtype_ = Dtype::float32;
  Shape shape_;
};

/// Receives the inner value and pairs it with an outer one that was collected.
class BesideCollected : public BlockSink {
 public:
  BesideCollected(const Collected& outer, Ordered& pair) : outer_(outer), pair_(pair) {}

  bool begin(Dtype dtype, const Shape& shape) override {
    rest_ = outer_.bytes();
    return pair_.begin(outer_.dtype(), outer_.shape(), dtype, shape) && !rest_.empty();
  }
  bool block(std::span<const std::byte> bytes) override {
    const std::size_t size =
        pair_.whole() ? rest_.size() : std::min(rest_.size(), bytes.size() / pair_.inner_item() * pair_.outer_item());
    const std::span<const std::byte> beside = rest_.first(size);
    rest_ = rest_.subspan(size);
    return pair_.block(beside, bytes);
  }

 private:
  const Collected& outer_;
  Ordered& pair_;
  std::span<const std::byte> rest_;
};

/// Receives the only block of a part of the inner value.
class BesideBlock : public BlockSink {
 public:
  BesideBlock(std::span<const std::byte> outer, Ordered& pair) : outer_(outer), pair_(pair) {}

  bool begin(Dtype /*dtype*/, const Shape& /*shape*/) override { return true; }
  bool block(std::span<const std::byte> bytes) override { return more_ = pair_.block(outer_, bytes); }

  [[nodiscard]] bool more() const noexcept { return more_; }

 private:
  std::span<const std::byte> outer_;
  Ordered& pair_;
  bool more_ = true;
};

/// Receives the outer value, and for each block reads the same elements of the inner one, which has parts.
class WithParts : public BlockSink {
 public:
  WithParts(const Side& inner, Ordered& pair) : inner_(inner), pair_(pair) {}

  bool begin(Dtype dtype, const Shape& shape) override {
    done_ = 0;
    const BareValue& bare = *inner_.location.bare;
    return pair_.begin(dtype, shape, bare.dtype, bare.shape);
  }
  bool block(std::span<const std::byte> bytes) override {
    const std::uint64_t most = bare_block_bytes / pair_.inner_item();
    while (!bytes.empty()) {
      const std::uint64_t count = std::min<std::uint64_t>(most, bytes.size() / pair_.outer_item());
      const std::size_t size = static_cast<std::size_t>(count) * pair_.outer_item();
      BesideBlock beside(bytes.first(size), pair_);
      problem_ = inner_.read(*part_of(inner_.location, done_, count), beside);
      if (problem_ || !beside.more()) {
        return false;
      }
      done_ += count;
      bytes = bytes.subspan(size);
    }
    return true;
  }
  [[nodiscard]] bool prefers_whole() const noexcept override { return false; }

  [[nodiscard]] std::optional<Problem> problem() && { return std::move(problem_); }

 private:
  const Side& inner_;
  Ordered& pair_;
  std::uint64_t done_ = 0;
  std::optional<Problem> problem_;
};

/// Receives the inner value and pairs it with an outer one that another thread reads.
class BesidePipe : public BlockSink {
 public:
  BesidePipe(BlockPipe& outer, Ordered& pair) : outer_(outer), pair_(pair) {}

  bool begin(Dtype dtype, const Shape& shape) override {
    const std::optional<BlockPipe::Value> value = outer_.value();
    if (!value) {
      return false;
    }
    again_ = done_;
    if (done_ == 0) {
      text_ = dtype == Dtype::string && value->dtype == Dtype::string;
      more_ = !text_ && pair_.begin(value->dtype, value->shape, dtype, shape);
    }
    return more_;
  }
  bool block(std::span<const std::byte> bytes) override {
    const std::size_t skipped = std::min(again_, bytes.size());
    again_ -= skipped;
    bytes = bytes.subspan(skipped);
    if (bytes.empty()) {
      return true;
    }
    const std::span<const std::byte> beside = outer_.take(bytes.size() / pair_.inner_item() * pair_.outer_item());
    done_ += bytes.size();
    return more_ = !beside.empty() && pair_.block(beside, bytes);
  }
  [[nodiscard]] bool prefers_whole() const noexcept override { return false; }

  /// Returns whether both values are text; the sink then got nothing.
  [[nodiscard]] bool text() const noexcept { return text_; }

 private:
  BlockPipe& outer_;
  Ordered& pair_;
  std::size_t done_ = 0;
  std::size_t again_ = 0;  // bytes to skip, because the value is read again
  bool text_ = false;
  bool more_ = true;
};

std::optional<PairProblem> of_side(const Side& side, std::optional<Problem>&& problem) {
  return problem ? std::optional(PairProblem{side.is_b, std::move(*problem)}) : std::nullopt;
}

std::optional<PairProblem> read_with_parts(const Side& outer, const Side& inner, PairSink& sink) {
  Ordered pair(sink, outer.is_b);
  WithParts with(inner, pair);
  if (auto problem = of_side(outer, outer.read(outer.location, with))) {
    return problem;
  }
  return of_side(inner, std::move(with).problem());
}

std::optional<PairProblem> read_collected(const Side& outer, const Side& inner, PairSink& sink,
                                          std::vector<std::byte>& buffer) {
  Collected collected(buffer);
  if (auto problem = of_side(outer, outer.read(outer.location, collected))) {
    return problem;
  }
  Ordered pair(sink, outer.is_b);
  BesideCollected beside(collected, pair);
  return of_side(inner, inner.read(inner.location, beside));
}

std::optional<PairProblem> read_in_two_threads(const Side& outer, const Side& inner, PairSink& sink,
                                               std::vector<std::byte>& buffer) {
  BlockPipe pipe;
  std::optional<Problem> outer_problem;
  std::exception_ptr error;
  std::thread thread([&]() noexcept {
    try {
      outer_problem = outer.read(outer.location, pipe);
    } catch (...) {
      error = std::current_exception();
    }
    pipe.end();
  });
  Ordered pair(sink, outer.is_b);
  BesidePipe beside(pipe, pair);
  std::optional<Problem> inner_problem;
  try {
    inner_problem = inner.read(inner.location, beside);
  } catch (...) {
    pipe.close();
    thread.join();
    throw;
  }
  pipe.close();
  thread.join();
  if (error) {
    std::rethrow_exception(error);
  }
  if (beside.text()) {
    return read_collected(outer, inner, sink, buffer);
  }
  auto problem = of_side(outer, std::move(outer_problem));
  return problem ? std::move(problem) : of_side(inner, std::move(inner_problem));
}

}  // namespace

PairSink::~PairSink() = default;

struct __attribute__((visibility("hidden"))) PairReader::Impl {
  BlockReader a;
  BlockReader b;
  std::vector<std::byte> held;
};

PairReader::PairReader(const Trial& a, const Trial& b) : impl_(new Impl{BlockReader(a), BlockReader(b), {}}) {}
PairReader::~PairReader() = default;

std::optional<PairProblem> PairReader::read(const TensorLocation& a, std::string_view name_a, const TensorLocation& b,
                                            std::string_view name_b, PairSink& sink) {
  const Side side_a = {impl_->a, a, name_a, false};
  const Side side_b = {impl_->b, b, name_b, true};
  if (has_parts(b)) {
    return read_with_parts(side_a, side_b, sink);
  }
  if (has_parts(a)) {
    return read_with_parts(side_b, side_a, sink);
  }
  if (a.bare || a.length <= held_record_bytes) {
    return read_collected(side_a, side_b, sink, impl_->held);
  }
  if (b.bare || b.length <= held_record_bytes) {
    return read_collected(side_b, side_a, sink, impl_->held);
  }
  try {
    return read_in_two_threads(side_a, side_b, sink, impl_->held);
  } catch (const std::system_error&) {  // the thread cannot be started
    return read_collected(side_a, side_b, sink, impl_->held);
  }
}

std::optional<TensorLocation> part_of(const TensorLocation& value, std::uint64_t first, std::uint64_t count) {
  if (!has_parts(value)) {
    return std::nullopt;
  }
  BareValue bare = *value.bare;
  bare.shape = {static_cast<std::int64_t>(count)};
  const std::uint64_t item = item_size(bare.dtype);
  TensorLocation part = value;
  part.offset += first * item;
  part.length = count * item;
  part.bare = std::make_shared<const BareValue>(std::move(bare));
  return part;
}

}  // namespace smd
