// SPDX-License-Identifier: Apache-2.0
#include "pytorch/describe.hpp"

#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/repeated.hpp"
#include "text/words.hpp"

#include <smd/elements.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace smd::detail::pytorch {

namespace {

/// Names of an element type elsewhere: of PyTorch's storage classes, without `Storage`, and NumPy's codes.
struct TypeName {
  std::string_view name;
  std::string_view dtype;
};

// clang-format off
constexpr TypeName storage_classes[] = {
    {"Double", "float64"}, {"Float", "float32"}, {"Half", "float16"}, {"BFloat16", "bfloat16"},
    {"Long", "int64"}, {"Int", "int32"}, {"Short", "int16"}, {"Char", "int8"}, {"Byte", "uint8"}, {"Bool", "bool"},
    {"ComplexDouble", "complex128"}, {"ComplexFloat", "complex64"},
    {"QInt8", "qint8"}, {"QUInt8", "quint8"}, {"QInt32", "qint32"},
    {"QUInt4x2", "quint4x2"}, {"QUInt2x4", "quint2x4"}, {"Untyped", ""},
};
constexpr TypeName numpy_codes[] = {
    {"b1", "bool"}, {"i1", "int8"}, {"i2", "int16"}, {"i4", "int32"}, {"i8", "int64"},
    {"u1", "uint8"}, {"u2", "uint16"}, {"u4", "uint32"}, {"u8", "uint64"},
    {"f2", "float16"}, {"f4", "float32"}, {"f8", "float64"}, {"c8", "complex64"}, {"c16", "complex128"},
    // Listed only; so is `void`, which has any size.
    {"f12", "float96"}, {"f16", "float128"}, {"c24", "complex192"}, {"c32", "complex256"},
    {"M8", "datetime64"}, {"m8", "timedelta64"},
};
// clang-format on

/// Keys under which programs put the model; the first that has a tensor.
constexpr std::string_view roots[] = {"state_dict", "model_state_dict", "model",     "module", "net",
                                      "network",    "params",           "generator", "weights"};
/// Keys that tell the step; the first that does.
constexpr std::string_view step_keys[] = {"global_step", "step", "iter_num", "iteration", "iter"};
constexpr std::string_view measure_words[] = {"loss", "acc", "accuracy", "score", "metric", "best", "fitness"};
constexpr std::string_view epoch_key = "epoch";
/// How archives and streams begin, these also as a text that stands for bytes.
constexpr std::string_view torch_magics[] = {"PK\3\4", "\x80\2\x8A\nl\xFC\x9C\x46",
                                             "\xC2\x80\2\xC2\x8A\nl\xC3\xBC\xC2\x9C\x46"};

std::optional<std::string_view> dtype_in(std::span<const TypeName> types, std::string_view name) {
  const auto found = std::ranges::find(types, name, &TypeName::name);
  return found == types.end() ? std::nullopt : std::optional(found->dtype);
}

/// Returns the name of the class or dtype that a Global is.
std::string_view class_name(const Pickle& pickle, Ref value) {
  const GlobalName* const global = pickle.global(value);
  return global == nullptr ? std::string_view() : std::string_view(global->name).substr(global->name.rfind('.') + 1);
}

std::optional<std::uint64_t> natural(const Pickle& pickle, Ref value) noexcept {
  const auto number = pickle.integer(value);
  return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

}  // namespace

std::optional<Dtype> torch_dtype(std::string_view name) noexcept {
  const auto dtype = dtype_from_name(name);
  return dtype != Dtype::string ? dtype : std::nullopt;
}

std::optional<StorageFacts> storage_facts(const Pickle& pickle, Ref value) {
  constexpr std::string_view ending = "Storage";
  constexpr std::uint64_t most = std::uint64_t{1} << 58;  // larger than any file, and sums do not overflow
  const auto [tag, type, key, location, count, view, end, behind] = pickle.first_items(pickle.identity(value));
  const std::string_view name = class_name(pickle, type);
  const auto dtype =
      name.ends_with(ending) ? dtype_in(storage_classes, name.substr(0, name.size() - ending.size())) : std::nullopt;
  const auto numel = natural(pickle, count);
  if (pickle.text(tag) != "storage" || !dtype || !numel || *numel > most) {
    return std::nullopt;
  }
  const auto known = torch_dtype(*dtype);
  const std::uint64_t item = known ? item_size(*known) : 1;
  StorageFacts facts = {pickle.text(key), *dtype, *numel, *numel * item, 0, *numel * item};
  if (view != Pickle::nothing && pickle.kind(view) != Kind::none) {
    const Pickle::First part = pickle.first_items(view);
    const auto begin = natural(pickle, part[1]);
    const auto size = natural(pickle, part[2]);
    if (!begin || !size || *begin > *numel || *size > *numel - *begin) {
      return std::nullopt;
    }
    facts.view_begin = *begin * item;
    facts.view_bytes = *size * item;
  }
  return facts;
}

namespace {

using Number = std::variant<std::int64_t, double>;

/// Of the tensors that an archive names, and ends before.
struct LostElements final : storage::ElementSource {
  LostElements() { has_checksums = true; }
  [[nodiscard]] Outcome<std::uint64_t> find(const storage::File& file, std::uint64_t /*offset*/) const override {
    return damaged("truncated: the file ends before its elements can be found", file.size());
  }
};

/// Walks through a pickle's values. A value that occurs in several places has all their names.
class Describer {
 public:
  Describer(const Pickle& pickle, Storages& storages, TorchFile& file, const Stop& stop,
            wire::FileTensorsMaker& tensors)
      : pickle_(pickle), storages_(storages), file_(file), stop_(stop), tensors_(tensors), state_(pickle.nodes()) {
    // Each value may be visited some times, and each has a name. More is for files that are made to have very many.
    constexpr std::uint64_t always = std::uint64_t{16} << 20;
    constexpr std::uint64_t for_each_byte = 16;
    budget_ =
        std::min<std::uint64_t>(always + for_each_byte * pickle.length(), std::numeric_limits<std::uint32_t>::max());
  }

