// SPDX-License-Identifier: Apache-2.0
#include "framework/histogram_gaps.hpp"

#include "framework/nothing_evaluated.hpp"
#include "framework/rule_run.hpp"
#include "text/escape.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace smd::detail::rules {

namespace {

/// Tensors that are saved together: worker, folder of their files, kind.
using Family = std::tuple<std::uint32_t, std::string, std::string>;
/// The steps of each tensor, ascending.
using Members = std::map<std::uint32_t, std::vector<GlobalStep>>;

class Kinds {
 public:
  explicit Kinds(const TrialSnapshot& snapshot) : snapshot_(snapshot) {
    for (const std::string_view name : {"gradients", "weights", "biases"}) {
      sets_.emplace_back(name, snapshot.select({.collections = {std::string(name)}}));
    }
  }
  [[nodiscard]] std::string of(std::uint32_t tensor) const {
    for (const auto& [name, set] : sets_) {
      if (set[tensor]) {
        return std::string(name);
      }
    }
    const std::vector<std::string> words = text::split_words(snapshot_.tensor(tensor));
    return words.empty() ? std::string() : "word " + words.back();
  }

 private:
  const TrialSnapshot& snapshot_;
  std::vector<std::pair<std::string_view, TensorSet>> sets_;
};

/// Returns the steps of the family at which a tensor has no histogram; none if it never has one at two successive steps
/// of the family, because then it is saved less often.
std::vector<GlobalStep> missed(const std::vector<GlobalStep>& all, const std::vector<GlobalStep>& own) {
  std::vector<GlobalStep> missed;
  bool in_succession = own.size() == 1;
  bool before = false;
  for (const GlobalStep step : all) {
    const bool has = std::binary_search(own.begin(), own.end(), step);
    in_succession = in_succession || (has && before);
    before = has;
    if (!has) {
      missed.push_back(step);
    }
  }
  return in_succession ? missed : std::vector<GlobalStep>();
}

std::map<Family, Members> families(const RuleRun& run, const TensorSet& tensors) {
  const TrialSnapshot& snapshot = run.base().snapshot();
  const Kinds kinds(snapshot);
  std::vector<std::optional<std::vector<std::uint32_t>>> histograms(snapshot.lists());  // of each list, once
  std::map<std::uint32_t, std::string> kind;
  std::map<Family, Members> families;
  run.for_each_row(0, [&](SavedRow row) {
    std::optional<std::vector<std::uint32_t>>& of_list = histograms[snapshot.list(row)];
    if (!of_list) {
      of_list.emplace();
      for (const SavedItem& item : snapshot.items(row)) {
        const bool wanted = item.tensor < tensors.size() && tensors[item.tensor];
        if (wanted && !item.is_value() && snapshot.reduction(item.reduction) == saved_histogram) {
          of_list->push_back(item.tensor);
          kind.try_emplace(item.tensor, kinds.of(item.tensor));
        }
      }
    }
    if (of_list->empty()) {
      return;
    }
    std::string folder = *snapshot.file(row);
    folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
    for (const std::uint32_t tensor : *of_list) {
      std::vector<GlobalStep>& steps = families[{row.worker(), folder, kind.at(tensor)}][tensor];
      if (steps.empty() || steps.back() != row.step()) {
        steps.push_back(row.step());
      }
    }
  });
  return families;
}

}  // namespace

std::string histogram_gaps(const RuleRun& run, const TensorSet& tensors) {
  const TrialSnapshot& snapshot = run.base().snapshot();
  std::map<std::string_view, std::vector<GlobalStep>> found;  // by tensor
  for (const auto& [family, members] : families(run, tensors)) {
    std::vector<GlobalStep> all;
    for (const auto& [tensor, steps] : members) {
      all.insert(all.end(), steps.begin(), steps.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (const auto& [tensor, steps] : members) {
      if (std::vector<GlobalStep> steps_missed = missed(all, steps); !steps_missed.empty()) {
        found.emplace(snapshot.tensor(tensor), std::move(steps_missed));
      }
    }
  }
  if (found.empty()) {
    return {};
  }
  const auto& [name, steps] = *found.begin();
  std::string text = fmt::format("{} has no histogram at step {}", printable(name), steps.front().value);
  text += steps.size() > 1 ? fmt::format(" and {} more", steps.size() - 1) : "";
  text += " at which others of its kind have one";
  text += found.size() > 1 ? fmt::format(" (likewise {})", counted(found.size() - 1, "other tensor")) : "";
  return text + ": writers leave out histograms that are all NaN";
}

}  // namespace smd::detail::rules
