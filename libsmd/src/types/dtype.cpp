// SPDX-License-Identifier: Apache-2.0
#include <smd/dtype.hpp>

#include "types/dtype_table.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace smd {

namespace {

using detail::dtype_table;
using detail::DtypeFacts;
using detail::ElementKind;

constexpr DtypeFacts unknown{Dtype{}, "unknown", 0, ElementKind::string, Dtype{}};

// For each number, the row in the table, counted from 1; 0 if there is none.
constexpr std::array<std::uint8_t, 256> rows_by_number() {
  std::array<std::uint8_t, 256> rows{};
  for (std::size_t i = 0; i < std::size(dtype_table); ++i) {
    rows[static_cast<std::size_t>(dtype_table[i].dtype)] = static_cast<std::uint8_t>(i + 1);
  }
  return rows;
}
constexpr auto row_of = rows_by_number();

constexpr std::array<Dtype, std::size(dtype_table)> all_numbers() {
  std::array<Dtype, std::size(dtype_table)> all{};
  std::ranges::transform(dtype_table, all.begin(), &DtypeFacts::dtype);
  return all;
}
constexpr auto dtypes = all_numbers();
static_assert(std::ranges::is_sorted(dtypes));

constexpr const DtypeFacts& facts_of(Dtype dtype) noexcept {
  const std::uint8_t row = row_of[static_cast<std::size_t>(dtype)];
  return row == 0 ? unknown : dtype_table[row - 1];
}

}  // namespace

std::span<const Dtype> all_dtypes() noexcept { return dtypes; }

std::optional<Dtype> dtype_from_name(std::string_view name) noexcept {
  const auto* const facts = std::ranges::find(dtype_table, name, &DtypeFacts::name);
  return facts == std::end(dtype_table) ? std::nullopt : std::optional(facts->dtype);
}

std::string_view to_string(Dtype dtype) noexcept { return facts_of(dtype).name; }

std::size_t item_size(Dtype dtype) noexcept { return facts_of(dtype).item_size; }

bool is_real(Dtype dtype) noexcept {
  const ElementKind kind = facts_of(dtype).kind;
  return kind != ElementKind::string && kind != ElementKind::complex;
}

bool is_floating(Dtype dtype) noexcept { return facts_of(dtype).kind == ElementKind::floating; }

bool is_complex(Dtype dtype) noexcept { return facts_of(dtype).kind == ElementKind::complex; }

char numpy_kind(Dtype dtype) noexcept { return static_cast<char>(facts_of(dtype).kind); }

Dtype storage_type(Dtype dtype) noexcept {
  const DtypeFacts& facts = facts_of(dtype);
  return &facts == &unknown ? dtype : facts.storage;
}

}  // namespace smd
