// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/mapped.hpp"
#include "statistic.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace smd::tool::reduce {

namespace {

constexpr std::array<std::string_view, 3> sources = {"auto", "saved", "computed"};
constexpr std::array<std::string_view, 2> nan_policies = {"propagate", "omit"};

constexpr std::array<std::pair<std::string_view, ReduceViewKind>, 3> view_flags = {
    {{"hist", ReduceViewKind::hist}, {"pivot", ReduceViewKind::pivot}, {"spark", ReduceViewKind::spark}}};
constexpr std::array<std::string_view, 5> of_statistics = {"reduce", "abs", "source", "ddof", "nan"};
constexpr std::array<std::string_view, 4> by_row_words = {"tensor", "step", "worker", "row"};

constexpr OptionSpec by_row_option =
    by_option.of(by_row_words)
        .with<std::string_view>(&OptionSpec::help,
                                "of tensor,step,worker,row: a row for each; what is left out is pooled as one array "
                                "(default: the first three)")
        .explained(
            "Print a row for each tensor, step, worker or row, as LIST names them (default: the first three). What is "
            "left out is pooled as one array. row, with tensor, is the index on the first axis of tensors with two "
            "axes or more: which rows of an embedding are dead, which units are zero.");

// What an option's texts say of the reductions, and what shells offer.
struct ReductionTexts {
  std::string help;
  std::string manual;
  std::vector<std::string> words = reduction_words();
  std::vector<std::string_view> columns;  // without the words that stand for others
  std::vector<std::string_view> choices;

