// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "text/ascii.hpp"

#include <array>

namespace smd::tool::runs {

namespace {

constexpr std::array<std::string_view, 3> hp_choices = {"all", "differing", "none"};

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

bool RunsOptions::least_is_best(const std::string& name, bool is_loss) const {
  if (contains(least, name) || contains(greatest, name)) {
    return contains(least, name);
  }
  constexpr std::array<std::string_view, 5> of_losses = {"loss", "error", "err", "wer", "perplexity"};
  constexpr std::array<std::string_view, 18> of_scores = {"acc",    "accuracy", "auc",    "bleu",      "dice",  "f1",
                                                          "iou",    "map",      "miou",   "precision", "psnr",  "r2",
                                                          "recall", "return",   "reward", "rouge",     "score", "ssim"};
  bool any_greatest = false;
  bool any_least = is_loss;
  std::string word;
  const auto end_of_word = [&] {
    const std::string_view whole = word;
    const std::string_view bare = whole.substr(0, whole.find_last_not_of("0123456789") + 1);
    for (const std::string_view one : {whole, bare}) {
      any_least = any_least || contains(of_losses, one);
      any_greatest = any_greatest || contains(of_scores, one);
    }
    word.clear();
  };
  for (const char c : name) {
    if (text::is_alphanumeric(c)) {
      word += text::to_lower(c);
    } else {
      end_of_word();
    }
  }
  end_of_word();
  return any_least || !any_greatest;
}

}  // namespace smd::tool::runs
