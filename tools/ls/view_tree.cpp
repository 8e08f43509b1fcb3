// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "selected.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

constexpr std::array<Column, 2> tree_columns = {{{"path"}, {"tensors", Align::right}}};
// For people, the drawing is the last column, where its lines may be of any length.
constexpr std::array<Column, 2> drawing_columns = {
    {{.name = "tensors", .align = Align::right, .asked = true}, {.name = "path", .asked = true}}};

/// Names in byte order are a tree in preorder: all that begin with a folder's path are together. Folders with nothing
/// but one folder in them are joined with it, so that there are never more folders than names.
class TreeWalk {
 public:
  /// One folder or tensor: the names [first, end), of which `above` bytes belong to the folder that it is in and
  /// `path` bytes to itself.
  struct Node {
    std::size_t first;
    std::size_t end;
    std::size_t above;
    std::size_t path;
    bool folder;
    bool last;  ///< Whether it is the last one in its folder.
  };

  explicit TreeWalk(const std::vector<std::string>& names) : names_(names) {}

  /// Calls `visit(node, depth)` for each node, in order.
  template <class Visit>
  void each(Visit&& visit) const {
    struct Level {
      std::size_t next;
      std::size_t end;
      std::size_t prefix;
    };
    std::vector<Level> levels = {{0, names_.size(), 0}};
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.next == level.end) {
        levels.pop_back();
        continue;
      }
      const Node node = node_at(level.next, level.end, level.prefix);
      level.next = node.end;
      visit(node, levels.size() - 1);
      if (node.folder) {
        levels.push_back({node.first, node.end, node.path});
      }
    }
  }

 private:
  [[nodiscard]] Node node_at(std::size_t first, std::size_t end, std::size_t prefix) const {
    const std::string& name = names_[first];
    const std::size_t slash = name.find('/', prefix);
    if (slash == std::string::npos || name.size() == prefix) {
      return {first, first + 1, prefix, name.size(), false, first + 1 == end};
    }
    std::size_t path = slash + 1;
    const std::size_t stop = end_of(first, end, path);
    for (std::size_t deeper = name.find('/', path); deeper != std::string::npos; deeper = name.find('/', path)) {
      if (end_of(first, stop, deeper + 1) != stop) {
        break;
      }
      path = deeper + 1;
    }
    return {first, stop, prefix, path, true, stop == end};
  }

  /// The end of the names that begin with the first one's `length` bytes.
  [[nodiscard]] std::size_t end_of(std::size_t first, std::size_t end, std::size_t length) const {
    const std::string_view path = std::string_view(names_[first]).substr(0, length);
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto stop = std::partition_point(begin, names_.begin() + static_cast<std::ptrdiff_t>(end),
                                           [&](const std::string& name) { return name.starts_with(path); });
    return static_cast<std::size_t>(stop - names_.begin());
  }

  const std::vector<std::string>& names_;
};

/// The lines that join a tree's nodes, for people.
class Branches {
 public:
  explicit Branches(bool ascii) : ascii_(ascii) {}

  /// The text before a node's name.
  std::string before(std::size_t depth, bool last) {
    lasts_.resize(depth);
    std::string text;
    for (std::size_t i = 1; i < depth; ++i) {
      text += lasts_[i] ? "   " : ascii_ ? "|  " : "│  ";
    }
    if (depth > 0) {
      text += last ? (ascii_ ? "`- " : "└─ ") : (ascii_ ? "|- " : "├─ ");
    }
    lasts_.push_back(last);
    return text;
  }

 private:
  bool ascii_;
  std::vector<bool> lasts_;  // by depth, of the nodes above the next one
};

class TreeView final : public OneTrialView {
 public:
  using OneTrialView::OneTrialView;

  [[nodiscard]] std::span<const Column> columns() const override {
    return options().for_people() ? drawing_columns : tree_columns;
  }

 protected:
  bool show_trial(Trial& trial, RowWriter& rows, Diagnostics& messages) override {
    const Selection selection = select(trial, options().selection, {.lists = false}, messages);
    if (selection.empty()) {
      return false;
    }
    const std::vector<std::string> names = saved_names(trial, selection, options().selection, messages);
    if (!options().output.quiet) {
      print(names, rows);
    }
    return !names.empty();
  }

 private:
  void print(const std::vector<std::string>& names, RowWriter& rows) const {
    const TreeWalk tree(names);
    if (!options().for_people()) {
      tree.each([&](const TreeWalk::Node& node, std::size_t) {
        rows.row({std::string_view(names[node.first]).substr(0, node.path), node.end - node.first});
      });
      return;
    }
    Branches branches(options().output.terminal.ascii);
    tree.each([&](const TreeWalk::Node& node, std::size_t depth) {
      const std::string text =
          branches.before(depth, node.last) + names[node.first].substr(node.above, node.path - node.above);
      rows.row({node.folder ? Cell(node.end - node.first) : Cell(""), text});
    });
  }
};

}  // namespace

std::unique_ptr<View> make_tree_view(const LsOptions& options) { return std::make_unique<TreeView>(options); }

}  // namespace smd::tool::ls
