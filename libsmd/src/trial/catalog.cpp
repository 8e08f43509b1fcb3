// SPDX-License-Identifier: Apache-2.0
#include "trial/catalog.hpp"

#include "text/mapped.hpp"

#include <boost/sort/spinsort/spinsort.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace smd::detail::trial {

using layout::LengthForm;
using layout::LoadedSteps;
using layout::NameTable;
using layout::StepRow;

namespace {

/// Ids of lists, by their hashes.
using IdsByHash = std::unordered_multimap<std::uint64_t, std::uint32_t>;

/// A name table that is copied only when a new name is added.
class GrowingTable {
 public:
  explicit GrowingTable(std::shared_ptr<const NameTable>& table) : table_(table) {}
  ~GrowingTable() {
    if (own_) {
      table_ = std::move(own_);
    }
  }
  GrowingTable(const GrowingTable&) = delete;
  GrowingTable& operator=(const GrowingTable&) = delete;

  std::uint32_t add(std::string_view text) {
    if (!own_) {
      if (const std::uint32_t id = table_->find(text); id != no_id) {
        return id;
      }
      own_ = std::make_shared<NameTable>(*table_);
    }
    return own_->add(text);
  }
  /// Replaces the table, including its ids.
  void adopt(std::shared_ptr<const NameTable> whole) {
    own_.reset();
    table_ = std::move(whole);
  }
  [[nodiscard]] const NameTable& operator*() const noexcept { return own_ ? *own_ : *table_; }
  /// Returns the table without the names that were added here.
  [[nodiscard]] std::shared_ptr<const NameTable> whole() const noexcept { return table_; }

 private:
  std::shared_ptr<const NameTable>& table_;
  std::shared_ptr<NameTable> own_;
};

std::uint64_t hash_shapes(const std::vector<ShapeList::Saved>& shapes) noexcept {
  layout::Fnv hash;
  for (const ShapeList::Saved& saved : shapes) {
    hash.add(saved.tensor);
    hash.add(saved.shape);
  }
  return hash.value;
}

std::uint64_t hash_types(const layout::TypeList& types) noexcept {
  layout::Fnv hash;
  for (std::size_t i = 0; i < types.size(); ++i) {
    hash.add(types[i]);
  }
  return hash.value;
}

}  // namespace

std::span<const Item> ItemList::of(std::uint32_t tensor) const noexcept {
  const auto [first, last] = std::equal_range(items.begin(), items.end(), Item{tensor, 0, 0},
                                              [](const Item& a, const Item& b) { return a.tensor < b.tensor; });
  return {first, last};
}

const ShapeList::Saved* ShapeList::of(std::uint32_t tensor) const noexcept {
  const auto it = std::ranges::lower_bound(shapes, tensor, {}, &Saved::tensor);
  return it != shapes.end() && it->tensor == tensor ? &*it : nullptr;
}

struct Catalog::KnownLists {
  IdsByHash lists;
  IdsByHash shapes;
  IdsByHash types;
};

Catalog::Catalog() : known_(std::make_shared<KnownLists>()) {}

/// Moves the tables of several parsers into one catalog: names get global ids, and equal lists become one.
class Catalog::Merger {
 public:
  explicit Merger(Catalog& catalog) : catalog_(catalog) {}

  /// Global ids by the tables' local ids; of tensors only those that `superseding` names.
  struct Translation {
    std::vector<std::uint32_t> payloads;
    std::vector<std::uint32_t> paths;
    std::unordered_map<std::uint32_t, std::uint32_t> tensors;
  };
  Translation merge(layout::Tables&& tables, std::span<const layout::Supersession> superseding, std::uint32_t id) {
    const bool adopted = adopt_names(tables);
    const std::shared_ptr<const NameTable> whole = stored_.whole();
    const NameTable& names = adopted ? *whole : tables.names;
    const std::vector<std::uint32_t> lists = mapped(tables.name_lists, [&](layout::NameList& list) {
      return intern(adopted ? std::move(list)
                            : mapped(list, [&](std::uint32_t name) { return stored_.add(names[name]); }));
    });
    const std::vector<std::uint32_t> shapes =
        mapped(tables.shape_lists, [&](const auto& list) { return merge_shapes(list, names); });
    const std::vector<std::uint32_t> types =
        mapped(tables.type_lists, [&](layout::TypeList& list) { return intern(std::move(list)); });
    Translation to;
    to.payloads.reserve(tables.payloads.size());
    for (layout::Payload payload : tables.payloads) {
      payload.names = lists[payload.names];
      payload.shapes = payload.shapes == no_id ? no_id : shapes[payload.shapes];
      payload.types = payload.types == no_id ? no_id : types[payload.types];
      to.payloads.push_back(static_cast<std::uint32_t>(catalog_.payloads_.size()));
      catalog_.payloads_.push_back(payload);
    }
    for (std::uint32_t path = 0; path < tables.paths.size(); ++path) {
      to.paths.push_back(paths_.add(tables.paths[path]));
    }
    for (const layout::Supersession& later : superseding) {
      if (later.tables == id && !to.tensors.contains(later.name)) {
        to.tensors.emplace(later.name, tensors_.add(names[later.name]));
      }
    }
    if (!tables.arena.empty()) {
      catalog_.arenas_.push_back(std::make_shared<layout::PayloadArena>(std::move(tables.arena)));
    }
    return to;
  }

