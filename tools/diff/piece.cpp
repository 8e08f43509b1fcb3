// SPDX-License-Identifier: Apache-2.0
#include "piece.hpp"

#include "select/slice.hpp"

#include <smd/tensor_view.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace smd::tool::diff {

namespace {

constexpr std::uint64_t part_bytes = std::uint64_t{16} << 20;

/// Calls `use(a, b)` with two open values, again if reading failed and is repeated. Returns the first problem.
template <class Use>
std::optional<PairProblem> read_pair(PairReaders readers, const Place& a, std::string_view name_a, const Place& b,
                                     std::string_view name_b, Use&& use) {
  std::optional<Problem> of_b;
  if (auto of_a = readers.a.read(a, name_a, [&](Extent& value_a) {
        of_b = readers.b.read(b, name_b, [&](Extent& value_b) { use(value_a, value_b); });
      })) {
    return PairProblem{false, *std::move(of_a)};
  }
  return of_b ? std::optional(PairProblem{true, *std::move(of_b)}) : std::nullopt;
}

/// Narrows two values to the leading part along each axis that both have. Returns false if their ranks differ.
bool narrow_to_common(Extent& a, Extent& b) {
  if (a.shape().size() != b.shape().size()) {
    return false;
  }
  const Shape common = common_shape(a.shape(), b.shape());
  for (Extent* const value : {&a, &b}) {
    value->narrow({common, whole_strides(value->shape()), 0});
  }
  return true;
}

/// Compares two values, or a part of both. Their shapes must be equal for that, unless `common`.
void compare(Extent& a, Extent& b, const std::optional<PairPiece::Part>& part, ComparedPiece& into,
             bool common = false) {
  into.dtype = a.dtype();
  into.dtype_b = b.dtype();
  into.shape = a.shape();
  into.shape_b = b.shape();
  into.common = into.shape != into.shape_b && common && a.dtype() != Dtype::string && b.dtype() != Dtype::string &&
                narrow_to_common(a, b);
  if (into.shape != into.shape_b && !into.common) {
    return;
  }
  const PairPiece::Part compared = part.value_or(PairPiece::Part{0, a.size()});
  a.verify_while_reading(compared.first, compared.count);
  b.verify_while_reading(compared.first, compared.count);
  into.comparer.add(a, b, compared.first, compared.count);
}

void compare_statistics(PairReaders readers, const PairedEntry& entry, ComparedPiece& into) {
  const std::vector<SavedReduction>& all_b = entry.b->reductions;
  std::size_t common = 0;
  for (const SavedReduction& a : entry.a->reductions) {
    const auto b = std::ranges::find(all_b, a.name, &SavedReduction::name);
    if (b == all_b.end()) {
      continue;
    }
    ++common;
    const std::string name_a = reduction_tensor_name(a.name, entry.a->tensor);
    const std::string name_b = reduction_tensor_name(b->name, entry.b->tensor);
    into.problem = read_pair(readers, a.place, name_a, b->place, name_b,
                             [&](Extent& value_a, Extent& value_b) { compare(value_a, value_b, {}, into); });
    if (into.problem) {
      break;
    }
    into.alone += into.shape != into.shape_b ? 1 : 0;
  }
  into.alone += entry.a->reductions.size() + all_b.size() - 2 * common;
  into.shape.clear();
  into.shape_b.clear();
}

}  // namespace

Shape common_shape(const Shape& a, const Shape& b) {
  Shape common = a;
  std::ranges::transform(a, b, common.begin(),
                         [](std::int64_t of_a, std::int64_t of_b) { return std::min(of_a, of_b); });
  return common;
}

Common common_of(const PairedEntry& entry) noexcept {
  if (!entry.a || !entry.b || has_value(*entry.a) != has_value(*entry.b)) {
    return Common::nothing;
  }
  const bool bare = entry.a->reductions.empty();
  return has_value(*entry.a)                   ? Common::values
         : bare != entry.b->reductions.empty() ? Common::nothing
         : bare                                ? Common::shapes
                                               : Common::statistics;
}