  void run() && {
    const Object top = object_of(pickle_.root());
    const std::vector<Pickle::Pair> children = children_of(top);
    for (const std::string_view key : roots) {
      const Pickle::Pair root = child(children, key);
      if (root.value != Pickle::nothing && has_names(root.value)) {
        walk(root.value);
        if (found_ > 0) {
          root_ = root.key;
          main_ = false;
          break;
        }
      }
    }
    const auto is_no_tensor = [&](const Pickle::Pair& one) {
      return pickle_.meaning(one.value) == Meaning::opaque || pickle_.meaning(one.value) == Meaning::mapping;
    };
    if (!main_ || (pickle_.kind(top.node) == Kind::mapping && std::ranges::any_of(children, is_no_tensor))) {
      top_ = top.node;
    }
    walk(top.node);
    take_facts(children);
    tell_others();
  }
  void run_constants() && {
    main_ = tensors_.size() == 0;  // of a frozen module they are the model
    name_ = "constants";
    keys_ = 1;
    walk(pickle_.root());
    tell_others();
  }

 private:
  enum State : std::uint8_t { unseen = 0, on_path = 1, barren = 2 };

  /// A value and how it is made.
  struct Object {
    Ref node = Pickle::nothing;
    Meaning meaning = Meaning::opaque;
    Ref arguments = Pickle::nothing;
    Ref state = Pickle::nothing;  ///< What the call itself gives it.
  };
  [[nodiscard]] Object object_of(Ref value) const {
    Object object = {value, pickle_.meaning(value), pickle_.arguments(value)};
    if (object.meaning == Meaning::from_type) {
      const Pickle::First arguments = pickle_.first_items(object.arguments);
      const GlobalName* const function = pickle_.global(arguments[0]);
      object = {value, function == nullptr ? Meaning::opaque : function->meaning, arguments[2], arguments[3]};
    }
    return object;
  }

  /// Takes from what may still be done. Returns false if nothing is left.
  bool spend(std::uint64_t cost) {
    constexpr std::uint64_t between_stops = 1 << 16;
    const std::uint64_t left = budget_ - std::min(cost, budget_);
    if (!over_ && left / between_stops != budget_ / between_stops && stop_ && stop_()) {
      file_.problems.add(make_problem(ProblemKind::stopped, "the reader was stopped"));
      over_ = true;
    } else if (!over_ && cost > budget_) {
      problem(pickle_.root(), "not all tensors are listed: its values have too many names");
      over_ = true;
    }
    budget_ = left;
    return !over_;
  }

  void remark(std::string text) { file_.problems.add(make_problem(ProblemKind::remark, std::move(text))); }
  void problem(Ref value, std::string text) {
    file_.problems.add(damaged(std::move(text), storages_.pickle_begin + pickle_.offset(value)));
  }

  /// Returns what a storage is, which is then known to be that of a tensor.
  std::optional<StorageFacts> storage_of_tensor(Ref storage) {
    if (pickle_.kind(storage) == Kind::persistent) {
      state_[storage] = barren;
    }
    return storage_facts(pickle_, storage);
  }
  /// Names storages of no tensor that is listed: they stand alone, or where no tensor is looked for. Counts files in
  /// the file.
  void tell_others() {
    if (has_positions_) {
      remark(
          "keys without a text stand in names by their position, as '<0>', which another file may have for another "
          "key");
    }
    std::size_t files = 0;
    for (Ref node = 0; node < pickle_.nodes(); ++node) {
      // Of modules three attributes are read: that others have tensors too is usual.
      const Object object = has_modules_ ? object_of(node) : Object();
      if (object.meaning == Meaning::tensor || object.meaning == Meaning::tensor_of_dtype ||
          object.meaning == Meaning::quantised) {
        (void)storage_of_tensor(pickle_.first_items(object.arguments)[0]);
      }
      const auto begins = [&](std::string_view magic) { return pickle_.text(node).starts_with(magic); };
      files += std::ranges::any_of(torch_magics, begins) ? 1 : 0;
    }
    if (files != 0) {
      remark(text::counted(files, "value", "begins", "begin") +
             " as an archive or a file of PyTorch, which is not read");
    }
    std::set<std::string_view> keys;
    for (const State state : {unseen, barren}) {
      for (Ref node = 0; (state == unseen || !keys.empty()) && node < pickle_.nodes(); ++node) {
        if (pickle_.kind(node) != Kind::persistent || state_[node] != state) {
          continue;
        }
        const auto storage = storage_facts(pickle_, node);
        if (state == barren && storage) {
          keys.erase(storage->key);
        } else if (storage && storage->bytes != 0) {
          keys.insert(storage->key);
        }
      }
    }
    if (!keys.empty() && storages_.find && !over_) {
      remark(text::counted(keys.size(), "storage", "is", "are") +
             " of no listed tensor, and not read: " + text::first_names({keys.begin(), keys.end()}));
    }
  }

