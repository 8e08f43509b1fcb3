// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/shard_index.hpp"

#include "text/escape.hpp"
#include "text/json_scanner.hpp"

#include <algorithm>
#include <unordered_map>

namespace smd::detail::layout {

namespace {

bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos && name.find('\0') == name.npos;
}

void read_weight_map(text::JsonScanner& scanner, ShardIndex& index) {
  std::unordered_map<std::string, std::uint32_t> ids;
  scanner.enter_object();
  for (std::string_view key; scanner.next_member(key);) {
    const std::size_t at = scanner.offset();
    std::string tensor(key);
    std::string_view file;
    if (scanner.peek() != text::JsonKind::string) {
      index.problems.add(damaged("tensor '" + printable(tensor) + "': its file is not a name", at));
      scanner.skip();
      continue;
    }
    if (!scanner.string(file)) {
      return;
    }
    if (!is_plain_name(file)) {
      index.problems.add(damaged("tensor '" + printable(tensor) + "': its file '" + printable(file) +
                                     "' is not a name in the index's own folder, and is not opened",
                                 at));
      continue;
    }
    const auto [known, fresh] = ids.try_emplace(std::string(file), static_cast<std::uint32_t>(index.files.size()));
    if (fresh) {
      index.files.emplace_back(file);
    }
    index.tensors.emplace_back(std::move(tensor), known->second);
  }
}

}  // namespace

Outcome<ShardIndex> parse_shard_index(std::string_view json) {
  if (const std::size_t bad = text::first_bad_utf8(json); bad != json.size()) {
    return damaged("the index is not UTF-8", bad);
  }
  ShardIndex index;
  text::JsonScanner scanner(json);
  bool found = false;
  scanner.enter_object();
  for (std::string_view key; scanner.next_member(key);) {
    if (key == "weight_map" && scanner.peek() == text::JsonKind::object && !found) {
      found = true;
      read_weight_map(scanner, index);
    } else {
      scanner.skip();
    }
  }
  if (!scanner.finish()) {
    return damaged(std::string("the index is no JSON object: ") + scanner.error(), scanner.offset());
  }
  if (!found) {
    return damaged("the index has no weight_map");
  }
  std::stable_sort(index.tensors.begin(), index.tensors.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < index.tensors.size(); ++i) {
    if (index.tensors[i].first == index.tensors[i - 1].first) {
      index.problems.add(damaged("tensor '" + printable(index.tensors[i].first) + "' stands in the index twice"));
    }
  }
  return index;
}

}  // namespace smd::detail::layout