  /// Returns the id of the list of these stored names; adds it if it is new.
  std::uint32_t intern(std::vector<std::uint32_t> stored) {
    auto merged = std::make_shared<ItemList>();
    merged->names = std::move(stored);
    return known_or_added(
        catalog_.lists_, catalog_.known_->lists, layout::Fnv::of(merged->names),
        [&](const ItemList& known) { return known.names == merged->names; },
        [&] { return with_items(std::move(merged)); });
  }

  /// Returns the id of the list of these types; adds it if it is new.
  std::uint32_t intern(layout::TypeList&& list) {
    return known_or_added(
        catalog_.types_, catalog_.known_->types, hash_types(list),
        [&](const layout::TypeList& known) { return known == list; },
        [&] { return std::make_shared<const layout::TypeList>(std::move(list)); });
  }

 private:
  /// Returns the id of the list that is `same`. Adds what `make()` returns if no list is.
  template <class List, class Same, class Make>
  static std::uint32_t known_or_added(GrowingColumn<std::shared_ptr<const List>>& lists, IdsByHash& known,
                                      std::uint64_t hash, const Same& same, const Make& make) {
    const auto [first, last] = known.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      if (it->second < lists.size() && same(*lists[it->second])) {
        return it->second;
      }
    }
    const auto id = static_cast<std::uint32_t>(lists.size());
    lists.push_back(make());
    known.emplace(hash, id);
    return id;
  }

  /// Makes the items of a list of names.
  std::shared_ptr<const ItemList> with_items(std::shared_ptr<ItemList> merged) {
    merged->items.reserve(merged->names.size());
    for (std::uint32_t position = 0; position < merged->names.size(); ++position) {
      const layout::StoredName name = layout::parse_stored_name((*stored_)[merged->names[position]]);
      merged->items.push_back({one_table_ ? merged->names[position] : tensors_.add(name.tensor),
                               name.reduction ? reductions_.add(*name.reduction) : no_id, position});
    }
    // By tensor; the value (no_id wraps to 0) before reductions; the last of repeated names first, so that it is kept.
    const auto before = [](const Item& a, const Item& b) {
      return std::tuple(a.tensor, a.reduction + 1, b.position) < std::tuple(b.tensor, b.reduction + 1, a.position);
    };
    sort_if_needed(merged->items, before);
    merged->items.erase(
        std::unique(merged->items.begin(), merged->items.end(),
                    [](const Item& a, const Item& b) { return a.tensor == b.tensor && a.reduction == b.reduction; }),
        merged->items.end());
    return merged;
  }

  /// Makes the names of the first tables those of the catalog, so that no name is looked up. If all of them are
  /// tensors' own names and are listed, tensors get the same ids. Returns false if the catalog has names already.
  bool adopt_names(layout::Tables& tables) {
    if ((*stored_).size() > 0) {
      one_table_ = false;
      return false;
    }
    const auto whole = std::make_shared<const NameTable>(std::move(tables.names));
    stored_.adopt(whole);
    const NameTable& names = *whole;
    std::vector<bool> listed(names.size());
    std::size_t tensors = 0;
    for (const layout::NameList& list : tables.name_lists) {
      for (const std::uint32_t name : list) {
        const bool tensor = !listed[name] && !layout::parse_stored_name(names[name]).reduction;
        tensors += tensor ? std::size_t{1} : std::size_t{0};
        listed[name] = true;
      }
    }
    one_table_ = tensors == names.size() && tables.shape_lists.empty() && (*tensors_).size() == 0;
    if (one_table_) {
      tensors_.adopt(whole);
    }
    return true;
  }

  std::uint32_t merge_shapes(const std::vector<layout::SavedShape>& list, const NameTable& names) {
    auto merged = std::make_shared<ShapeList>();
    for (const layout::SavedShape& saved : list) {
      merged->shapes.push_back({tensors_.add(names[saved.name]),
                                saved.original == no_id ? no_id : originals_.add(names[saved.original]), saved.shape});
    }
    std::ranges::reverse(merged->shapes);  // the last of repeated names counts
    std::ranges::stable_sort(merged->shapes, {}, &ShapeList::Saved::tensor);
    merged->shapes.erase(std::unique(merged->shapes.begin(), merged->shapes.end(),
                                     [](const auto& a, const auto& b) { return a.tensor == b.tensor; }),
                         merged->shapes.end());
    return known_or_added(
        catalog_.shapes_, catalog_.known_->shapes, hash_shapes(merged->shapes),
        [&](const ShapeList& known) { return known.shapes == merged->shapes; }, [&] { return merged; });
  }

  Catalog& catalog_;
  GrowingTable tensors_{catalog_.tensors_};
  GrowingTable reductions_{catalog_.reductions_};
  GrowingTable originals_{catalog_.originals_};
  GrowingTable paths_{catalog_.paths_};
  GrowingTable stored_{catalog_.stored_};
  bool one_table_ = false;  // ids of stored names are those of tensors
};