  // What contains others.

  [[nodiscard]] bool is_container(Ref value) const noexcept {
    const Kind kind = pickle_.kind(value);
    return kind == Kind::tuple || kind == Kind::list || kind == Kind::mapping || kind == Kind::call;
  }
  /// Returns what a value contains: with a key, or `appended`. Of several with the same key only the last, as in
  /// Python.
  std::vector<Pickle::Pair> children_of(const Object& object) {
    std::vector<Pickle::Pair> children;
    const auto append = [&](Ref sequence) {
      for (const Ref item : pickle_.items(sequence)) {
        children.push_back({Pickle::appended, item});
      }
    };
    const auto append_pairs = [&](Ref mapping) {
      const std::vector<Pickle::Pair> pairs = pickle_.pairs(mapping);
      children.insert(children.end(), pairs.begin(), pairs.end());
    };
    const auto append_state = [&](Ref state) {
      const Pickle::First parts = pickle_.first_items(state);
      const auto are_attributes = [&](Ref part) {
        return pickle_.kind(part) == Kind::mapping || pickle_.kind(part) == Kind::none;
      };
      if (pickle_.kind(state) == Kind::mapping) {
        append_pairs(state);
      } else if (pickle_.kind(parts[0]) == Kind::tuple && pickle_.text(parts[1]).starts_with("__torch__.")) {
        append(parts[0]);  // what an object of TorchScript packs, without its class: names are as in a state dict
      } else if (parts[2] == Pickle::nothing && are_attributes(parts[0]) && are_attributes(parts[1])) {
        append_pairs(parts[0]);  // attributes, and those that have slots
        append_pairs(parts[1]);
      } else {
        append(state);
      }
    };
    if (object.meaning == Meaning::mapping) {
      for (const Ref argument : pickle_.items(object.arguments)) {
        append_pairs(pickle_.kind(argument) == Kind::mapping ? argument : Pickle::nothing);
        for (const Ref pair : pickle_.items(argument)) {
          children.push_back({pickle_.first_items(pair)[0], pickle_.first_items(pair)[1]});
        }
      }
    } else {
      append(pickle_.kind(object.node) == Kind::tuple ? object.node : object.arguments);
    }
    for (const Pickle::Pair& pair : pickle_.pairs(object.node)) {
      if (pair.key == Pickle::state) {
        append_state(pair.value);
      } else {
        children.push_back(pair);
      }
    }
    append_state(object.state);
    if (object.meaning == Meaning::mapping) {
      std::erase_if(children, [&](const Pickle::Pair& child) { return pickle_.text(child.key) == "_metadata"; });
    }
    spend(children.size());
    drop_replaced(pickle_, children);
    return children;
  }

  /// Returns the child with a key, or a pair of `Pickle::nothing` if no such child exists.
  [[nodiscard]] Pickle::Pair child(const std::vector<Pickle::Pair>& children, std::string_view key) const {
    const auto found =
        std::ranges::find_if(children, [&](const Pickle::Pair& child) { return pickle_.text(child.key) == key; });
    return found == children.end() ? Pickle::Pair{Pickle::nothing, Pickle::nothing} : *found;
  }
  [[nodiscard]] bool is_module(const std::vector<Pickle::Pair>& children) const {
    return child(children, "_parameters").value != Pickle::nothing &&
           child(children, "_modules").value != Pickle::nothing;
  }
  /// Returns whether a value is a mapping, has items, or is a module.
  bool has_names(Ref value) {
    const std::vector<Pickle::Pair> pairs = pickle_.pairs(value);
    return pickle_.kind(value) == Kind::mapping || pickle_.meaning(value) == Meaning::mapping ||
           std::ranges::any_of(pairs, [](const Pickle::Pair& pair) { return pair.key < Pickle::nothing; }) ||
           (is_container(value) && is_module(children_of(object_of(value))));
  }

