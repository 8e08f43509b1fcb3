// SPDX-License-Identifier: Apache-2.0
#include "rows/packed_row.hpp"

#include "cli/output_file.hpp"

#include <cstring>
#include <type_traits>

namespace smd::tool {

namespace {

// Each cell: the index of its type in Cell::Value, then its content; texts and lists are preceded by their length.

template <class Plain>
void put(std::string& out, const Plain& value) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& out, std::string_view text) {
  put(out, text.size());
  out += text;
}

template <class Type, std::size_t Index = 0>
constexpr std::uint8_t place_of() {
  if constexpr (std::is_same_v<std::variant_alternative_t<Index, Cell::Value>, Type>) {
    return Index;
  } else {
    return place_of<Type, Index + 1>();
  }
}

struct Packer {
  std::string& out;
  bool json;

  void operator()(std::string_view text) const { tagged_text<std::string_view>(text); }
  void operator()(NumeralCell numeral) const { tagged_text<NumeralCell>(numeral.text); }
  void operator()(JsonCell cell) const {
    if (!json || cell.write == nullptr) {
      put(out, place_of<Missing>());
      return;
    }
    OutputFile memory = OutputFile::memory();
    (*cell.write)(memory);
    std::string text;
    memory.take_text(text);
    tagged_text<NumeralCell>(text);  // appears in JSON unchanged
  }
  void operator()(ListCell list) const {
    put(out, place_of<ListCell>());
    put(out, list.items.size());
    for (const std::string& item : list.items) {
      put_text(out, item);
    }
  }
  void operator()(ShapeCell shape) const { tagged_numbers<ShapeCell>(shape.sizes); }
  void operator()(IndexCell index) const { tagged_numbers<IndexCell>(index.places); }
  void operator()(CurveCell curve) const { tagged_numbers<CurveCell>(curve.numbers); }
  template <class Plain>
  void operator()(const Plain& value) const {
    put(out, place_of<Plain>());
    if constexpr (!std::is_empty_v<Plain>) {
      put(out, value);
    }
  }

 private:
  template <class Type, class Number>
  void tagged_numbers(std::span<const Number> numbers) const {
    put(out, place_of<Type>());
    put(out, numbers.size());
    for (const Number number : numbers) {
      put(out, number);
    }
  }
  template <class Type>
  void tagged_text(std::string_view text) const {
    put(out, place_of<Type>());
    put_text(out, text);
  }
};

class Reader {
 public:
  explicit Reader(std::string_view packed) : packed_(packed) {}

  [[nodiscard]] bool more() const noexcept { return !packed_.empty(); }
  template <class Plain>
  Plain get() {
    Plain value;
    std::memcpy(&value, packed_.data(), sizeof value);
    packed_.remove_prefix(sizeof value);
    return value;
  }
  template <class Number>
  const std::vector<Number>& numbers(std::deque<std::vector<Number>>& keep) {
    std::vector<Number>& all = keep.emplace_back(get<std::size_t>());
    for (Number& number : all) {
      number = get<Number>();
    }
    return all;
  }
  std::string_view text() {
    const auto size = get<std::size_t>();
    const std::string_view text = packed_.substr(0, size);
    packed_.remove_prefix(size);
    return text;
  }

 private:
  std::string_view packed_;
};

template <std::size_t Index = 0>
Cell read_plain(std::size_t place, Reader& from) {
  if constexpr (Index == std::variant_size_v<Cell::Value>) {
    return {};
  } else {
    using Type = std::variant_alternative_t<Index, Cell::Value>;
    if constexpr (!std::is_empty_v<Type> && std::is_trivially_copyable_v<Type>) {
      if (place == Index) {
        return Cell(from.get<Type>());
      }
    }
    return read_plain<Index + 1>(place, from);
  }
}

}  // namespace

std::string pack_row(std::span<const Cell> cells, bool json) {
  std::string out;
  for (const Cell& cell : cells) {
    std::visit(Packer{out, json}, cell.value());
  }
  return out;
}

std::span<const Cell> UnpackedRow::cells(std::string_view packed) {
  cells_.clear();
  lists_.clear();
  shapes_.clear();
  curves_.clear();
  Reader from(packed);
  while (from.more()) {
    const auto place = from.get<std::uint8_t>();
    if (place == place_of<Missing>()) {
      cells_.emplace_back();
    } else if (place == place_of<std::string_view>()) {
      cells_.emplace_back(from.text());
    } else if (place == place_of<NumeralCell>()) {
      cells_.emplace_back(NumeralCell{from.text()});
    } else if (place == place_of<ListCell>()) {
      std::vector<std::string>& items = lists_.emplace_back(from.get<std::size_t>());
      for (std::string& item : items) {
        item = from.text();
      }
      cells_.emplace_back(ListCell{items});
    } else if (place == place_of<ShapeCell>()) {
      cells_.emplace_back(ShapeCell{from.numbers(shapes_)});
    } else if (place == place_of<IndexCell>()) {
      cells_.emplace_back(IndexCell{from.numbers(shapes_)});
    } else if (place == place_of<CurveCell>()) {
      cells_.emplace_back(CurveCell{from.numbers(curves_)});
    } else {
      cells_.push_back(read_plain(place, from));
    }
  }
  return cells_;
}

}  // namespace smd::tool
