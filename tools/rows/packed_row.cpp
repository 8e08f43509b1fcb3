// SPDX-License-Identifier: Apache-2.0
#include "rows/packed_row.hpp"

#include "cli/output_file.hpp"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace smd::tool {

namespace {

// Each cell: the index of its type in Cell::Value, then its content; texts and lists are preceded by their length.

/// Whether a type is a struct around what it borrows, its one member.
template <class Type>
inline constexpr bool borrows =
    is_alternative<Type, std::variant<ListCell, ShapeCell, NumeralCell, CurveCell, IndexCell>>;

template <class Plain>
void put(std::string& out, const Plain& value) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put(std::string& out, std::string_view text) {
  put(out, text.size());
  out += text;
}
void put(std::string& out, const std::string& text) { put(out, std::string_view(text)); }
template <class Item>
void put(std::string& out, std::span<const Item> items) {
  put(out, items.size());
  for (const Item& item : items) {
    put(out, item);
  }
}

void pack(std::string& out, const Cell& cell, bool json) {
  if (const auto* const own = std::get_if<JsonCell>(&cell.value())) {
    std::string text;
    if (json && own->write != nullptr) {
      OutputFile memory = OutputFile::memory();
      (*own->write)(memory);
      text = memory.take_text();
    }
    pack(out, text.empty() ? Cell() : Cell(NumeralCell{text}), json);  // a numeral appears in JSON unchanged
    return;
  }
  put(out, static_cast<std::uint8_t>(cell.value().index()));
  std::visit(
      [&out]<class Type>(const Type& value) {
        if constexpr (borrows<Type>) {
          const auto& [content] = value;
          put(out, content);
        } else if constexpr (!std::is_empty_v<Type>) {
          put(out, value);
        }
      },
      cell.value());
}

/// What is left of a packed row, and where lists go.
template <class Lists>
struct Reader {
  std::string_view packed;
  Lists& lists;

  template <class Plain>
  void get(Plain& value) {
    std::memcpy(&value, packed.data(), sizeof value);
    packed.remove_prefix(sizeof value);
  }
  void get(std::string_view& text) {
    std::size_t size = 0;
    get(size);
    text = packed.substr(0, size);
    packed.remove_prefix(size);
  }
  void get(std::string& text) {
    std::string_view borrowed;
    get(borrowed);
    text = borrowed;
  }
  template <class Item>
  void get(std::span<const Item>& items) {
    std::size_t size = 0;
    get(size);
    std::vector<Item>& kept = std::get<std::deque<std::vector<Item>>>(lists).emplace_back(size);
    for (Item& item : kept) {
      get(item);
    }
    items = kept;
  }
};

template <class Type, class Lists>
Cell read_cell(Reader<Lists>& from) {
  Type value{};
  if constexpr (borrows<Type>) {
    auto& [content] = value;
    from.get(content);
  } else if constexpr (!std::is_empty_v<Type>) {
    from.get(value);
  }
  return value;
}

template <class Lists, std::size_t... Indices>
Cell read_any(std::size_t index, Reader<Lists>& from, std::index_sequence<Indices...>) {
  constexpr std::array<Cell (*)(Reader<Lists>&), sizeof...(Indices)> reads = {
      read_cell<std::variant_alternative_t<Indices, Cell::Value>, Lists>...};
  return reads[index](from);
}

}  // namespace

std::string pack_row(std::span<const Cell> cells, bool json) {
  std::string out;
  for (const Cell& cell : cells) {
    pack(out, cell, json);
  }
  return out;
}

std::span<const Cell> UnpackedRow::cells(std::string_view packed) {
  cells_.clear();
  std::apply([](auto&... lists) { (lists.clear(), ...); }, lists_);
  Reader<decltype(lists_)> from{packed, lists_};
  while (!from.packed.empty()) {
    std::uint8_t index = 0;
    from.get(index);
    cells_.push_back(read_any(index, from, std::make_index_sequence<std::variant_size_v<Cell::Value>>()));
  }
  return cells_;
}

}  // namespace smd::tool