  /// Appends how a key stands in a name: as it is, or within another key as Python writes it. Returns false if it has
  /// no text.
  bool append_key(Ref key, std::size_t depth, std::string& to) {
    if (depth == limits::pickle_depth || to.size() > limits::name_bytes || !spend(1)) {
      return false;
    }
    const Kind kind = pickle_.kind(key);
    if (const auto known = kind == Kind::huge ? std::nullopt : number(key)) {  // its digits are not kept
      std::array<char, 32> digits;
      const auto write = [&](auto one) { return std::to_chars(digits.data(), digits.data() + digits.size(), one).ptr; };
      to.append(digits.data(), std::visit(write, *known));
      return true;
    }
    if (const auto text = kind == Kind::text ? pickle_.text(key) : bytes_of(key)) {
      to += depth == 0 ? std::string(*text) : "'" + with_backslashes(*text, "\\'") + "'";
      return spend(text->size());
    }
    if (const GlobalName* const global = pickle_.global(key)) {
      to.append(global->module).append(1, '.').append(global->name);
      return spend(global->module.size() + global->name.size());
    }
    if (kind == Kind::call) {  // such as complex(1, 2)
      const std::size_t added = pickle_.pairs(key).size();
      return spend(added) && added == 0 && pickle_.global(pickle_.callee(key)) != nullptr &&
             pickle_.kind(pickle_.arguments(key)) == Kind::tuple && append_key(pickle_.callee(key), depth + 1, to) &&
             append_key(pickle_.arguments(key), depth + 1, to);
    }
    if (kind != Kind::tuple) {
      const auto boolean = pickle_.boolean(key);
      to += !boolean ? "None" : *boolean ? "True" : "False";
      return boolean || kind == Kind::none;
    }
    const std::vector<Ref> items = pickle_.items(key);
    const auto append_item = [&](const Ref& item) {
      to += &item == items.data() ? "(" : ", ";
      return append_key(item, depth + 1, to);
    };
    const bool known = spend(items.size()) && std::ranges::all_of(items, append_item);
    to += items.empty() ? "()" : items.size() == 1 ? ",)" : ")";
    return known;
  }
  /// Returns how a key stands in a name; nullopt if it has no text. Valid until the next call.
  std::optional<std::string_view> key_text(Ref key, std::size_t index) {
    if (pickle_.kind(key) == Kind::text || pickle_.kind(key) == Kind::bytes) {
      return pickle_.text(key);
    }
    key_ = key == Pickle::appended ? std::to_string(index) : "";
    return !key_.empty() || append_key(key, 0, key_) ? std::optional<std::string_view>(key_) : std::nullopt;
  }

  // The walk.

  void walk_child(std::string_view key, Ref value) {
    const std::size_t before = name_.size();
    name_.append(keys_++ == 0 ? "" : ".").append(key);
    if (name_.size() > limits::name_bytes) {
      problem(value, "a name is longer than the limit (name_bytes): " + in_quotes(name_));
    } else {
      walk(value);
    }
    name_.resize(before);
    --keys_;
  }
  void walk_children(const std::vector<Pickle::Pair>& children, Ref left_out = Pickle::nothing) {
    for (std::size_t i = 0; i < children.size() && !over_; ++i) {
      if (children[i].key == left_out || !is_container(children[i].value)) {
        continue;
      }
      if (const auto key = key_text(children[i].key, i)) {
        walk_child(*key, children[i].value);
      } else {
        const std::size_t before = found_;
        walk_child("<" + std::to_string(i) + ">", children[i].value);
        has_positions_ = has_positions_ || found_ != before;
      }
    }
  }

  void walk(Ref value) {
    if (!is_container(value) || state_[value] == barren || !spend(1)) {
      return;
    }
    if (state_[value] == on_path || depth_ == limits::pickle_depth) {
      if (state_[value] != on_path && !std::exchange(too_deep_, true)) {
        problem(value, "its values are nested deeper than the limit (pickle_depth): " + in_quotes(name_));
      }
      cut_ = true;
      return;
    }
    const bool cut_before = std::exchange(cut_, false);
    const std::size_t found_before = found_;
    state_[value] = on_path;
    ++depth_;
    const Object object = object_of(value);
    if (!take(object)) {
      walk_object(object);
    } else {
      walk(object.state);  // of a tensor, its attributes
    }
    --depth_;
    state_[value] = found_ == found_before && !cut_ && !over_ ? barren : unseen;
    cut_ = cut_ || cut_before;
  }

  void walk_object(const Object& object) {
    const std::vector<Pickle::Pair> children = children_of(object);
    const std::size_t before = found_;
    if (const Ref local = child(children, "_local_tensor").value; pickle_.kind(object.node) == Kind::call) {
      const bool part = std::exchange(part_, true);
      walk(local);
      part_ = part;
    }
    if (found_ != before) {
      return;  // what else a wrapper has describes the tensor
    }
    // A quantised convolution has its tensors at these places of its state.
    constexpr std::size_t weight_at = 10;
    const GlobalName* const type = pickle_.global(pickle_.callee(object.node));
    if (type != nullptr && type->module.find(".quantized.") != std::string::npos && children.size() > weight_at + 1 &&
        children[weight_at].key == Pickle::appended &&
        pickle_.meaning(children[weight_at].value) == Meaning::quantised) {
      walk_child("weight", children[weight_at].value);
      walk_child("bias", children[weight_at + 1].value);
      return;
    }
    const bool module = is_module(children);
    bool others = true;
    if (module) {
      has_modules_ = true;
      for (const std::string_view kind : {"_parameters", "_buffers", "_modules"}) {
        const std::vector<Pickle::Pair> own = children_of(object_of(child(children, kind).value));
        others = others && own.empty();  // quantised layers have their tensors elsewhere
        walk_children(own);
      }
    }
    if (others) {
      const bool main = std::exchange(main_, main_ && !module);  // what a module only keeps is no parameter of it
      walk_children(children, object.node == top_ ? root_ : Pickle::nothing);
      main_ = main;
    }
  }

