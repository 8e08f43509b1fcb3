// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <smd/difference.hpp>
#include <smd/dtype.hpp>
#include <smd/shape.hpp>
#include <smd/value_reader.hpp>
#include <string_view>
#include <vector>

#include "paired_steps.hpp"

namespace smd::tool::diff {

/// A reader of each trial.
struct PairReaders {
  ValueReader& a;
  ValueReader& b;
};

/// A problem with one value of a pair.
struct PairProblem {
  bool of_b = false;
  Problem problem;
};

/// Independent work on one pair of entries: large values are compared in parts, whose size does not depend on the
/// number of threads, so that the results do not either.
struct PairPiece {
  std::size_t entry = 0;  ///< Among those of a chunk.
  /// Some elements of both values; nullopt: all.
  struct Part {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  std::optional<Part> part;
  std::uint64_t bytes = 0;  ///< About how many are read.
  bool last = true;         ///< Whether it is the last one of its entry.
};

struct ComparedPiece {
  explicit ComparedPiece(const PairPiece& of, const DifferenceOptions& options) : piece(of), comparer(options) {}

  PairPiece piece;
  Comparer comparer;
  Shape shape;  ///< Of A's value.
  Shape shape_b;
  std::optional<Dtype> dtype;  ///< Of A's value.
  std::optional<Dtype> dtype_b;
  bool common = false;      ///< Of two shapes, the part that both have was compared.
  std::uint64_t alone = 0;  ///< Statistics that one trial lacks, or that are of two shapes.
  std::optional<PairProblem> problem;
};

/// The leading part along each axis that two shapes of one rank have in common.
[[nodiscard]] Shape common_shape(const Shape& a, const Shape& b);

/// What two entries have that can be compared.
enum class Common : std::uint8_t { values, statistics, shapes, nothing };

[[nodiscard]] Common common_of(const PairedEntry& entry) noexcept;

/// Returns what a value's elements mean beside their type; empty if nothing is known.
[[nodiscard]] std::string_view meaning_of(const TensorEntry& entry);
/// Whether the elements of two values mean different things, as quantised integers of two scales and indices of sparse
/// tensors of two sizes do: they are not compared. @pre Both trials have the entry.
[[nodiscard]] inline bool mean_otherwise(const PairedEntry& entry) {
  return meaning_of(*entry.a) != meaning_of(*entry.b);
}

/// Appends the pieces of an entry. @pre `common_of` is values or statistics.
void add_pieces(PairReaders readers, const PairedEntry& entry, std::size_t number, std::vector<PairPiece>& pieces);

/// Reads and compares a piece. Saved statistics are compared as elements, one after another by name; those in one trial
/// only differ. `common`: of shapes that differ in sizes only, the leading part that both have is compared.
[[nodiscard]] ComparedPiece compare_piece(PairReaders readers, const PairedEntry& entry, const PairPiece& piece,
                                          const DifferenceOptions& options, bool common);

/// Adds the sums that `sums_of_equal` left out for pieces whose bytes turned out equal: reads A's part of them again,
/// in parallel. Nullopt if all could be read.
[[nodiscard]] std::optional<PairProblem> complete_sums(const Trial& a, const PairedEntry& entry,
                                                       std::vector<ComparedPiece>& pieces);

}  // namespace smd::tool::diff
