// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <smd/shape.hpp>
#include <string_view>
#include <vector>

#include "cli/text.hpp"
#include "selected.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

constexpr Column path_column = {.name = "path", .asked = true};
constexpr Column dtype_column = {"dtype"};
constexpr Column tensors_column = {.name = "tensors", .align = Align::right, .asked = true};
constexpr Column parameters_column = {.name = "parameters", .align = Align::right, .if_any = true};
constexpr Column bytes_column = {.name = "bytes", .align = Align::right, .asked = true};

/// The separators of a name's levels.
constexpr std::string_view separators = "/.";

std::size_t end_of_part(std::string_view name, std::size_t from) {
  const std::size_t separator = name.find_first_of(separators, from);
  return separator == std::string_view::npos ? name.size() : separator + 1;
}

/// The order of a tree in preorder: level by level, each in natural order, so that all names of a level are together.
bool before_in_tree(std::string_view a, std::string_view b) {
  std::size_t from = 0;
  while (from < a.size() && from < b.size()) {
    const std::string_view part_a = a.substr(from, end_of_part(a, from) - from);
    const std::string_view part_b = b.substr(from, end_of_part(b, from) - from);
    if (part_a != part_b) {
      return naturally_before(part_a, part_b);
    }
    from += part_a.size();
  }
  return a.size() < b.size();
}

/// Walks over the levels of names that are in the order of a tree. A level with nothing but one level in it is joined
/// with it, and one with a single name becomes this name, so that there are never more levels than names.
class TreeWalk {
 public:
  /// One level or name: the names [first, end), of which `above` bytes belong to the level that it is in, and `path`
  /// bytes to itself.
  struct Node {
    std::size_t first = 0;
    std::size_t end = 0;
    std::size_t above = 0;
    std::size_t path = 0;
    std::size_t parts = 0;  ///< Of the path.
    bool name = false;      ///< Whether it is a whole name.
    bool last = false;      ///< Whether it is the last one in its level.
  };

  /// `depth`: how many parts a path has at most.
  TreeWalk(const std::vector<std::string_view>& names, std::size_t depth) : names_(names), depth_(depth) {}

  /// Calls `visit(node, depth)` for each node, in order.
  template <class Visit>
  void each(Visit&& visit) const {
    std::vector<Node> levels = {{.end = names_.size()}};  // of the names of each, those that are left
    while (!levels.empty()) {
      if (levels.back().first == levels.back().end) {
        levels.pop_back();
        continue;
      }
      const Node node = first_in(levels.back());
      levels.back().first = node.end;
      visit(node, levels.size() - 1);
      if (!node.name && node.parts < depth_) {
        levels.push_back(node);
      }
    }
  }

 private:
  [[nodiscard]] Node first_in(const Node& level) const {
    const std::size_t first = level.first;
    const std::string_view name = names_[first];
    Node node = {.first = first, .above = level.path, .path = end_of_part(name, level.path), .parts = level.parts + 1};
    const auto separated = [&](std::size_t path) {
      return path > level.path && separators.find(name[path - 1]) != std::string_view::npos;
    };
    node.end = separated(node.path) ? end_of(first, level.end, node.path) : first + 1;
    node.last = node.end == level.end;
    const std::string_view other = names_[node.end - 1];  // what both have, all in between have
    const auto shared = static_cast<std::size_t>(
        std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first - name.begin());
    const bool single = node.end == first + 1;
    for (; node.parts < depth_ && node.path < shared; ++node.parts) {
      const std::size_t path = end_of_part(name, node.path);
      if (path > shared || (!single && !separated(path))) {
        break;
      }
      node.path = path;
    }
    node.name = single && node.path == name.size();
    return node;
  }

  /// The end of the names that begin with the first one's `length` bytes.
  [[nodiscard]] std::size_t end_of(std::size_t first, std::size_t end, std::size_t length) const {
    const std::string_view path = names_[first].substr(0, length);
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto stop = std::partition_point(begin, names_.begin() + static_cast<std::ptrdiff_t>(end),
                                           [&](std::string_view name) { return name.starts_with(path); });
    return static_cast<std::size_t>(stop - names_.begin());
  }

  const std::vector<std::string_view>& names_;
  std::size_t depth_;
};