  /// Takes a value that is a tensor, or stands for one. Returns false if it is neither.
  bool take(const Object& object) {
    const Pickle::First first = pickle_.first_items(object.arguments);
    switch (object.meaning) {
      case Meaning::first:
        walk(first[0]);
        walk(first[3]);  // the attributes of a parameter
        return true;
      case Meaning::tensor:
      case Meaning::quantised:
        take_tensor(object, first, Pickle::nothing, object.meaning == Meaning::tensor ? first[6] : Pickle::nothing);
        return true;
      case Meaning::tensor_of_dtype:
        take_tensor(object, first, first[6], first[7]);
        return true;
      case Meaning::meta:
        set_type(class_name(pickle_, first[0]));
        type_.unread_type = class_name(pickle_, first[0]);
        add(object, pickle_.take_sizes(first[1], type_.shape) && element_count(type_.shape)
                        ? nullptr
                        : "its size cannot be understood");
        return true;
      case Meaning::sparse:
        walk_sparse(first[0], pickle_.first_items(first[1]));
        return true;
      case Meaning::numpy_array:
      case Meaning::numpy_from_buffer:
        return take_array(object, first);
      case Meaning::mapping:
      case Meaning::opaque:
      case Meaning::from_type:
      case Meaning::numpy_scalar:
      case Meaning::numpy_dtype:
      case Meaning::encode:
        return false;
    }
    return false;
  }

  void walk_sparse(Ref layout, const Pickle::First& parts) {
    const std::string_view name = pickle_.text(pickle_.first_items(pickle_.arguments(layout))[0]);
    const bool columns = name.ends_with("csc") || name.ends_with("bsc");
    const bool coordinates = parts[3] == Pickle::nothing || name.ends_with("coo");
    std::vector<std::int64_t> sizes;
    if (pickle_.take_sizes(parts[coordinates ? 2 : 3], sizes)) {
      dense_size_ = fmt::format("dense size [{}]", fmt::join(sizes, ", "));
    }
    const bool main = std::exchange(main_, false);  // indices are no weights, whatever the name says
    walk_child(coordinates ? "indices" : columns ? "ccol_indices" : "crow_indices", parts[0]);
    dense_size_.clear();
    if (!coordinates) {
      walk_child(columns ? "row_indices" : "col_indices", parts[1]);
    }
    main_ = main;
    walk_child("values", parts[coordinates ? 1 : 2]);
  }

  // Tensors.

  void set_type(std::string_view dtype) {
    const auto known = torch_dtype(dtype);
    type_.dtype = known.value_or(Dtype::float32);
    type_.unread_type = known ? "" : dtype;
    type_.shape.clear();
    type_.strides.clear();
    type_.meaning.clear();
    type_.source.reset();
    tensor_ = {};
    not_yet_ = false;
  }

  /// Notes where a quantised tensor's scales are, if it has one for each channel.
  void note_scales(Ref scales) {
    const Pickle::First arguments = pickle_.first_items(object_of(scales).arguments);
    const auto storage = storage_of_tensor(arguments[0]);
    set_type(storage ? storage->dtype : "");
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 24;
    const bool known = storage && !storage->dtype.empty() && storages_.find && !storages_.swapped;
    if (known && is_floating(type_.dtype) && place(*storage, arguments, arguments[6]).empty() &&
        type_.strides.empty() && (scale_bytes_ += tensor_.length) <= most_bytes) {
      file_.scales.push_back({std::string(shown_name()), type_.dtype, tensor_.offset, tensor_.length});
    }
  }

  void take_tensor(const Object& object, const Pickle::First& arguments, Ref dtype, Ref metadata) {
    if (object.meaning == Meaning::quantised) {
      note_scales(pickle_.first_items(arguments[4])[1]);
    }
    const auto storage = storage_of_tensor(arguments[0]);
    set_type(dtype != Pickle::nothing ? class_name(pickle_, dtype) : storage ? storage->dtype : "");
    type_.meaning = object.meaning == Meaning::quantised ? quantiser(pickle_.first_items(arguments[4])) : dense_size_;
    const bool right = storage && (!storage->dtype.empty() || dtype != Pickle::nothing);
    const std::string why = right ? place(*storage, arguments, metadata) : "its storage cannot be understood";
    add(object, why.empty() ? nullptr : why.c_str());
  }

  /// Finds the place of a tensor in its storage. Returns why it cannot be read; empty if it can.
  std::string place(const StorageFacts& storage, const Pickle::First& arguments, Ref metadata) {
    const std::uint64_t item = type_.unread_type.empty() ? item_size(type_.dtype) : 1;
    const auto offset = natural(pickle_, arguments[1]);
    std::uint64_t span = 0;
    if (const char* const why = why_not_as_stored(metadata)) {
      return why;
    }
    if (!offset || !pickle_.take_sizes(arguments[2], type_.shape) || !pickle_.take_sizes(arguments[3], type_.strides) ||
        type_.strides.size() != type_.shape.size()) {
      return "its sizes, strides and offset are not natural numbers, disagree, or are more than " +
             std::to_string(limits::dimensions);
    }
    if (!measure(item, span)) {
      return "its sizes and strides are larger than any file, or repeat elements to more than 64 GiB (expanded_bytes)";
    }
    if (!type_.unread_type.empty() || !storages_.find) {
      tensor_.length = type_.unread_type.empty() ? span * item : 0;
      return {};
    }
    const std::string name = std::string(storages_.folder).append(storage.key.substr(0, limits::name_bytes));
    const auto index = storages_.find(storage.key);
    if (!index) {
      not_yet_ = file_.cut.has_value();
      return printable(name) + " is missing";
    }
    const Member& member = storages_.members[*index];
    if (!member.sound || member.method != 0) {
      return printable(name) + (member.method != 0 ? " is compressed" : " is damaged");
    }
    if (member.size < storage.bytes) {
      return printable(name) + " has " + std::to_string(member.size) + " bytes, its storage " +
             std::to_string(storage.bytes);
    }
    const std::uint64_t elements = storage.view_bytes / item;
    if (span != 0 && (*offset > elements || span > elements - *offset)) {
      return "it reaches beyond its storage";
    }
    tensor_.offset = member.begin + storage.view_begin + (span == 0 ? 0 : *offset * item);
    tensor_.length = span * item;
    return {};
  }

