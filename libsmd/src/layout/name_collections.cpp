// SPDX-License-Identifier: Apache-2.0
#include "layout/name_collections.hpp"

#include "text/loss_name.hpp"
#include "text/trim.hpp"
#include "text/words.hpp"

#include <boost/sort/spinsort/spinsort.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smd::detail::layout {

namespace {

enum NameWord { gradient_word = 1, weight_word = 2, bias_word = 4, lora_word = 8, alpha_word = 16, beside_word = 32 };

// clang-format off
constexpr std::array<std::pair<std::string_view, NameWord>, 18> name_words = {{
    {"grad", gradient_word}, {"grads", gradient_word}, {"gradient", gradient_word}, {"gradients", gradient_word},
    {"weight", weight_word}, {"weights", weight_word}, {"kernel", weight_word}, {"embedding", weight_word},
    {"bias", bias_word},
    {"lora", lora_word}, {"alpha", alpha_word},  // a weight, but for its factor
    // What is kept beside a model: optimizers, and what these have of each weight.
    {"optim", beside_word}, {"optimizer", beside_word}, {"optimizers", beside_word},
    {"exp_avg", beside_word}, {"exp_avg_sq", beside_word}, {"max_exp_avg_sq", beside_word},
    {"momentum_buffer", beside_word},
}};
// clang-format on

/// Returns which of these words, or keys, a name has. Caches the parts between dots and slashes: most names share them.
class NameWords {
 public:
  unsigned of(std::string_view name) {
    unsigned found = 0;
    while (!name.empty()) {
      found |= of_part(text::next_part(name, "./"));
    }
    return (found & (lora_word | alpha_word)) == lora_word ? found | weight_word : found;
  }

 private:
  static constexpr std::size_t most_known = 4096;

  unsigned of_part(std::string_view part) {
    if (const auto known = known_.find(part); known != known_.end()) {
      return known->second;
    }
    unsigned found = 0;
    std::vector<std::string> words = text::split_words(part);
    words.emplace_back(part);
    for (const std::string& word : words) {
      const auto* const known = std::ranges::find(name_words, word, &decltype(name_words)::value_type::first);
      found |= known == name_words.end() ? NameWord() : known->second;
    }
    if (known_.size() < most_known) {
      known_.emplace(part, found);
    }
    return found;
  }

  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, unsigned, Hash, std::equal_to<>> known_;
};

/// Sorts tensors into collections.
class Sorter {
 public:
  void add(const NamedValues& values) {
    if (values.kind == ValueKind::system) {
      return put(system_collection, values.tensor);
    }
    put("all", values.tensor);
    if (values.kind == ValueKind::number) {
      return put(text::is_loss_name(values.tensor) ? "losses" : "scalars", values.tensor);
    }
    if (values.kind == ValueKind::counter) {
      return put("metrics", values.tensor);
    }
    const unsigned words = words_.of(values.tensor);
    if (values.kind == ValueKind::further || (values.kind == ValueKind::parameter && (words & beside_word) != 0)) {
      return;
    }
    const bool gradient = (words & gradient_word) != 0;
    const bool bias = (words & bias_word) != 0;
    if (gradient && values.kind != ValueKind::parameter) {
      put("gradients", values.tensor);
    }
    if (!gradient && ((words & weight_word) != 0 || (values.kind == ValueKind::watched && !bias))) {
      put("weights", values.tensor);
    }
    if (!gradient && bias) {
      put("biases", values.tensor);
    }
    switch (values.kind) {
      case ValueKind::histogram:
      case ValueKind::watched:
        return put("histograms", values.tensor);
      case ValueKind::image:
        return put("images", values.tensor);
      case ValueKind::audio:
        return put("audio", values.tensor);
      case ValueKind::text:
        return put("text", values.tensor);
      case ValueKind::number:
      case ValueKind::tensor:
      case ValueKind::parameter:
      case ValueKind::further:
      case ValueKind::counter:
      case ValueKind::system:
        return;
    }
  }

  /// Merges the added tensors into `collections`.
  void move_to(std::map<std::string, Collection>& collections) {
    for (auto& [name, tensors] : added_) {
      Collection& collection = collections[std::string(name)];
      collection.name = name;
      boost::sort::spinsort(tensors.begin(), tensors.end(), std::less<>());
      std::vector<std::string>& all = collection.tensor_names;
      const auto known = static_cast<std::ptrdiff_t>(all.size());
      all.insert(all.end(), std::make_move_iterator(tensors.begin()), std::make_move_iterator(tensors.end()));
      std::inplace_merge(all.begin(), all.begin() + known, all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
  }

 private:
  void put(std::string_view collection, const std::string& tensor) { added_[collection].push_back(tensor); }

  std::map<std::string_view, std::vector<std::string>> added_{{"all", {}}, {"losses", {}}};
  NameWords words_;
};

}  // namespace

std::shared_ptr<const CollectionsInfo> add_to_collections(std::shared_ptr<const CollectionsInfo> before,
                                                          std::span<const NamedValues> values) {
  if (before && values.empty()) {
    return before;
  }
  auto info = before ? std::make_shared<CollectionsInfo>(*before) : std::make_shared<CollectionsInfo>();
  info->found = true;
  info->made_of_names = collections_of_names;
  Sorter sorter;
  std::ranges::for_each(values, [&](const NamedValues& one) { sorter.add(one); });
  CollectionMap::Map collections = *info->collections;
  sorter.move_to(collections);
  info->collections = CollectionMap(std::move(collections));
  return info;
}

}  // namespace smd::detail::layout
