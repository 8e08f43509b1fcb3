// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/shard_index.hpp"

#include "storage/storage.hpp"
#include "text/escape.hpp"
#include "text/json_reader.hpp"
#include "wire/first_bytes.hpp"

#include <boost/sort/spinsort/spinsort.hpp>

#include <algorithm>
#include <unordered_map>

namespace smd::detail::layout {

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
      std::unordered_map<std::string, std::uint32_t> ids;
      std::uint32_t last = 0;
      found = value.members([&](std::string_view given, text::JsonValue& file) {
        const std::string_view tensor =
            reader.stands_in_text(given) ? given : std::string_view(index.unescaped.emplace_front(given));
        const auto refuse = [&](const std::string& why) {
          index.problems.add(damaged("tensor " + in_quotes(tensor) + ": its file " + why, file.offset()));
        };
        const auto name = file.text();
        if (!name) {
          return refuse("is not a name");
        }
        if (last >= index.files.size() || index.files[last] != *name) {  // most tensors follow others of the same file
          if (!storage::is_plain_name(*name)) {
            return refuse(in_quotes(*name) + " is not a name in the index's own folder, and is not opened");
          }
          const auto [known, fresh] =
              ids.try_emplace(std::string(*name), static_cast<std::uint32_t>(index.files.size()));
          if (fresh) {
            index.files.emplace_back(*name);
          }
          last = known->second;
        }
        index.tensors.push_back({tensor, last});
      });
    }
  });
  if (error) {
    return wire::json_problem(*error, json);
  }
  if (!found) {
    return damaged("the index has no weight_map");
  }
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  if (!std::ranges::is_sorted(index.tensors, by_name)) {
    boost::sort::spinsort(index.tensors.begin(), index.tensors.end(), by_name);
  }
  for (std::size_t i = 1; i < index.tensors.size(); ++i) {
    if (index.tensors[i].name == index.tensors[i - 1].name) {
      index.problems.add(damaged("tensor " + in_quotes(index.tensors[i].name) + " stands in the index twice"));
    }
  }
  return index;
}

}  // namespace smd::detail::layout