  /// Returns why the elements are not what the storage has; null if they are.
  [[nodiscard]] const char* why_not_as_stored(Ref metadata) const {
    if (pickle_.kind(metadata) == Kind::none) {
      return nullptr;
    }
    constexpr std::size_t most = 16;
    const std::vector<Pickle::Pair> pairs =
        pickle_.kind(metadata) == Kind::mapping ? pickle_.pairs(metadata) : std::vector<Pickle::Pair>(most + 1);
    for (const Pickle::Pair& pair : pairs) {
      const std::string_view key = pickle_.text(pair.key);
      if (pairs.size() > most || ((key == "conj" || key == "neg") && !pickle_.boolean(pair.value))) {
        return "its metadata cannot be understood";
      }
      if ((key == "conj" || key == "neg") && *pickle_.boolean(pair.value)) {
        return key == "conj" ? "it is stored conjugated, which is not read" : "it is stored negated, which is not read";
      }
    }
    return nullptr;
  }

  /// Finds how many elements of the storage a tensor spans, and leaves its strides empty if it is in C order.
  bool measure(std::uint64_t item, std::uint64_t& span) {
    constexpr std::uint64_t most = std::uint64_t{1} << 62;
    const auto count = element_count(type_.shape);
    if (!count || *count > most / item) {
      return false;
    }
    span = *count == 0 ? 0 : 1;
    bool in_order = true;
    std::uint64_t expected = 1;
    for (std::size_t axis = type_.shape.size(); *count != 0 && axis-- > 0;) {
      const auto size = static_cast<std::uint64_t>(type_.shape[axis]);
      const auto stride = static_cast<std::uint64_t>(type_.strides[axis]);
      if (size > 1 && stride > (most - span) / (size - 1)) {
        return false;
      }
      in_order = in_order && (size == 1 || stride == expected);
      span += (size - 1) * stride;
      expected *= size;
    }
    if (in_order) {
      type_.strides.clear();
    }
    return *count <= span || *count * item <= limits::expanded_bytes;
  }

  std::string quantiser(const Pickle::First& parts) {
    const auto zero = pickle_.integer(parts[2]);
    const auto axis = pickle_.integer(parts[3]);
    if (!pickle_.real(parts[1]) || !zero) {
      return "a scale" + checksum_of(parts[1]) + " and a zero point" + checksum_of(parts[2]) +
             " for each index of axis " + (axis ? std::to_string(*axis) : "?");
    }
    std::string scale = "scale " + std::string(key_text(parts[1], 0).value_or(""));
    if (!std::isfinite(*pickle_.real(parts[1]))) {
      file_.problems.add(make_problem(ProblemKind::warning, "tensor " + in_quotes(shown_name()) + ": by its " + scale +
                                                                " none of its integers stands for a number"));
    }
    return scale + ", zero point " + std::to_string(*zero);
  }

  /// Tells the elements of a tensor from others without reading them, if the file can.
  [[nodiscard]] std::string checksum_of(Ref tensor) {
    const auto storage = storage_of_tensor(pickle_.first_items(object_of(tensor).arguments)[0]);
    const auto index = storage && storages_.has_checksums ? storages_.find(storage->key) : std::nullopt;
    return index ? " (checksum " + std::to_string(storages_.members[*index].crc) + ")" : std::string();
  }

  [[nodiscard]] std::string_view shown_name() const noexcept {
    return keys_ == 0 ? std::string_view("tensor") : std::string_view(name_);
  }

  /// Adds `tensor_` with `type_`. `why`: it cannot be read; null: it can.
  void add(const Object& object, const char* why) {
    const std::string_view name = shown_name();
    ++found_;
    if (why != nullptr && storages_.find && !not_yet_) {
      problem(object.node, "tensor " + in_quotes(name) + ": " + why);
    }
    if (tensors_.size() == limits::pytorch_tensors && !over_) {
      problem(object.node, "not all tensors are listed: there are more than the limit (pytorch_tensors)");
      over_ = true;
    }
    if (!spend(name.size())) {
      return;
    }
    tensor_.sound = why == nullptr;
    tensor_.further = !main_;
    tensor_.part = part_;
    tensor_.scalar = keys_ == 1 && top_ != Pickle::nothing && is_real(type_.dtype) && type_.dtype != Dtype::boolean &&
                     type_.unread_type.empty() && element_count(type_.shape) == 1 && is_scalar_name(name) &&
                     name.find('.') == std::string_view::npos;  // `score.bias` is a parameter
    tensors_.add(name, type_, tensor_);
  }

