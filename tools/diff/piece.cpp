// SPDX-License-Identifier: Apache-2.0
#include "piece.hpp"

#include <smd/dtype.hpp>
#include <smd/tensor_view.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smd::tool::diff {

namespace {

constexpr std::uint64_t part_bytes = std::uint64_t{16} << 20;

TensorView view_of(Dtype dtype, const Shape& shape, std::span<const std::byte> bytes) { return {dtype, shape, bytes}; }

/// Passes the elements of two values to a comparer.
class ComparingSink : public PairSink {
 public:
  ComparingSink(ComparedPiece& into, bool appends) : into_(into), appends_(appends) {}

  bool begin(Dtype dtype_a, const Shape& shape_a, Dtype dtype_b, const Shape& shape_b) override {
    if (!appends_) {
      into_.comparer.clear();
    }
    dtype_a_ = dtype_a;
    dtype_b_ = dtype_b;
    into_.dtype = dtype_a;
    into_.dtype_b = dtype_b;
    into_.shape = shape_a;
    into_.shape_b = shape_b;
    if (shape_a != shape_b) {
      return false;
    }
    const bool none = element_count(shape_a) == std::uint64_t{0};
    const bool mixed = (dtype_a == Dtype::string) != (dtype_b == Dtype::string);
    if (none || mixed) {
      into_.comparer.add(view_of(dtype_a, shape_a, {}), view_of(dtype_b, shape_b, {}));
      return false;
    }
    return true;
  }

  bool block(std::span<const std::byte> a, std::span<const std::byte> b) override {
    if (dtype_a_ == Dtype::string) {
      into_.comparer.add(view_of(dtype_a_, into_.shape, a), view_of(dtype_b_, into_.shape, b));
      return true;
    }
    const auto count = static_cast<std::int64_t>(a.size() / item_size(dtype_a_));
    const std::span<const std::int64_t> shape(&count, 1);
    into_.comparer.add({dtype_a_, shape, a}, {dtype_b_, shape, b});
    return true;
  }

 private:
  ComparedPiece& into_;
  bool appends_;
  Dtype dtype_a_ = Dtype::float32;
  Dtype dtype_b_ = Dtype::float32;
};

/// Passes the elements of a value to a comparer, as equal to those of the other value.
class EqualSink : public BlockSink {
 public:
  explicit EqualSink(const DifferenceOptions& options) : comparer_(options) {}

  bool begin(Dtype dtype, const Shape& /*shape*/) override {
    dtype_ = dtype;
    comparer_.clear();
    return true;
  }
  bool block(std::span<const std::byte> bytes) override {
    const auto count = static_cast<std::int64_t>(bytes.size() / item_size(dtype_));
    comparer_.add_equal({dtype_, {&count, 1}, bytes});
    return true;
  }
  [[nodiscard]] bool prefers_whole() const noexcept override { return false; }

  [[nodiscard]] Comparer take() { return std::move(comparer_); }

 private:
  Dtype dtype_ = Dtype::float32;
  Comparer comparer_;
};

TensorLocation place_of(const TensorLocation& value, const PairPiece& piece) {
  return piece.part ? *part_of(value, piece.part->first, piece.part->count) : value;
}

void compare_statistics(PairReader& reader, const PairedEntry& entry, ComparedPiece& into) {
  const std::vector<SavedReduction>& a = entry.a->reductions;
  const std::vector<SavedReduction>& b = entry.b->reductions;
  auto next_a = a.begin();
  auto next_b = b.begin();
  while ((next_a != a.end() || next_b != b.end()) && !into.problem) {
    if (next_b == b.end() || (next_a != a.end() && next_a->name < next_b->name)) {
      ++into.alone;
      ++next_a;
    } else if (next_a == a.end() || next_b->name < next_a->name) {
      ++into.alone;
      ++next_b;
    } else {
      const std::string name = reduction_tensor_name(next_a->name, entry.tensor());
      ComparingSink sink(into, true);
      into.problem = reader.read(next_a->location, name, next_b->location, name, sink);
      if (!into.problem && into.shape != into.shape_b) {
        ++into.alone;
      }
      ++next_a;
      ++next_b;
    }
  }
  into.shape.clear();
  into.shape_b.clear();
}

}  // namespace