/// Returns the lines that join a tree's nodes, before the next node's name, for people. `lasts`: by depth, whether the
/// nodes above it, and then itself, are the last ones in their levels.
std::string branches(std::vector<bool>& lasts, std::size_t depth, bool last, bool ascii) {
  lasts.resize(depth);
  std::string text;
  for (std::size_t i = 1; i < depth; ++i) {
    text += lasts[i] ? "   " : ascii ? "|  " : "│  ";
  }
  if (depth > 0) {
    text += last ? (ascii ? "`- " : "└─ ") : (ascii ? "|- " : "├─ ");
  }
  lasts.push_back(last);
  return text;
}

/// What some tensors hold together.
struct Held {
  std::uint64_t tensors = 0;
  std::uint64_t with_parameters = 0;
  std::uint64_t parameters = 0;
  std::uint64_t bytes = 0;

  /// Parameters are the elements of a value in a file of weights, whose header tells its shape; numbers of a training
  /// log beside it are none.
  void add(const TensorFacts& tensor) {
    ++tensors;
    bytes += tensor.summary.bytes;
    if (tensor.value && tensor.value->form() == ValueForm::elements) {
      ++with_parameters;
      parameters += element_count(tensor.value->type->shape).value_or(0);
    }
  }
  [[nodiscard]] Held without(const Held& less) const {
    return {tensors - less.tensors, with_parameters - less.with_parameters, parameters - less.parameters,
            bytes - less.bytes};
  }
  [[nodiscard]] Cell parameters_cell() const { return with_parameters > 0 ? Cell(parameters) : Cell(); }
};

bool draws(const LsOptions& options) { return options.for_people() && !options.by_dtype; }

std::vector<Column> tree_columns(const LsOptions& options) {
  // For people, the drawing is the last column, where its lines may be of any length.
  if (draws(options)) {
    return {tensors_column, parameters_column, bytes_column, path_column};
  }
  return {options.by_dtype ? dtype_column : path_column, tensors_column, parameters_column, bytes_column};
}

void print_types(const std::vector<TensorFacts>& facts, RowWriter& rows) {
  std::map<std::string_view, Held, decltype(&naturally_before)> types(naturally_before);
  for (const TensorFacts& tensor : facts) {
    types[tensor.dtype_varies ? varies : std::string_view(tensor.dtype)].add(tensor);
  }
  for (const auto& [dtype, of] : types) {
    rows.row({dtype.empty() ? Cell() : Cell(dtype), of.tensors, of.parameters_cell(), of.bytes});
  }
}

void print_tree(std::vector<TensorFacts>& facts, const LsOptions& options, RowWriter& rows) {
  std::ranges::sort(facts, before_in_tree, name_of);
  std::vector<std::string_view> names;
  std::vector<Held> before = {Held()};  // each name's: what those before it hold together
  for (const TensorFacts& tensor : facts) {
    names.push_back(tensor.summary.tensor);
    before.push_back(before.back());
    before.back().add(tensor);
  }
  std::vector<bool> lasts;
  TreeWalk(names, options.tree_depth).each([&](const TreeWalk::Node& node, std::size_t depth) {
    const Held held = before[node.end].without(before[node.first]);
    const std::string_view path = names[node.first].substr(0, node.path);
    if (!draws(options)) {
      rows.row({path, held.tensors, held.parameters_cell(), held.bytes});
      return;
    }
    const std::string text = branches(lasts, depth, node.last, options.output.terminal.ascii);
    rows.row({node.name ? Cell("") : Cell(held.tensors), held.parameters_cell(), held.bytes,
              text + std::string(path.substr(node.above))});
  });
}

bool show_tree(Trial& trial, const Selection& selection, Showing& to) {
  const LsOptions& options = to.options;
  const std::vector<std::string> names = saved_names(trial, selection, options.selection, to.messages);
  if (options.output.quiet) {
    return !names.empty();
  }
  std::vector<TensorFacts> facts =
      tensor_facts(trial, selection, names, options.selection, trial.layout().has_headers || options.by_dtype);
  if (options.by_dtype) {
    read_types(trial, facts, to.messages);
    print_types(facts, to.rows);
  } else {
    print_tree(facts, options, to.rows);
  }
  return !names.empty();
}

}  // namespace

constinit const ViewSpec tree_view = {.option = "tree", .columns = tree_columns, .show_selected = show_tree};

}  // namespace smd::tool::ls