  // NumPy.

  /// Sets `type_` and `swapped_` from a dtype of NumPy. Returns false if it is no dtype, or that of texts.
  bool set_numpy_type(Ref dtype) {
    const bool is_dtype = pickle_.meaning(dtype) == Meaning::numpy_dtype;
    const Ref type = is_dtype ? pickle_.first_items(pickle_.arguments(dtype))[0] : Pickle::nothing;
    const std::string_view code = pickle_.text(type);
    const bool has_fields = code.starts_with('V') || class_name(pickle_, type) == "record";
    const auto name = has_fields ? std::optional<std::string_view>("void") : dtype_in(numpy_codes, code);
    set_type(name.value_or(""));
    swapped_ = false;
    for (const Pickle::Pair& pair : pickle_.pairs(dtype)) {
      swapped_ = name && item_size(type_.dtype) > 1 && pickle_.text(pickle_.first_items(pair.value)[1]) == ">";
    }
    return name.has_value();
  }

  /// Returns the bytes of a value, decoded if needed; nullopt for other values. Valid until the next call.
  [[nodiscard]] std::optional<std::string_view> bytes_of(Ref value) {
    if (pickle_.kind(value) == Kind::bytes) {
      return pickle_.text(value);
    }
    const std::string_view text = pickle_.text(pickle_.first_items(pickle_.arguments(value))[0]);
    if (pickle_.meaning(value) != Meaning::encode || !spend(text.size())) {
      return std::nullopt;
    }
    std::string& bytes = decoded_;
    bytes.clear();
    bool high = false;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (high ? (byte & 0xC0) != 0x80 : byte > 0x7F && (byte & 0xFE) != 0xC2) {
        return std::nullopt;  // no Latin-1
      }
      if (high) {
        bytes.back() = static_cast<char>(bytes.back() << 6 | (byte & 0x3F));
      } else {
        bytes += c;
      }
      high = !high && byte > 0x7F;
    }
    return bytes;
  }

  /// Returns false if an array is not of numbers: it may contain tensors.
  bool take_array(const Object& object, const Pickle::First& arguments) {
    const bool by_state = object.meaning == Meaning::numpy_array;
    const std::vector<Pickle::Pair> pairs = pickle_.pairs(object.node);
    const Pickle::First state = by_state && !pairs.empty() ? pickle_.first_items(pairs.back().value) : arguments;
    const Ref stored = state[by_state ? 4 : 0];
    if (!set_numpy_type(state[by_state ? 2 : 1])) {
      return false;
    }
    const bool sizes = pickle_.take_sizes(state[by_state ? 1 : 2], type_.shape);
    const auto count = sizes ? element_count(type_.shape) : std::nullopt;
    if (!type_.unread_type.empty()) {
      add(object, count ? nullptr : "its size cannot be understood");
      return false;
    }
    const auto bytes = bytes_of(stored);
    const std::uint64_t item = item_size(type_.dtype);
    if (!bytes || !count || bytes->size() / item != *count || bytes->size() % item != 0) {
      add(object, over_ ? nullptr : "the type, shape and bytes of this array disagree");
      return true;
    }
    if (by_state ? pickle_.boolean(state[3]) == true : pickle_.text(state[3]) == "F") {
      std::int64_t stride = 1;
      for (const std::int64_t size : type_.shape) {
        type_.strides.push_back(std::exchange(stride, stride * std::max<std::int64_t>(size, 1)));
      }
      std::uint64_t span = 0;
      (void)measure(item, span);
    }
    tensor_.offset = storages_.pickle_begin + pickle_.text_offset(stored).value_or(pickle_.offset(stored));
    tensor_.length = bytes->size();
    const bool as_stored = storages_.pickle_is_stored && pickle_.text_offset(stored) && swapped_ == storages_.swapped;
    if (storages_.find && !as_stored && spend(bytes->size())) {
      const auto held = std::make_shared<storage::ElementSource>();
      const auto elements = std::as_bytes(std::span(*bytes));
      held->held.assign(elements.begin(), elements.end());
      held->swapped = swapped_;
      held->has_checksums = storages_.has_checksums;  // of the pickle, which was verified
      type_.source = held;
    }
    if (by_state && pickle_.kind(state[5]) != Kind::none) {
      type_.meaning = "of a masked array, with what its mask hides";
    }
    add(object, nullptr);
    return true;
  }

  // Facts.

  [[nodiscard]] std::optional<Number> number(Ref value) {
    constexpr double exact = 0x1p53;  // integers below it are doubles
    const auto integer = pickle_.integer(value);
    const auto real = pickle_.real(value);
    if (integer || real) {
      return integer ? Number(*integer) : Number(*real);
    }
    const Pickle::First arguments = pickle_.first_items(pickle_.arguments(value));
    const bool scalar = pickle_.meaning(value) == Meaning::numpy_scalar && set_numpy_type(arguments[0]);
    const auto held =
        scalar && type_.unread_type.empty() && is_real(type_.dtype) ? bytes_of(arguments[1]) : std::nullopt;
    if (!held || held->size() != item_size(type_.dtype) || type_.dtype == Dtype::boolean) {
      return std::nullopt;
    }
    std::string bytes(*held);
    if (swapped_) {
      std::ranges::reverse(bytes);
    }
    double number = 0;
    copy_as_doubles({type_.dtype, {}, std::as_bytes(std::span(bytes))}, 0, {&number, 1});
    const bool whole = !is_floating(type_.dtype) && number > -exact && number < exact;
    return whole ? Number(static_cast<std::int64_t>(number)) : Number(number);
  }

