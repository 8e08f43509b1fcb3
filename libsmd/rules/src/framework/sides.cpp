// SPDX-License-Identifier: Apache-2.0
#include "framework/sides.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

namespace smd::detail::rules {

namespace {

struct Word {
  std::string text;
  Side side = Side::none;
};

/// Splits a part of a name into words. Each part has a first word of its own: `dev` names a side at the start of a
/// folder or a tag.
std::vector<Word> words_of(std::string_view part) {
  std::vector<Word> words;
  for (std::string& word : text::split_words(part)) {
    const Side side = text::side_of_word(word, words.empty());
    words.push_back({std::move(word), side});
  }
  return words;
}

std::string joined(const std::vector<Word>& words) { return text::joined(words, " ", &Word::text); }

/// A name's words, and its side: that of the first word that names one, in the run's last folder, else in the tag, else
/// in the folders above.
struct SplitName {
  explicit SplitName(const ScalarName& scalar) {
    const std::string_view name = scalar.name;
    const std::string_view run = name.substr(0, scalar.run_length);
    const std::size_t folder = run.rfind('/') + 1;  // 0 without a slash
    const std::array<std::vector<Word>, 3> parts = {
        words_of(run.substr(0, folder)), words_of(run.substr(folder)),
        words_of(name.substr(run.empty() ? 0 : std::min(run.size() + 1, name.size())))};
    for (const std::size_t part : {std::size_t{1}, std::size_t{2}, std::size_t{0}}) {
      const auto said = std::ranges::find_if(parts[part], [](const Word& word) { return word.side != Side::none; });
      if (side == Side::none && said != parts[part].end()) {
        side = said->side;
      }
    }
    for (const std::vector<Word>& part : parts) {
      words.insert(words.end(), part.begin(), part.end());
    }
  }

  /// Returns the position of the last word that names no side; the number of words if all name one.
  [[nodiscard]] std::size_t last_word() const {
    const auto last =
        std::find_if(words.rbegin(), words.rend(), [](const Word& one) { return one.side == Side::none; });
    return last == words.rend() ? words.size() : static_cast<std::size_t>(words.rend() - last) - 1;
  }

  std::vector<Word> words;
  Side side = Side::none;
};

/// Returns a name's key: the name without words for a side and without a last word `epoch`. Also without a last word
/// `step`, unless another name has `epoch` in its place: then the two are different values. `all` has the words of all
/// names.
std::string key_of(const SplitName& name, const std::set<std::string>& all) {
  const std::size_t last = name.last_word();
  bool drop_last = last < name.words.size() && name.words[last].text == "epoch";
  if (last < name.words.size() && name.words[last].text == "step") {
    std::vector<Word> other = name.words;
    other[last].text = "epoch";
    drop_last = !all.contains(joined(other));
  }
  std::vector<Word> kept;
  for (std::size_t i = 0; i < name.words.size(); ++i) {
    if (name.words[i].side == Side::none && !(drop_last && i == last)) {
      kept.push_back(name.words[i]);
    }
  }
  return joined(kept);
}

}  // namespace

Sides::Sides(std::span<const ScalarName> names) {
  std::vector<std::pair<std::string_view, SplitName>> split;
  std::set<std::string> all;
  for (const ScalarName& name : names) {
    split.emplace_back(name.name, SplitName(name));
    all.insert(joined(split.back().second.words));
  }
  std::set<std::string, std::less<>> validated;  // keys
  for (const auto& [name, parts] : split) {
    Name& known = names_[std::string(name)];
    known = {parts.side, parts.side != Side::none, parts.words.size(), key_of(parts, all)};
    if (known.side == Side::eval) {
      validated.insert(known.key);
    }
  }
  // A test counts as validation if there is no other.
  std::set<std::string, std::less<>> tested;
  for (auto& [name, known] : names_) {
    if (known.side == Side::test) {
      const bool counts = !validated.contains(known.key);
      known.side = counts ? Side::eval : Side::none;
      if (counts) {
        tested.insert(known.key);
      }
    }
  }
  validated.merge(tested);
  for (auto& [name, known] : names_) {
    if (!known.has_side_word && validated.contains(known.key)) {
      known.side = Side::train;
    }
    if (known.side == Side::train) {
      training_[known.key].push_back(name);
    }
  }
  for (auto& [key, candidates] : training_) {
    std::ranges::stable_sort(candidates, {}, [&](std::string_view name) {
      const Name& known = names_.find(name)->second;
      return std::tuple(!known.has_side_word, known.words);
    });
  }
}

Side Sides::of(std::string_view name) const {
  const auto known = names_.find(name);
  return known == names_.end() ? Side::none : known->second.side;
}

bool Sides::differ(const Sides& later) const {
  return std::ranges::any_of(names_, [&](const auto& known) { return later.of(known.first) != known.second.side; });
}

std::vector<std::string_view> Sides::names(Side side) const {
  std::vector<std::string_view> names;
  for (const auto& [name, known] : names_) {
    if (known.side == side) {
      names.emplace_back(name);
    }
  }
  return names;
}

std::vector<std::string_view> Sides::partners(std::string_view validation) const {
  const auto known = names_.find(validation);
  if (known == names_.end() || known->second.side != Side::eval) {
    return {};
  }
  const auto candidates = training_.find(known->second.key);
  return candidates == training_.end() ? std::vector<std::string_view>() : candidates->second;
}

}  // namespace smd::detail::rules
