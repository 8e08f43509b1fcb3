// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "columns.hpp"

#include <array>

namespace smd::tool::reduce {

namespace {

constexpr std::string_view reduce_pictures =
    "-f svg draws a chart for each reduction, with a curve over the steps for each tensor, mode, worker and trial. If "
    "there are three or more reductions and all are percentiles (min, p25, median, max), each tensor has a fan of them "
    "instead. With --hist it draws bars of one step, or over several a heat map, in which the colour says what share "
    "of a step's elements a bin has.";

constexpr std::array<Prose, 9> prose = {{
    {.title = "REDUCTIONS",
     .text =
         "Each is over all elements of a value, whatever its shape, in double precision: l1 is the sum of |x| and "
         "l2 the root of the sum of squares, not the matrix norms that the reference computes. Sums, means and "
         "extremes are exact, rounded once; a mean is infinite if its sum exceeds the range of double. Squares "
         "must be in the range of double: variance, std, l2 and rms are infinite from 1e154 on, and lose digits if "
         "all |x| are below 1e-120. variance and std divide by the number of elements less --ddof; PyTorch jobs "
         "save them divided by one less than the number, which is why the column source tells saved statistics "
         "from computed ones. NaN and infinities are passed on as in NumPy; --nan omit leaves NaN out of computed "
         "statistics (counts and fractions stay those of all elements).\n\n"
         "pN is the N-th percentile, linear between neighbours as numpy.percentile, and NaN beside an infinite "
         "element; the median is p50. Median and percentiles keep the elements in memory; all others need little, "
         "however large a value is.\n\n"
         "min, max and median are printed in the type of the elements (0.1 of float32 is 0.1), and so are mean and sum "
         "of one element; all others, and with --shard everything that is pooled over steps, in double.\n\n"
         "A statistic that is neither saved nor can be computed is NA, and a warning says what is saved. Strings "
         "have none; complex numbers have no order: min, max, median, percentiles and prod of them are NA, those "
         "of their absolute values are not."},
    {.title = "STEPS",
     .text = "Without -s, all steps are reduced. first, last and negative numbers count the steps at which each tensor "
             "itself was saved, in the mode asked for: -c gradients -s last are the newest gradients, also where the "
             "trial's last step is an evaluation. For tensors chosen by name only the index files that this needs are "
             "read; patterns and collections need all of them. With -F these count the steps of the trial."},
    {.title = "POOLING",
     .text = "What --by leaves out is pooled: the elements of all such values count as one array. Workers are pooled "
             "only with -w all: otherwise each value is that of the first worker by name. Of saved statistics, min, "
             "max, sum, prod, l1 and l2 are pooled, if all that is pooled has them; else the values are. If one of the "
             "values is damaged, the statistics that need it are NA.\n\n"
             "--across pools the trials too, step by step if step is among --by: mean and std over seeds. The column "
             "trials says how many trials have what a row pools. All trials are open at the same time."},
    {.title = "ROWS OF TENSORS",
     .text =
         "--by tensor,row divides each tensor with two axes or more along its first axis, after --slice: which rows "
         "of an embedding are dead (-r zero_fraction,l2,rms --where 'l2 = 0'), which units are largest (--sort "
         "-l2). Without step, a row pools its elements of all steps selected; rows are then held in memory. Saved "
         "statistics are of whole values and do not count."},
    {.title = "HISTOGRAMS",
     .text = "Bins are those of numpy.histogram in double precision. Without bounds they reach from the least to the "
             "greatest finite element of all that is selected, in all trials, so that all histograms can be compared; "
             "values are then read twice. A histogram that was saved in place of values counts too: each of its "
             "buckets is shared out by width, as if its elements were spread evenly, and counts need not be whole."},
    {.title = "PICTURES", .text = reduce_pictures},
    {.title = "READING PICTURES", .text = picture_prose},
    {.title = "SHARDS",
     .text =
         "--shard I/N takes the I-th of N runs of neighbouring steps, after all other selection.\n\n"
         "With --jsonl, rows of shards have two further keys, count and partial, from which --merge pools them. With "
         "steps among --by, merging gives what the whole would have given, byte for byte. Rows that are pooled have "
         "the same counts, min, max and sums of integers; other statistics may differ from the whole's by two units in "
         "the last place. median and pN cannot be pooled. Where steps are pooled, shards read values also where "
         "statistics are saved, unless --source says saved: only all shards together determine which is needed. A "
         "statistic that the whole would not have is NA; if shards have it, a warning says so, and with --strict the "
         "status is 1.\n\n"
         "Each row records its part and the steps that were divided. Parts of other steps than the first one's (a "
         "job may have saved more since; then choose steps with -s) and parts given twice are refused. Missing parts "
         "are named; with --strict the status is 1."},
    {.title = "PLACES OF SCHEDULERS", .text = scheduler_prose},
}};

}  // namespace

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-reduce",
      .synopsis = "[OPTION]... [TRIAL]...",
      .summary = "Reduces the values of tensors to numbers: saved ones where the job saved them, else computed.",
      .brief = "reduce tensors that a training job saved to numbers",
      .operands = {{.metavar = "TRIAL", .kind = ArgumentKind::trial, .required = false, .repeats = true, .here = true}},
      .examples = {{.purpose = "least, greatest, mean and deviation of every value", .command = "smd-reduce run"},
                   {.purpose = "the global gradient norm, step by step",
                    .command = "smd-reduce run -c gradients --by step -r l2"},
                   {.purpose = "mean and deviation over seeds, step by step",
                    .command = "smd-reduce runs/a runs/b --across -r mean,std"},
                   {.purpose = "the newest weights: NaN, zeros and the 99th percentile",
                    .command = "smd-reduce run -c weights -s last -r nan,zero,p99"}},
      .option_tables = {ReduceCommandOptions::table(), SelectionOptions::name_table(), SelectionOptions::table(),
                        ReadingOptions::superseded_table(), OutputOptions::table(), PictureOptions::table(),
                        ReadingOptions::table(), FollowingOptions::table(), MessageOptions::table()},
      .formats = row_and_picture_format_names(),
      .exit_notes = {{ExitStatus::yes, "what was asked for was printed"},
                     {ExitStatus::no,
                      "nothing to reduce is selected, something named does not exist, or with --strict, something is "
                      "not available"},
                     {ExitStatus::usage,
                      "wrong usage, a slice that does not fit the value, or shards that cannot be pooled"},
                     {ExitStatus::unreadable, "cannot read or write"},
                     {ExitStatus::damaged, "damaged data; the readable rest was printed"},
                     {ExitStatus::timed_out, "--timeout or --idle ended --follow"}},
      .prose = prose,
      .see_also = {"smd-ls(1)", "smd-tensor(1)", "smd-trial(5)"},
      .columns = column_tables,
  };
  return definition;
}

}  // namespace smd::tool::reduce