  [[nodiscard]] static bool is_scalar_name(std::string_view name) {
    const auto measures = [](const std::string& word) { return contains(measure_words, word); };
    return name == epoch_key || contains(step_keys, name) || std::ranges::any_of(text::split_words(name), measures);
  }

  void take_facts(const std::vector<Pickle::Pair>& children) {
    constexpr std::size_t most_facts = 10'000;
    for (const Pickle::Pair& child : children) {
      const std::string_view name = pickle_.text(child.key);
      const auto known = number(child.value);
      if (name.empty() || name.size() > limits::name_bytes || file_.facts.size() == most_facts ||
          (!known && pickle_.kind(child.value) != Kind::text)) {
        continue;
      }
      file_.facts.push_back({std::string(name), text::excerpt(pickle_.text(child.value)), is_scalar_name(name)});
      if (known) {
        std::visit([&](auto one) { file_.facts.back().value = one; }, *known);
      }
    }
    file_.epoch = natural_fact(epoch_key);
    for (const std::string_view key : step_keys) {
      file_.step = file_.step ? file_.step : natural_fact(key);
    }
  }
  [[nodiscard]] std::optional<std::int64_t> natural_fact(std::string_view name) const {
    const auto fact = std::ranges::find(file_.facts, name, &Fact::name);
    const auto* const value = fact == file_.facts.end() ? nullptr : std::get_if<std::int64_t>(&fact->value);
    return value != nullptr && *value >= 0 ? std::optional(*value) : std::nullopt;
  }

  const Pickle& pickle_;
  Storages& storages_;
  TorchFile& file_;
  const Stop& stop_;
  wire::FileTensorsMaker& tensors_;
  std::vector<State> state_;  ///< Of nodes; of a storage, `barren` if it is that of a tensor.
  std::uint64_t budget_ = 0;
  ValueType type_;                      ///< Of the tensor that is looked at,
  wire::FileTensors::Position tensor_;  ///< where its elements are,
  bool not_yet_ = false;                ///< and whether they cannot be read only because the file is cut before them.
  std::uint64_t scale_bytes_ = 0;       ///< Of all scales that are noted.
  std::string dense_size_;              ///< Of the sparse tensor whose indices are walked.
  bool swapped_ = false;                ///< The array's elements are big-endian.
  std::string key_;                     ///< See `key_text`.
  std::string decoded_;                 ///< See `bytes_of`.

  Ref top_ = Pickle::nothing;   ///< What contains the model, once that was walked through; `nothing` if nothing does.
  Ref root_ = Pickle::nothing;  ///< The key of the model, which was walked through first.
  bool has_modules_ = false;
  bool main_ = true;
  bool part_ = false;
  std::string name_;            ///< Of the value that is walked through,
  std::size_t keys_ = 0;        ///< and how many keys are in it, which may be empty.
  bool has_positions_ = false;  ///< A tensor's name has the position of a key in it.
  std::size_t depth_ = 0;
  std::size_t found_ = 0;  ///< Tensors, also those that are not listed.
  bool cut_ = false;       ///< A part of the value that is walked through was left out: it contains itself, or is deep.
  bool over_ = false;      ///< Nothing more is listed.
  bool too_deep_ = false;
};

}  // namespace

void drop_replaced(const Pickle& pickle, std::vector<Pickle::Pair>& children) {
  const auto is_appended = [](const Pickle::Pair& child) { return child.key == Pickle::appended; };
  const auto keyed = std::stable_partition(children.begin(), children.end(), is_appended);
  const std::span<Pickle::Pair> pairs(keyed, children.end());
  const auto key_of = [&](std::uint32_t i) {
    const std::string_view text = pickle.text(pairs[i].key);
    return text.data() != nullptr ? text
                                  : std::string_view(reinterpret_cast<const char*>(&pairs[i].key), sizeof pairs[i].key);
  };
  for (const auto& [first, again] : text::repeated_names(static_cast<std::uint32_t>(pairs.size()), key_of)) {
    pairs[first].value = std::exchange(pairs[again].value, Pickle::nothing);
  }
}

void describe(const Pickle& pickle, Storages& storages, TorchFile& file, const Stop& stop) {
  wire::FileTensorsMaker tensors;
  Describer(pickle, storages, file, stop, tensors).run();
  if (storages.constants != nullptr) {
    storages.folder = "constants/";
    storages.pickle_begin = storages.constants_begin;
    storages.pickle_is_stored = false;
    Describer(*storages.constants, storages, file, stop, tensors).run_constants();
  }
  if (!storages.members.empty()) {
    file.source = std::make_shared<const MemberSource>(std::move(storages.members), storages.swapped, storages.stamp);
  }
  file.tensors = storages.find ? std::move(tensors).make(file.source)
                               : std::move(tensors).make(std::make_shared<const LostElements>());
}

}  // namespace smd::detail::pytorch
