// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "text/ascii.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace smd::tool::runs {

namespace {

constexpr std::array<std::string_view, 3> hp_choices = {"all", "differing", "none"};

// Words of names, also two in a row without what is between, or with digits behind. The least value of a scalar is the
// best if its name has one of the first table; else the greatest, if it has one of the second. `#`: only with digits.
// clang-format off
constexpr auto least_words = std::to_array<std::string_view>({
    "brier", "cer", "crossentropy", "err", "error", "errors", "fid", "logloss", "loss", "losses", "lpips", "mae",
    "mape", "mse", "nll", "perplexity", "ppl", "rmse", "wer",
});
constexpr auto greatest_words = std::to_array<std::string_view>({
    "acc", "accuracies", "accuracy", "ap", "auc", "aucpr", "auprc", "auroc", "bleu", "chrf", "cider", "corr",
    "correlation", "dice", "elo", "exactmatch", "explainedvariance", "f1", "fbeta", "hitrate", "hits", "iou",
    "jaccard", "kappa", "map", "mcc", "meteor", "miou", "mrr", "ndcg", "pass#", "passrate", "pearson", "pearsonr",
    "precision", "psnr", "r2", "recall", "return", "returns", "rew", "reward", "rewards", "rouge", "score", "scores",
    "sensitivity", "spearman", "spearmanr", "specificity", "ssim", "success", "top#", "winrate",
});
// clang-format on

constexpr auto own_options = in_group(
    group::view,
    {
        valued(no_letter, "best", "NAME", ArgumentKind::tensor,
               "sort by the best value of this scalar, the best run first")
            .explained("Sort by the best value of this scalar, the best run first, and show it before other scalars."),
        valued(no_letter, "min", "NAME", ArgumentKind::tensor, "of this scalar, the least value is the best")
            .repeatable(),
        valued(no_letter, "max", "NAME", ArgumentKind::tensor, "of this scalar, the greatest value is the best")
            .repeatable(),
        valued(no_letter, "hp", "WHICH", ArgumentKind::choice,
               "hyperparameters: all, differing (between the runs; the default) or none")
            .of(hp_choices),
        valued(no_letter, "until-step", "N", ArgumentKind::number,
               "add the column eta: seconds until step N, at the rate of the last hundred steps"),
    });

}  // namespace

std::span<const OptionSpec> RunsOptions::table() noexcept { return own_options; }

RunsOptions RunsOptions::from(const CommandLine& line) {
  RunsOptions options;
  options.places = line.operands();
  options.selection = SelectionOptions::from(line);
  options.best = line.value("best");
  options.least = line.values("min");
  options.greatest = line.values("max");
  for (const std::string& name : options.least) {
    refuse_if(contains(options.greatest, name), "--min and --max: " + single_quoted(name) + " is given to both");
  }
  const std::string hp = line.value("hp").value_or("differing");
  options.hp = hp == "all" ? HpChoice::all : hp == "none" ? HpChoice::none : HpChoice::differing;
  options.planned = line.integer("until-step", 0);
  options.output = OutputOptions::from(line);
  options.reading = ReadingOptions::from(line);
  options.following = FollowingOptions::from_redrawn(line);
  refuse_if(options.following.follow && (!options.output.to_terminal() || options.output.format != "table"),
            "--follow draws the table again in place: that needs a terminal, and -f table");
  return options;
}

std::vector<std::string> RunsOptions::named() const {
  std::vector<std::string> names = selection.names;
  names.insert(names.end(), least.begin(), least.end());
  names.insert(names.end(), greatest.begin(), greatest.end());
  if (best) {
    names.push_back(*best);
  }
  return names;
}

std::optional<bool> RunsOptions::least_is_best(const std::string& name, bool is_loss) const {
  if (contains(least, name) || contains(greatest, name)) {
    return contains(least, name);
  }
  std::string apart = name;
  std::ranges::replace_if(apart, std::not_fn(text::is_alphanumeric), ' ');
  std::vector<std::string> words = text::split_words(apart);
  for (std::size_t i = 1, count = words.size(); i < count; ++i) {
    words.push_back(words[i - 1] + words[i]);
  }
  const auto any_of = [&words](const auto& known) {
    return std::ranges::any_of(words, [&known](const std::string& word) {
      const std::string bare = word.substr(0, word.find_last_not_of("0123456789") + 1);
      return contains(known, word) || contains(known, bare) || (bare != word && contains(known, bare + "#"));
    });
  };
  if (is_loss || any_of(least_words)) {
    return true;
  }
  return any_of(greatest_words) ? std::optional(false) : std::nullopt;
}

}  // namespace smd::tool::runs
