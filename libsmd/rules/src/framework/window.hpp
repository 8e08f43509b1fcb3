// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/evaluated_trial.hpp"

#include <smd/evaluator.hpp>
#include <smd/problem.hpp>
#include <smd/reduction.hpp>
#include <smd/tensor_view.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace smd::detail::rules {

/// Numbered sets of reductions: hundreds of thousands of values share a few sets, so each value stores only a number.
/// Set 0 is empty.
class ReductionSets {
 public:
  using Id = std::uint32_t;

  /// Returns the set that also contains `reduction`. @throws InvalidArgument for a reduction that `Reducer` refuses.
  [[nodiscard]] Id with(Id set, const Reduction& reduction);
  [[nodiscard]] const std::vector<Reduction>& of(Id set) const noexcept { return sets_[set]; }
  /// Returns the position of a reduction in a set; the set's size if it is not in the set.
  [[nodiscard]] std::size_t place(Id set, const Reduction& reduction) const noexcept;

 private:
  std::vector<std::vector<Reduction>> sets_{{}};
};

/// What a record holds. Rules look at real numbers and skip all else. `quantised`: integers, which stand for numbers by
/// a known scale and zero point. `shape_alone`: the file has no elements, only a shape.
enum class Held : std::uint8_t { nothing, numbers, no_elements, shape_alone, complex_numbers, text, quantised };

/// One record that some rules need: what they need of it and, once it was read, the result.
struct Slot {
  const EvaluatedTrial* trial;
  SavedRow row;
  std::uint32_t position;  ///< Index of the record in its row.
  std::uint64_t bytes;     ///< Length of the record.
  bool value_wanted = false;
  bool keep = false;
  bool number_wanted = false;  ///< Wanted as one number: the record is a saved reduction,
  bool of_nothing = false;     ///< and by its saved shape the tensor has no elements.
  ReductionSets::Id reductions = 0;
  std::size_t numbers = 0;  ///< Position of the reductions' results in `Window::numbers_`.

  Held held = Held::nothing;
  bool have_value = false;
  TensorValue value = {};
  double number = 0;
  double wall_time = 0;
  bool timed = false;                    ///< `wall_time` is known, even if there is a problem with the elements.
  std::optional<Problem> problem = {};   ///< With the record, or with its elements if a rule wants them.
  std::optional<Problem> not_held = {};  ///< Why the value is not held in memory; its reductions may be there.
};

/// Values that rules may look back at. Drops the least recently used first.
class KeptValues {
 public:
  /// Trial, row and record: stays the same in later snapshots.
  using Key = std::tuple<std::size_t, decltype(std::declval<SavedRow>().id()), std::uint32_t>;
  struct Kept {
    TensorValue value;
    double wall_time = 0;
    Held held = Held::nothing;
  };

  explicit KeptValues(std::uint64_t most_bytes = std::uint64_t{256} << 20) noexcept : most_bytes_(most_bytes) {}

  [[nodiscard]] const Kept* find(const Key& key);
  void put(const Key& key, Kept kept);

 private:
  using Entries = std::list<std::pair<Key, Kept>>;

  std::uint64_t most_bytes_;
  Entries entries_;  // the most recently used first
  std::map<Key, Entries::iterator> places_;
  std::uint64_t bytes_ = 0;
};

/// The records needed for some successive steps, each once.
class Window {
 public:
  Window(ReductionSets& sets, KeptValues& kept) : sets_(sets), kept_(kept) {}

  void clear();
  /// Returns the slot of a record, and makes it if needed. Invalidates references to slots.
  [[nodiscard]] std::uint32_t slot(const EvaluatedTrial& trial, SavedRow row, std::uint32_t position);
  [[nodiscard]] Slot& operator[](std::uint32_t slot) noexcept { return slots_[slot]; }
  [[nodiscard]] const Slot& operator[](std::uint32_t slot) const noexcept { return slots_[slot]; }
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
  /// Returns the bytes of the values that will be held in memory.
  [[nodiscard]] std::uint64_t held_bytes() const noexcept { return held_bytes_; }
  void want_value(std::uint32_t slot, bool keep);
  void want_reduction(std::uint32_t slot, const Reduction& reduction);

  /// Reads all slots, those of one file together and in the order of the file.
  /// @throws ReadError of kind stopped: then some slots are empty although their records are not damaged.
  void read(unsigned jobs, ReadCounters& counters);
  /// Returns a computed reduction; nullopt if it was not wanted or could not be computed.
  [[nodiscard]] std::optional<double> number(const Slot& slot, const Reduction& reduction) const noexcept;
  /// Moves the values of slots with `keep` to the kept values.
  void keep_values();

 private:
  [[nodiscard]] bool may_hold(const Slot& slot, std::uint64_t bytes) noexcept;
  void take(Slot& slot, const Place& place, Extent& value, ValueReducer& reducer);
  void read_part(const EvaluatedTrial& trial, std::span<const std::uint32_t> slots, ValueReader& reader);
  void read_of(const EvaluatedTrial& trial, const std::vector<std::uint32_t>& slots, unsigned jobs,
               ReadCounters& counters);

  ReductionSets& sets_;
  KeptValues& kept_;
  std::vector<Slot> slots_;
  std::map<SavedRow, std::size_t> by_row_;  // index in `places_` of the row's first position
  std::vector<std::uint32_t> places_;       // by position in the row: 1 + slot; 0: none
  // The entry of `by_row_` used last; requests mostly repeat a row.
  std::optional<std::pair<SavedRow, std::size_t>> latest_;
  std::vector<double> numbers_;
  std::uint64_t held_bytes_ = 0;
  // Bytes of values whose elements repeat a few stored ones.
  std::atomic<std::uint64_t> repeated_bytes_ = 0;
};

}  // namespace smd::detail::rules