Common common_of(const PairedEntry& entry) noexcept {
  if (!entry.a || !entry.b || entry.a->value.has_value() != entry.b->value.has_value()) {
    return Common::nothing;
  }
  if (entry.a->value) {
    return Common::values;
  }
  if (entry.a->reductions.empty() != entry.b->reductions.empty()) {
    return Common::nothing;
  }
  return entry.a->reductions.empty() ? Common::shapes : Common::statistics;
}

void add_pieces(const PairedEntry& entry, std::size_t number, std::vector<PairPiece>& pieces) {
  PairPiece piece = {.entry = number, .part = {}};
  if (common_of(entry) == Common::values) {
    const TensorLocation& a = *entry.a->value;
    const TensorLocation& b = *entry.b->value;
    piece.bytes = a.length + b.length;
    const bool in_parts =
        a.length > part_bytes && part_of(a, 0, 0) && part_of(b, 0, 0) && a.bare->shape == b.bare->shape && b.length > 0;
    if (in_parts) {
      const std::uint64_t count = element_count(a.bare->shape).value_or(0);
      const std::uint64_t most = part_bytes / std::max(item_size(a.bare->dtype), item_size(b.bare->dtype));
      for (std::uint64_t first = 0; first < count; first += most) {
        PairPiece part = piece;
        part.part = {first, std::min(most, count - first)};
        part.bytes = part_bytes;
        part.last = first + most >= count;
        pieces.push_back(part);
      }
      return;
    }
  }
  pieces.push_back(piece);
}

ComparedPiece compare_piece(PairReader& reader, const PairedEntry& entry, const PairPiece& piece,
                            const DifferenceOptions& options) {
  ComparedPiece result(piece, options);
  if (common_of(entry) == Common::statistics) {
    compare_statistics(reader, entry, result);
    return result;
  }
  const TensorLocation a = place_of(*entry.a->value, piece);
  const TensorLocation b = place_of(*entry.b->value, piece);
  const auto compare = [&](ComparedPiece& into) {
    ComparingSink sink(into, false);
    into.problem = reader.read(a, entry.a->tensor, b, entry.b->tensor, sink);
  };
  compare(result);
  if (!result.problem && !result.comparer.complete() && !result.comparer.equal_bytes()) {
    // The equal elements before the first difference count too.
    DifferenceOptions with_sums = options;
    with_sums.sums_of_equal = true;
    ComparedPiece again(piece, with_sums);
    compare(again);
    result = std::move(again);
  }
  if (piece.part) {
    result.shape = entry.a->value->bare->shape;
    result.shape_b = result.shape;
  }
  return result;
}

std::optional<PairProblem> complete_sums(const Trial& a, const PairedEntry& entry, std::vector<ComparedPiece>& pieces) {
  std::vector<ComparedPiece*> left;
  std::vector<TensorLocation> places;
  for (ComparedPiece& piece : pieces) {
    if (!piece.comparer.complete()) {
      left.push_back(&piece);
      places.push_back(place_of(*entry.a->value, piece.piece));
    }
  }
  std::optional<PairProblem> trouble;
  const std::vector<std::string> names(left.size(), std::string(entry.tensor()));
  a.read_blocks(
      places, names, [](std::size_t) { return std::make_unique<EqualSink>(DifferenceOptions()); },
      [&](std::size_t i, std::unique_ptr<BlockSink>&& sink, std::optional<Problem>&& problem) {
        if (problem) {
          trouble = PairProblem{false, std::move(*problem)};
          return false;
        }
        left[i]->comparer = static_cast<EqualSink&>(*sink).take();
        return true;
      });
  return trouble;
}

}  // namespace smd::tool::diff
