// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "layout/payload.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace smd::detail::layout {

/// Makes rows of values in the order of their arrival. A row has values of one file at one step. Writers repeat
/// themselves: lists of names and of types that were there before are shared.
class RowWriter {
 public:
  /// `next_id`: the id of the next row.
  explicit RowWriter(LoadedSteps& loaded, std::uint64_t next_id);

  [[nodiscard]] Tables& tables() noexcept { return tables_; }
  /// What follows is of this file.
  void begin_file(std::uint32_t path, std::uint32_t worker);
  /// What follows is of this step.
  void begin_values(std::int64_t step) {
    if (step != step_) {
      end_row();
      step_ = step;
    }
  }
  /// The row that takes the next entry.
  [[nodiscard]] std::uint64_t row() const noexcept { return row_; }
  /// Adds an entry: a record's place, or a number's bits and the bits of its wall time.
  void add(std::uint32_t name, PlaceKind kind, Dtype dtype, std::uint64_t start, std::uint64_t length);
  /// The next entry begins another row.
  void end_row();
  /// Ends the last row, and puts all in the listing's order.
  void finish(const Listing& listing);

 private:
  /// What tells the type of an entry: all of them are scalars or records.
  using TypeCode = std::uint16_t;

  std::uint32_t list_of_names();
  std::uint32_t list_of_types();

  LoadedSteps& loaded_;
  Tables& tables_;
  std::uint64_t row_;
  std::int64_t step_ = 0;
  std::uint32_t path_ = no_id;
  std::uint32_t worker_ = 0;
  std::vector<std::uint32_t> names_;
  std::vector<TypeCode> types_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> lengths_;
  std::uint32_t last_names_ = no_id;
  std::uint32_t last_types_ = no_id;
  std::vector<std::vector<TypeCode>> type_codes_;  // by id in `Tables::type_lists`
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_names_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_types_;
};

}  // namespace smd::detail::layout