  ReductionTexts() {
    std::vector<std::string_view> of_abs;
    std::vector<std::string_view> others;
    std::vector<std::string_view> others_in_help;
    for (const ReductionFacts& facts : all_reductions()) {
      if (facts.kind == ReductionKind::percentile) {
        others_in_help.emplace_back("p0..p100");
      } else if (facts.abs) {
        of_abs.push_back(facts.name);
      } else {
        others.push_back(facts.name);
        others_in_help.push_back(facts.name);
      }
    }
    help = fmt::format("{}, each also abs_; saved: all that were saved; all: these {}; {} (default: min,max,mean,std)",
                       fmt::join(of_abs, " "), 2 * of_abs.size(), fmt::join(others_in_help, " "));
    manual = fmt::format(
        "Which statistics: {}, each also of the absolute values with abs_ in front; saved stands for all that the job "
        "saved, all for these {}. A statistic selected only through saved is not computed if the job did not save it, "
        "unless --source is computed. Also {}, and percentiles p0 to p100, like p99.9. The default is "
        "min,max,mean,std.",
        fmt::join(of_abs, ", "), 2 * of_abs.size(), fmt::join(others, ", "));
    words.emplace_back("p50");
    columns.assign(words.begin(), words.end());
    choices = columns;
    choices.insert(choices.end(), {"saved", "all"});
  }
};

const ReductionTexts& reduction_texts() {
  static const ReductionTexts texts;
  return texts;
}

// Options that choose or change elements must be given when the shards are made.
void check_merging(const ReduceCommandOptions& options, const CommandLine& line) {
  refuse_if(options.slice.has_value(), "--merge: shards hold no values to slice");
  const auto refuse = [&line](std::string_view name) {
    refuse_if(line.has(name), "--merge takes shards as they are: give --" + std::string(name) + " where they are made");
  };
  for (const OptionSpec& option : SelectionOptions::table()) {
    refuse(option.name);
  }
  for (const std::string_view name : {"source", "ddof", "nan"}) {
    refuse(name);
  }
}

void check(const ReduceCommandOptions& options, const CommandLine& line) {
  const bool hist = options.view == ReduceViewKind::hist;
  const bool pivot = options.view == ReduceViewKind::pivot;
  const bool spark = options.view == ReduceViewKind::spark;
  const bool in_parts = options.shard || options.merge;
  refuse_if(line.has("bins") && !hist, "--bins needs --hist");
  refuse_if(hist && std::ranges::any_of(of_statistics, [&line](std::string_view name) { return line.has(name); }),
            "--hist counts values: it takes no -r, --abs, --source, --ddof or --nan");
  refuse_if(hist && in_parts, "--hist cannot be made in parts: give bounds with --bins and add up the counts");
  refuse_if(options.slice && (options.source == SourceChoice::saved || options.asks_for_saved()),
            "--slice: saved statistics are of whole values; name the reductions, without --source saved");
  if (options.by.row) {
    refuse_if(options.view != ReduceViewKind::rows || options.svg(),
              "--by: row is for statistics: not with --hist, --pivot, --spark or -f svg");
    refuse_if(in_parts, "--by: rows of tensors cannot be made in parts: not with --shard or --merge");
    refuse_if(options.source == SourceChoice::saved || options.asks_for_saved(),
              "--by: saved statistics are of whole values, not of rows; name the reductions, without --source saved");
  }
  refuse_if(
      options.across && (hist || in_parts || options.following.follow || options.smooth || options.output.with_trial),
      "--across pools trials: not with --hist, --shard, --merge, --follow, --smooth or --with-trial");
  if (options.smooth) {
    refuse_if(hist || pivot || in_parts,
              "--smooth is for rows and curves: not with --hist, --pivot, --shard or --merge");
    refuse_if(!options.by.step, "--smooth goes over steps: --by must have step");
    refuse_if(options.reading.superseded != Superseded::left_out,
              "--smooth uses no superseded values: not with --superseded or --with-superseded");
    refuse_if(
        options.following.follow && (options.selection.steps || options.selection.every != 1),
        "--smooth goes over all steps: with --follow choose rows by --where 'step >= N', not by --step or --every");
  }
  if (pivot || spark) {
    const std::string flag = pivot ? "--pivot" : "--spark";
    refuse_if(!options.by.tensor || !options.by.step, flag + " shows tensors over steps: --by must have both");
    refuse_if(options.shard.has_value(), flag + " is for the whole: use it with --merge");
  }
  refuse_if(spark && options.output.format_given && options.output.format != "table" && !options.svg(),
            "--spark draws a picture: -f " + options.output.format + " cannot hold it");
  refuse_if(
      options.reading.superseded == Superseded::included &&
          (options.by != By() || options.across || in_parts || options.view != ReduceViewKind::rows || options.svg()),
      "--with-superseded prints a row for each value: not with another --by, --across, --hist, --pivot, --spark, "
      "--shard, --merge or -f svg");
  refuse_if(options.shard && options.output.limit, "--shard makes parts to be merged whole: give --limit with --merge");
  refuse_if(options.shard && options.output.format == "jsonl" && !options.output.columns.empty(),
            "--shard --jsonl makes parts to be merged whole: give --columns with --merge");
  refuse_if(options.merge && options.shard, "--shard makes parts and --merge takes them: one at a time");
  if (options.merge) {
    check_merging(options, line);
  }
}

void check_picture(const ReduceCommandOptions& options) {
  if (!options.svg()) {
    return;
  }
  refuse_if(options.view == ReduceViewKind::pivot, "--pivot makes a table: -f svg draws curves without it");
  const bool hist = options.view == ReduceViewKind::hist;
  refuse_if(hist && options.picture.scale == ScaleKind::logarithmic, "--log is for curves: not with --hist");
  refuse_if(!hist && !options.by.step, "-f svg draws curves over steps: --by must have step");
  refuse_if(options.shard.has_value(), "-f svg is for the whole: use it with --merge");
  refuse_if(options.following.follow, "--follow prints rows as steps complete: -f svg must hold all of them");
}

void check_following(const ReduceCommandOptions& options) {
  if (!options.following.follow) {
    return;
  }
  refuse_if(options.view == ReduceViewKind::spark && !options.output.to_terminal(),
            "--follow draws --spark again in place: that needs a terminal");
  refuse_if(options.view != ReduceViewKind::rows && options.view != ReduceViewKind::spark,
            "--follow prints rows as steps complete: not with --hist or --pivot");
  refuse_if(options.shard || options.merge, "--follow: not with --shard or --merge, which take what is there");
  refuse_if(!options.by.step, "--follow prints rows as steps complete: --by must have step");
  refuse_if(options.asks_for_saved(), "--follow: name the reductions, 'saved' is known when all steps are");
}

}  // namespace

std::span<const std::string_view> offered_reductions() { return reduction_texts().columns; }

