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
    "brier", "cer", "crossentropy", "crps", "daviesbouldin", "deviance", "err", "error", "errors", "fid", "kl",
    "logloss", "loss", "losses", "lpips", "mae", "mape", "mse", "nll", "patchsimilarity", "penalty", "perplexity",
    "ppl", "rankedprobability", "rmse", "wer",
});
constexpr auto greatest_words = std::to_array<std::string_view>({
    "acc", "accuracies", "accuracy", "ap", "auc", "aucpr", "auprc", "auroc", "bleu", "chrf", "cider", "cindex", "comet",
    "corr", "correlation", "dcg", "dice", "elo", "exactmatch", "explainedvariance", "f1", "fbeta", "fitness",
    "hitrate", "hits", "hmean", "iou", "jaccard", "kappa", "lddt", "map", "mcc", "meteor", "miou", "mrr", "ndcg",
    "pass#", "passat", "passrate", "pearson", "pearsonr", "precision", "psnr", "r2", "recall", "return", "returns",
    "rew", "reward", "rewards", "rouge", "score", "scores", "sensitivity", "similarity", "spearman", "spearmanr",
    "specificity", "ssim", "success", "top#", "topat", "winrate",
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

std::optional<bool> RunsOptions::least_is_best(const std::string& name, bool is_loss, bool above_zero) const {
  if (contains(least, name) || contains(greatest, name)) {
    return contains(least, name);
  }
  std::string apart = name;
  std::ranges::replace_if(apart, std::not_fn(text::is_alphanumeric), ' ');
  std::vector<std::string> words;
  for (const std::string& word : text::split_words(apart)) {
    words.insert(words.end(), {words.empty() ? word : words.back() + word, word});
  }
  const auto first_of = [&words](const auto& known) {
    return std::ranges::find_if(words, [&known](const std::string& word) {
      const std::string bare = word.substr(0, word.find_last_not_of("0123456789") + 1);
      return contains(known, word) || contains(known, bare) || (bare != word && contains(known, bare + "#"));
    });
  };
  const bool says = first_of(std::to_array<std::string_view>({"rejected", "std", "stddev", "stderr"})) == words.end();
  if (const auto found = first_of(least_words); says && found != words.end()) {
    // scikit-learn negates so that the greatest value is the best, as in neg_log_loss; neg_loss is of negative samples.
    // Its d2 scores, such as d2_pinball_score, are shares of what is explained: the greatest is the best.
    const bool negated = !above_zero && (contains(words, "neg") || contains(words, "negative"));
    return contains(words, "likelihood") || !(negated || (contains(words, "d2") && contains(words, "score")));
  }
  const bool is_greatest = says && first_of(greatest_words) != words.end();
  return is_greatest || is_loss ? std::optional(!is_greatest) : std::nullopt;
}

}  // namespace smd::tool::runs