Catalog::Added Catalog::add(LoadedSteps&& loaded) {
  Added added;
  std::vector<layout::RowSequence>& rows = added.rows;
  const std::uint32_t tensors_before = tensors_->size();
  {
    Merger merger(*this);
    std::vector<Merger::Translation> translations;
    translations.reserve(loaded.tables.size());
    for (layout::Tables& tables : loaded.tables) {
      const auto id = static_cast<std::uint32_t>(translations.size());
      translations.push_back(merger.merge(std::move(tables), loaded.supersessions, id));
    }
    rows = std::move(loaded.rows);
    std::erase_if(rows, [](const layout::RowSequence& of) { return of.row.payload == no_id; });  // without entries
    for (layout::RowSequence& sequence : rows) {
      const Merger::Translation& to = translations[sequence.tables];
      sequence.row.payload = to.payloads[sequence.row.payload];
      if (sequence.row.event_file != no_id) {
        sequence.row.event_file = to.paths[sequence.row.event_file];
      }
    }
    added.superseding = std::move(loaded.supersessions);
    for (layout::Supersession& later : added.superseding) {
      later.name = translations[later.tables].tensors.at(later.name);
    }
  }
  if (tensors_->size() != tensors_before) {
    order_ = std::make_shared<TensorOrder>();
  }
  return added;
}

const Catalog::TensorOrder& Catalog::order() const {
  std::call_once(order_->once, [&] {
    std::vector<std::uint32_t>& sorted = order_->sorted;
    sorted.resize(tensors_->size());
    std::iota(sorted.begin(), sorted.end(), 0u);
    boost::sort::spinsort(sorted.begin(), sorted.end(),
                          [&](std::uint32_t a, std::uint32_t b) { return (*tensors_)[a] < (*tensors_)[b]; });
    order_->rank = places_in(sorted);
  });
  return *order_;
}

StepRow Catalog::part_of(const StepRow& row, std::span<const std::uint32_t> positions) {
  layout::Payload part = payload(row);
  const std::vector<std::uint32_t>& names = items(row).names;
  std::vector<std::uint32_t> kept_names;
  layout::TypeList kept_types;
  std::vector<std::uint64_t> starts;
  std::vector<std::uint64_t> lengths;
  for (const std::uint32_t position : positions) {
    kept_names.push_back(names[position]);
    kept_types.push_back(type(part, position));
    starts.push_back(part.start(position));
    lengths.push_back(part.length(position));
  }
  layout::PayloadArena arena;
  part.starts = arena.keep(starts, part.wide);
  part.length_form = part.length_form == LengthForm::narrow ? LengthForm::narrow : LengthForm::wide;
  part.lengths = arena.keep(lengths, part.length_form == LengthForm::wide);
  part.count = static_cast<std::uint32_t>(positions.size());
  {
    Merger merger(*this);
    part.names = merger.intern(std::move(kept_names));
    part.types = part.types == no_id ? no_id : merger.intern(std::move(kept_types));
  }
  arenas_.push_back(std::make_shared<layout::PayloadArena>(std::move(arena)));
  StepRow result = row;
  result.index = 0;
  result.payload = static_cast<std::uint32_t>(payloads_.size());
  payloads_.push_back(part);
  return result;
}

bool Catalog::keep_changes(StepRow& row, std::span<const StepRow> known) {
  if (std::ranges::find(known, row.file, &StepRow::file) == known.end()) {
    return true;
  }
  const layout::Payload own = payload(row);
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> places;  // by name
  bool same_shapes = false;
  for (const StepRow& other : known) {
    if (other.file == row.file && other.event_file == row.event_file) {
      const layout::Payload there = payload(other);
      same_shapes = own.shapes == no_id || there.shapes == own.shapes;
      for (std::uint32_t i = 0; i < there.count; ++i) {
        places[items(other).names[i]] = {there.start(i), there.length(i)};
      }
    }
  }
  std::vector<std::uint32_t> changed;
  for (std::uint32_t i = 0; i < own.count; ++i) {
    const auto place = places.find(items(row).names[i]);
    if (place == places.end() || place->second != std::pair(own.start(i), own.length(i))) {
      changed.push_back(i);
    }
  }
  if (changed.empty() && same_shapes) {
    return false;
  }
  if (changed.size() < own.count && own.shapes == no_id) {
    row = part_of(row, changed);
  }
  return true;
}

}  // namespace smd::detail::trial