std::span<const OptionSpec> ReduceCommandOptions::table() {
  const ReductionTexts& texts = reduction_texts();  // which follow from the table of reductions
  static const auto options = in_group(
      group::view,
      {
          valued('r', "reduce", "LIST", ArgumentKind::text, texts.help)
              .list()
              .of(texts.choices)
              .explained(texts.manual),
          flag('a', "abs", "put abs_ before each"),
          valued(no_letter, "source", "S", ArgumentKind::choice,
                 "auto: saved statistics where there are any, else computed; saved; computed")
              .of(sources),
          valued(no_letter, "ddof", "N", ArgumentKind::number,
                 "computed std and variance divide by the number of elements less N (default: 0)"),
          valued(no_letter, "nan", "P", ArgumentKind::choice,
                 "propagate: NaN makes computed statistics NaN, as NumPy (default); omit: leave NaN out")
              .of(nan_policies),
          by_row_option,
          flag(no_letter, "across", "pool the trials too: mean and std over seeds; column trials in place of trial"),
          valued(no_letter, "smooth", "W", ArgumentKind::number,
                 "after each statistic its exponential mean over the steps, as TensorBoard shows it; 0 <= W < 1")
              .explained("Add the column NAME_smooth after each statistic NAME: the exponential mean of its series as "
                         "TensorBoard shows it, s = W s + (1 - W) x, divided by 1 - W^n. It is taken over the whole "
                         "series, whatever steps are chosen; n counts finite numbers, and others stay as they are. "
                         "--spark has a curve of it, and -f svg draws it over the pale statistic."),
          flag(no_letter, "hist",
               "histograms: bars in a table, rows bin lo hi count elsewhere; without bounds one range for all"),
          valued(no_letter, "bins", "N[:LO:HI]", ArgumentKind::text,
                 "how many bins, and between which bounds (default: 10, from the least to the greatest value)"),
          flag(no_letter, "pivot", "one reduction, with a row per step and a column per tensor"),
          flag(no_letter, "spark", "a line per tensor, its curve over the steps"),
          valued(no_letter, "slice", "S", ArgumentKind::text,
                 "reduce only this part, indexed as in NumPy: 0,:,::2,-1 and ..."),
          valued(no_letter, "shard", "I/N", ArgumentKind::text,
                 "part I (from 1) of N of the steps; auto or auto/N: the place that Slurm, AWS Batch or GNU "
                 "parallel gave"),
          flag(no_letter, "merge", "operands are the JSON lines of shards made with the same options: pool them"),
          flag(no_letter, "strict", "status 1 if something asked for is not available"),
      });
  return options;
}

bool ReduceCommandOptions::asks_for_saved() const noexcept { return contains(reductions, "saved"); }

ReduceCommandOptions ReduceCommandOptions::from(const CommandLine& line) {
  ReduceCommandOptions options;
  static_cast<ShowOptions&>(options) = ShowOptions::from(line);
  options.reductions_given = line.has("reduce");
  options.reductions = line.values("reduce");
  if (!options.reductions_given) {
    options.reductions = {"min", "max", "mean", "std"};
  }
  options.abs = line.has("abs");
  const std::string source = line.value("source").value_or("auto");
  options.source = source == "saved"      ? SourceChoice::saved
                   : source == "computed" ? SourceChoice::computed
                                          : SourceChoice::automatic;
  options.reduce.ddof = static_cast<std::uint64_t>(line.integer("ddof", 0, std::int64_t{1} << 53).value_or(0));
  options.reduce.omit_nan = line.value("nan") == "omit";
  options.by_given = line.has("by");
  options.by = By::from(line, by_row_words);
  options.across = line.has("across");
  options.view = only_flag(line, view_flags);
  options.shard = line.convert("shard", Shard::parse);
  options.merge = line.has("merge");
  options.strict = line.has("strict");
  options.following = FollowingOptions::from(line);
  check(options, line);
  check_picture(options);
  check_following(options);
  // Unknown names are refused before anything is read.
  const std::vector<Wanted> wanted = wanted_reductions(options.reductions, options.abs, {});
  refuse_if(options.view == ReduceViewKind::pivot && wanted.size() != 1 && !options.asks_for_saved() &&
                (options.reductions_given || !options.merge),
            "--pivot shows one reduction: choose it with -r");
  return options;
}

}  // namespace smd::tool::reduce