std::string_view meaning_of(const TensorEntry& entry) {
  return entry.value && entry.value->type ? std::string_view(entry.value->type->meaning) : std::string_view();
}

void add_pieces(PairReaders readers, const PairedEntry& entry, std::size_t number, std::vector<PairPiece>& pieces) {
  PairPiece piece = {.entry = number, .part = {}};
  if (mean_otherwise(entry)) {
    piece.part = PairPiece::Part();  // no elements: only the shapes are looked at
  } else if (common_of(entry) == Common::values) {
    const Place& a = *entry.a->value;
    const Place& b = *entry.b->value;
    piece.bytes = a.length + b.length;
    const Extent* const value_a = a.length > part_bytes ? readers.a.open(a, entry.a->tensor) : nullptr;
    const Extent* const value_b = value_a != nullptr ? readers.b.open(b, entry.b->tensor) : nullptr;
    if (value_b != nullptr && value_a->shape() == value_b->shape() && value_a->random_access() &&
        value_b->random_access()) {
      const std::size_t item = std::max(item_size(value_a->dtype()), item_size(value_b->dtype()));
      const std::uint64_t count = value_a->size();
      const std::uint64_t most = item == 0 ? count : part_bytes / item;
      for (std::uint64_t first = 0; first < count; first += most) {
        PairPiece part = piece;
        part.part = {first, std::min(most, count - first)};
        part.bytes = part_bytes;
        part.last = first + most >= count;
        pieces.push_back(part);
      }
      if (count != 0) {
        return;
      }
    }
  }
  pieces.push_back(piece);
}

ComparedPiece compare_piece(PairReaders readers, const PairedEntry& entry, const PairPiece& piece,
                            const DifferenceOptions& options, bool common) {
  ComparedPiece result(piece, options);
  if (common_of(entry) == Common::statistics) {
    compare_statistics(readers, entry, result);
    return result;
  }
  const auto compare_into = [&](ComparedPiece& into) {
    into.problem = read_pair(readers, *entry.a->value, entry.a->tensor, *entry.b->value, entry.b->tensor,
                             [&](Extent& a, Extent& b) {
                               into.comparer.clear();
                               compare(a, b, piece.part, into, common && !mean_otherwise(entry));
                             });
  };
  compare_into(result);
  if (!result.problem && !result.comparer.complete() && !result.comparer.equal_bytes()) {
    // The equal elements before the first difference count too.
    DifferenceOptions with_sums = options;
    with_sums.sums_of_equal = true;
    ComparedPiece again(piece, with_sums);
    compare_into(again);
    result = std::move(again);
  }
  return result;
}

std::optional<PairProblem> complete_sums(const Trial& a, const PairedEntry& entry, std::vector<ComparedPiece>& pieces) {
  std::vector<ComparedPiece*> left;
  for (ComparedPiece& piece : pieces) {
    if (!piece.comparer.complete()) {
      left.push_back(&piece);
    }
  }
  std::vector<std::optional<Problem>> problems(left.size());
  parallel_read(a, reading_loop(a, left.size(), {}), {}, [&](const LoopIndex& at, ValueReader& reader) {
    ComparedPiece& piece = *left[at.index];
    problems[at.index] = reader.read(*entry.a->value, entry.a->tensor, [&](Extent& value) {
      piece.comparer = Comparer();
      value.trust();  // it was verified before
      const PairPiece::Part part = piece.piece.part.value_or(PairPiece::Part{0, value.size()});
      const auto add = [&](std::span<const std::byte> bytes) {
        const auto count = static_cast<std::int64_t>(bytes.size() / item_size(value.dtype()));
        const TensorView equal(value.dtype(), {&count, 1}, bytes);
        piece.comparer.add(equal, equal);
      };
      (void)value.for_each_block(add, part.first, part.count);
    });
  });
  const auto trouble = std::ranges::find_if(problems, [](const auto& problem) { return problem.has_value(); });
  return trouble == problems.end() ? std::nullopt : std::optional(PairProblem{false, **trouble});
}

}  // namespace smd::tool::diff
