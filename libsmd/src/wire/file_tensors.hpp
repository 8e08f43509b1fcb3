// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/place.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

/// The tensors of one file of a checkpoint.
namespace smd::detail::wire {

/// One tensor of a file. Its views are valid as long as its list.
struct FileTensor {
  std::string_view name;
  std::uint32_t type = 0;  ///< Entries with the same number have the same dtype, shape and strides.
  Dtype dtype = Dtype::float32;
  std::string_view unread_type;  ///< The type's name if elements of the type are not read; `dtype` is then unused.
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> strides;  ///< As in `ValueType`.
  std::uint64_t offset = 0;               ///< Of the elements in the file, which need not be aligned.
  std::uint64_t length = 0;               ///< In bytes, to the end of the last element.
  /// Type, shape and range agree, and the file holds the range. In a safetensors file, no other range overlaps it and
  /// the name is not repeated.
  bool sound = false;
  bool further = false;      ///< It is no part of the model, but of an optimizer, an average, ….
  bool part = false;         ///< It is one process's part of a larger tensor.
  bool scalar = false;       ///< It is a number that measures training, or tells how far it is.
  std::string_view meaning;  ///< As in `ValueType`.
  std::shared_ptr<const storage::ElementSource> source;  ///< The same.
};

/// Tensors in the order of their file. In compact form: 32 bytes for each, and its name.
class FileTensors {
 public:
  struct Position {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::uint32_t name = 0;  ///< Where it begins in `texts`.
    std::uint32_t name_bytes = 0;
    std::uint32_t type = 0;  ///< Index in `types`.
    bool sound = false;
    bool further = false;
    bool part = false;
    bool scalar = false;
  };
  struct Type {
    std::uint32_t first_size = 0;  ///< Index in `sizes`.
    std::uint32_t dimensions = 0;
    std::uint32_t unread = 0;  ///< Where the type's name begins in `texts`.
    std::uint32_t unread_bytes = 0;
    std::uint32_t meaning = 0;  ///< Where its text begins in `texts`.
    std::uint32_t meaning_bytes = 0;
    Dtype dtype = Dtype::float32;
    bool strided = false;      ///< The strides follow the sizes.
    std::uint32_t source = 0;  ///< Index in `sources`.
  };
  struct Columns {
    std::vector<Position> places;
    std::vector<Type> types;
    std::vector<std::int64_t> sizes;
    /// The first is that of all tensors whose type has none.
    std::vector<std::shared_ptr<const storage::ElementSource>> sources{1};
    std::shared_ptr<char[]> texts;
  };

  FileTensors() = default;
  explicit FileTensors(Columns columns) : columns_(std::move(columns)) {}

  [[nodiscard]] std::size_t size() const noexcept { return columns_.places.size(); }
  [[nodiscard]] bool empty() const noexcept { return columns_.places.empty(); }
  [[nodiscard]] FileTensor operator[](std::size_t i) const noexcept {
    const Position& place = columns_.places[i];
    const Type& type = columns_.types[place.type];
    const std::span<const std::int64_t> sizes = std::span(columns_.sizes).subspan(type.first_size);
    return {name(i),
            place.type,
            type.dtype,
            {columns_.texts.get() + type.unread, type.unread_bytes},
            sizes.first(type.dimensions),
            type.strided ? sizes.subspan(type.dimensions, type.dimensions) : std::span<const std::int64_t>(),
            place.offset,
            place.length,
            place.sound,
            place.further,
            place.part,
            place.scalar,
            {columns_.texts.get() + type.meaning, type.meaning_bytes},
            columns_.sources[type.source]};
  }
  [[nodiscard]] std::string_view name(std::size_t i) const noexcept {
    return {columns_.texts.get() + columns_.places[i].name, columns_.places[i].name_bytes};
  }
  /// `FileTensor::type` is below this.
  [[nodiscard]] std::size_t types() const noexcept { return columns_.types.size(); }
  /// The memory of all names. Null if there are no entries.
  [[nodiscard]] const std::shared_ptr<char[]>& texts() const noexcept { return columns_.texts; }

 private:
  Columns columns_;
};

/// Collects the tensors of a file.
class FileTensorsMaker {
 public:
  void reserve(std::size_t tensors, std::size_t name_bytes);
  /// Returns the number of a type, whose form is not used.
  [[nodiscard]] std::uint32_t type_of(const ValueType& type);
  /// Adds one; its name's place follows from `name`.
  void add(std::string_view name, FileTensors::Position where);
  void add(std::string_view name, const ValueType& type, FileTensors::Position where) {
    where.type = type_of(type);
    add(name, where);
  }
  [[nodiscard]] std::size_t size() const noexcept { return columns_.places.size(); }
  /// `source`: that of all tensors whose type has none, or null.
  [[nodiscard]] FileTensors make(std::shared_ptr<const storage::ElementSource> source) &&;

 private:
  [[nodiscard]] bool is(const FileTensors::Type& kept, const ValueType& type) const noexcept;
  std::uint32_t keep_text(std::string_view text);

  FileTensors::Columns columns_;
  std::array<std::uint32_t, 64> recent_{};  ///< Indexes in the types, by hash.
  std::vector<char> texts_;
};

}  // namespace smd::detail::wire
