// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/shard_index.hpp"

#include "base/map_pages.hpp"
#include "text/escape.hpp"
#include "text/json_reader.hpp"
#include "wire/json_problem.hpp"

#include <boost/sort/spinsort/spinsort.hpp>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace smd::detail::layout {

namespace {

bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos && name.find('\0') == name.npos;
}

class WeightMapReader {
 public:
  WeightMapReader(const text::JsonReader& reader, ShardIndex& index) : reader_(reader), index_(index) {}

  void read(std::string_view key, text::JsonValue& value) {
    const std::string_view tensor = lasting(key);
    const auto file = value.text();
    const auto refuse = [&](const std::string& why) {
      index_.problems.add(damaged("tensor '" + printable(tensor) + "': its file " + why, value.offset()));
    };
    if (!file) {
      refuse("is not a name");
    } else if (const auto id = id_of(*file)) {
      index_.tensors.push_back({tensor, *id});
    } else {
      refuse("'" + printable(*file) + "' is not a name in the index's own folder, and is not opened");
    }
  }

 private:
  std::string_view lasting(std::string_view text) {
    return reader_.stands_in_text(text) ? text : std::string_view(index_.unescaped.emplace_front(text));
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

  const text::JsonReader& reader_;
  ShardIndex& index_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::uint32_t last_ = 0;
};

}  // namespace

Outcome<ShardIndex> parse_shard_index(std::string_view json) {
  constexpr std::size_t usual_bytes = 80;  // of a tensor
  constexpr std::size_t most_expected = 100'000;
  ShardIndex index;
  text::JsonReader reader;
  bool found = false;
  const auto error = reader.read(json, [&](std::string_view key, text::JsonValue& value) {
    if (key == "weight_map") {
      index = {};
      index.tensors.reserve(std::min(json.size() / usual_bytes, most_expected));
      map_pages(index.tensors);
      WeightMapReader map(reader, index);
      found = value.members([&](std::string_view tensor, text::JsonValue& file) { map.read(tensor, file); });
    }
  });
  if (error) {
    return json_problem(*error, json);
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
