// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sorted_chunks.hpp"
#include "layout/layout.hpp"
#include "layout/name_table.hpp"
#include "layout/payload.hpp"

#include <smd/dtype.hpp>
#include <smd/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// The steps and tensors of a trial, and the queries over them.
namespace smd::detail::trial {

using layout::no_id;

/// One entry of a payload. Its position is the index in the payload's columns.
using Item = SavedItem;

/// A list of stored names, and the tensors and reductions that they denote.
struct ItemList {
  std::vector<std::uint32_t> names;  ///< Global ids of stored names, as listed; identify the list.
  std::vector<Item> items;           ///< By tensor, the value before reductions; each once.

  [[nodiscard]] std::span<const Item> of(std::uint32_t tensor) const noexcept;
};

/// The shapes of one payload that were saved without their tensors: by tensor, each once.
struct ShapeList {
  struct Saved {
    std::uint32_t tensor = 0;
    std::uint32_t original = no_id;  ///< Id in `Catalog::originals`.
    Shape shape;

    bool operator==(const Saved&) const = default;
  };
  std::vector<Saved> shapes;

  /// Null if no shape of the tensor was saved.
  [[nodiscard]] const Saved* of(std::uint32_t tensor) const noexcept;
};

/// Returns whether of a value only type and shape are known: the file has no elements. `length`: its bytes there. Files
/// may also name a type as the library does, and have elements of it that are not read.
[[nodiscard]] inline bool is_shape_alone(const ValueType& type, std::uint64_t length) noexcept {
  return length == 0 && !type.unread_type.empty() && dtype_from_name(type.unread_type).has_value();
}

/// The entries of all rows, in compact columns (ids, 4 and 8 byte numbers). Has value semantics; copies share the
/// columns.
class Catalog {
 public:
  Catalog();

  /// The added rows, with ids of this catalog.
  struct Added {
    std::vector<layout::RowSequence> rows;          ///< Those with entries, in the order loaded.
    std::vector<layout::Supersession> superseding;  ///< Their names are tensors' ids.
  };
  /// Adds loaded steps. Other threads may read copies meanwhile, but not add to them.
  [[nodiscard]] Added add(layout::LoadedSteps&& loaded);
  /// Returns a row like `row` with only the entries at `positions`. Precondition: `positions` is ascending and not
  /// empty.
  [[nodiscard]] layout::StepRow part_of(const layout::StepRow& row, std::span<const std::uint32_t> positions);
  /// For a file that was read again: reduces its row to the entries that its rows among `known` lack, or have at
  /// another place. Returns false if there are none. Leaves the row as it is if `known` has no row of the file.
  bool keep_changes(layout::StepRow& row, std::span<const layout::StepRow> known);

  [[nodiscard]] layout::Payload payload(const layout::StepRow& row) const noexcept {
    return row.index == 0 ? payloads_[row.payload] : payloads_[row.payload].of_row(row.index);
  }
  [[nodiscard]] const ItemList& items(const layout::StepRow& row) const noexcept {
    return *lists_[payloads_[row.payload].names];
  }
  [[nodiscard]] const ShapeList& shapes(const layout::StepRow& row) const noexcept {
    static const ShapeList none;
    const std::uint32_t id = payloads_[row.payload].shapes;
    return id == no_id ? none : *shapes_[id];
  }
  [[nodiscard]] const ValueType& type(const layout::Payload& payload, std::uint32_t position) const noexcept {
    static const ValueType whole_record;
    return payload.types == no_id ? whole_record : (*types_[payload.types])[position];
  }
  /// Returns the types of a payload's entries. Precondition: they are not all whole records.
  [[nodiscard]] const std::shared_ptr<const layout::TypeList>& types(const layout::Payload& payload) const noexcept {
    return types_[payload.types];
  }
  /// Returns the bytes that an entry takes in its file; of a number, the size of its element.
  [[nodiscard]] std::uint64_t bytes(const layout::Payload& payload, std::uint32_t position) const noexcept {
    const ValueType& of = type(payload, position);
    return of.form == ValueForm::number ? item_size(of.dtype) : payload.length(position);
  }
  [[nodiscard]] const layout::NameTable& tensors() const noexcept { return *tensors_; }
  [[nodiscard]] const layout::NameTable& reductions() const noexcept { return *reductions_; }
  [[nodiscard]] const layout::NameTable& originals() const noexcept { return *originals_; }
  /// Returns the layout's names, by the ids in `ItemList::names`: the tags of records.
  [[nodiscard]] const layout::NameTable& stored_names() const noexcept { return *stored_; }
  [[nodiscard]] const layout::NameTable& paths() const noexcept { return *paths_; }
  /// Returns tensor ids in the byte order of names.
  [[nodiscard]] const std::vector<std::uint32_t>& sorted_tensors() const { return order().sorted; }
  /// Returns positions in `sorted_tensors`, by tensor id.
  [[nodiscard]] const std::vector<std::uint32_t>& tensor_rank() const { return order().rank; }

  [[nodiscard]] std::size_t item_lists() const noexcept { return lists_.size(); }
  [[nodiscard]] std::uint32_t item_list_id(const layout::StepRow& row) const noexcept {
    return payloads_[row.payload].names;
  }

 private:
  class Merger;
  struct KnownLists;
  /// Made on first access: of many tensors it takes longer than opening a trial.
  struct TensorOrder {
    std::once_flag once;
    std::vector<std::uint32_t> sorted;
    std::vector<std::uint32_t> rank;
  };

  [[nodiscard]] const TensorOrder& order() const;

  std::shared_ptr<const layout::NameTable> tensors_ = std::make_shared<layout::NameTable>();
  std::shared_ptr<const layout::NameTable> reductions_ = std::make_shared<layout::NameTable>();
  std::shared_ptr<const layout::NameTable> originals_ = std::make_shared<layout::NameTable>();
  std::shared_ptr<const layout::NameTable> paths_ = std::make_shared<layout::NameTable>();
  std::shared_ptr<TensorOrder> order_ = std::make_shared<TensorOrder>();                     // of `tensors_`
  std::shared_ptr<const layout::NameTable> stored_ = std::make_shared<layout::NameTable>();  // the layout's names
  GrowingColumn<std::shared_ptr<const ItemList>> lists_;
  GrowingColumn<std::shared_ptr<const ShapeList>> shapes_;
  GrowingColumn<std::shared_ptr<const layout::TypeList>> types_;
  GrowingColumn<std::shared_ptr<const layout::PayloadArena>> arenas_;
  GrowingColumn<layout::Payload> payloads_;
  std::shared_ptr<KnownLists> known_;  // shared by all copies; may have lists that this copy does not
};

}  // namespace smd::detail::trial
