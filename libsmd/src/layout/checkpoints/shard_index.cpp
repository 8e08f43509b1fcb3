// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/shard_index.hpp"

#include "base/map_pages.hpp"
#include "text/escape.hpp"
#include "text/json_scanner.hpp"

#include <boost/sort/spinsort/spinsort.hpp>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace smd::detail::layout {

namespace {

bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos && name.find('\0') == name.npos;
}

class WeightMapReader {
 public:
  WeightMapReader(text::JsonScanner& scanner, ShardIndex& index) : scanner_(scanner), index_(index) {}

  void read() {
    scanner_.enter_object();
    for (std::string_view key; scanner_.next_member(key);) {
      const std::size_t at = scanner_.offset();
      const std::string_view tensor = lasting(key);
      std::string_view file;
      if (scanner_.peek() != text::JsonKind::string) {
        index_.problems.add(damaged("tensor '" + printable(tensor) + "': its file is not a name", at));
        scanner_.skip();
        continue;
      }
      if (!scanner_.string(file)) {
        return;
      }
      if (const auto id = id_of(file)) {
        index_.tensors.push_back({tensor, *id});
      } else {
        index_.problems.add(damaged("tensor '" + printable(tensor) + "': its file '" + printable(file) +
                                        "' is not a name in the index's own folder, and is not opened",
                                    at));
      }
    }
  }

 private:
  std::string_view lasting(std::string_view text) {
    return scanner_.stands_in_text(text) ? text : std::string_view(index_.unescaped.emplace_front(text));
  }

  /// Returns the index of `file` in `ShardIndex::files`. Nullopt if it is not a plain name.
  std::optional<std::uint32_t> id_of(std::string_view file) {
    if (last_ < index_.files.size() && index_.files[last_] == file) {  // most tensors follow others of the same file
      return last_;
    }
    if (!is_plain_name(file)) {
      return std::nullopt;
    }
    const auto [known, fresh] = ids_.try_emplace(std::string(file), static_cast<std::uint32_t>(index_.files.size()));
    if (fresh) {
      index_.files.emplace_back(file);
    }
    return last_ = known->second;
  }

  text::JsonScanner& scanner_;
  ShardIndex& index_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::uint32_t last_ = 0;
};

}  // namespace

Outcome<ShardIndex> parse_shard_index(std::string_view json) {
  constexpr std::size_t usual_bytes = 80;  // of a tensor
  constexpr std::size_t most_expected = 100'000;
  ShardIndex index;
  if (const std::size_t bad = text::first_bad_utf8(json); bad != json.size()) {
    return damaged("the index is not UTF-8", bad);
  }
  const std::size_t expected = std::min(json.size() / usual_bytes, most_expected);
  index.tensors.reserve(expected);
  map_pages(index.tensors);
  text::JsonScanner scanner(json);
  bool found = false;
  scanner.enter_object();
  for (std::string_view key; scanner.next_member(key);) {
    if (key == "weight_map" && scanner.peek() == text::JsonKind::object && !found) {
      found = true;
      WeightMapReader(scanner, index).read();
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
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  if (!std::is_sorted(index.tensors.begin(), index.tensors.end(), by_name)) {
    boost::sort::spinsort(index.tensors.begin(), index.tensors.end(), by_name);
  }
  for (std::size_t i = 1; i < index.tensors.size(); ++i) {
    if (index.tensors[i].name == index.tensors[i - 1].name) {
      index.problems.add(damaged("tensor '" + printable(index.tensors[i].name) + "' stands in the index twice"));
    }
  }
  return index;
}

}  // namespace smd::detail::layout
