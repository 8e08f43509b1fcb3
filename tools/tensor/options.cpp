// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "operands/operands.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace smd::tool::tensor {

namespace {

constexpr auto own_options = in_group(
    group::view,
    {
        valued(no_letter, "slice", "S", ArgumentKind::text,
               "that part only, indexed as in NumPy: 0,:,::2,-1 and ...; an integer drops its axis"),
        flag(no_letter, "stat",
             "statistics in place of values: dtype shape size min max mean std nan inf zero argmin argmax"),
        flag(no_letter, "full", "show every value in a table, even for large tensors (other formats always do)"),
        flag(no_letter, "matrix",
             "bare rows of numbers, the last axis across, a blank line between planes; one value only"),
        flag(no_letter, "hist", "a histogram of each value: bars in a table, rows bin lo hi count elsewhere"),
        valued(no_letter, "bins", "N[:LO:HI]", ArgumentKind::text,
               "how many bins, and between which bounds (default: 10, from the least to the greatest value)"),
        flag(no_letter, "heatmap", "a picture of the last two axes"),
        flag(no_letter, "spark", "a curve of each scalar over all steps"),
        flag(no_letter, "pivot", "scalars: a row for each step, a column for each tensor; all steps, without -s")
            .explained("Scalars: a row for each step, with -w all for each step and worker; a column for each tensor. "
                       "All steps, without -s."),
        valued(no_letter, "smooth", "W", ArgumentKind::number,
               "add value_smooth, the exponential mean of each scalar as TensorBoard shows it; 0 <= W < 1")
            .explained("Add the column value_smooth: the exponential mean of each series of scalars as TensorBoard "
                       "shows it, s = W s + (1 - W) x, divided by 1 - W^n. It is taken over the whole series, whatever "
                       "steps are chosen; n counts finite values, and others stay as they are. --spark has a curve of "
                       "it, and -f svg draws it over the pale values."),
        flag(no_letter, "stack", "with npy and npz: join the steps on a new first axis; npz adds NAME@steps"),
    });

constexpr std::array<std::string_view, 5> binary_formats = {"npy", "npz", "raw", "pgm", svg_format};

constexpr std::array<std::pair<std::string_view, TensorViewKind>, 6> view_flags = {
    {{"stat", TensorViewKind::stat},
     {"matrix", TensorViewKind::matrix},
     {"hist", TensorViewKind::hist},
     {"heatmap", TensorViewKind::heatmap},
     {"spark", TensorViewKind::spark},
     {"pivot", TensorViewKind::pivot}}};

std::string flag_of(TensorViewKind view) {
  const auto* const flag = std::ranges::find(view_flags, view, [](const auto& one) { return one.second; });
  return flag == view_flags.end() ? "" : "--" + std::string(flag->first);
}

void check_view(const TensorOptions& options, const CommandLine& line) {
  const std::string& format = options.output.format;
  const std::string flag = flag_of(options.view);
  const bool picture = options.view == TensorViewKind::heatmap || options.view == TensorViewKind::spark;
  const bool drawn = options.svg() && (picture || options.view == TensorViewKind::hist);
  refuse_if(options.binary() && options.view != TensorViewKind::values && !drawn,
            flag + " makes text: -f " + format + " cannot hold it");
  refuse_if(picture && options.output.format_given && format != "table" && !drawn,
            flag + " draws a picture: -f " + format + " cannot hold it");
  refuse_if(options.view == TensorViewKind::matrix && options.output.json(),
            "--matrix prints bare rows: use --json without it for nested arrays");
  refuse_if(options.smooth && options.view != TensorViewKind::values && options.view != TensorViewKind::spark,
            "--smooth is for rows and curves: not with " + flag);
  refuse_if(options.smooth && options.reading.superseded != Superseded::left_out,
            "--smooth uses no superseded values: not with --superseded or --with-superseded");
  const bool one_for_each_step = options.stack || options.svg() || picture || options.view == TensorViewKind::hist ||
                                 options.view == TensorViewKind::pivot;
  const std::string asked = options.stack ? "--stack" : flag.empty() ? "-f " + format : flag;
  refuse_if(one_for_each_step && options.reading.superseded == Superseded::included,
            asked + " shows one value for each step: not with --with-superseded, which gives several");
  refuse_if(options.stack && format != "npy" && format != "npz", "--stack needs -f npy or -f npz");
  refuse_if(line.has("bins") && options.view != TensorViewKind::hist, "--bins needs --hist");
  refuse_if(options.picture.scale == ScaleKind::logarithmic &&
                (options.view == TensorViewKind::hist || options.view == TensorViewKind::heatmap),
            "--log is for curves: not with " + flag);
  refuse_if(options.output.asks_for_rows() &&
                (options.binary() || options.view == TensorViewKind::heatmap || options.view == TensorViewKind::matrix),
            std::string(options.output.row_option()) + ": there are no rows in " +
                (options.binary() ? "-f " + format : flag));
}

void check_following(const TensorOptions& options) {
  if (!options.following.follow) {
    return;
  }
  const std::string& format = options.output.format;
  refuse_if((options.binary() && format != "raw") || options.folder,
            "--follow prints values as they come: -f " + format + (options.folder ? " -o " + *options.folder : "") +
                " must hold all of them");
  refuse_if(options.view == TensorViewKind::spark && !options.output.to_terminal(),
            "--follow draws --spark again in place: that needs a terminal");
  refuse_if(options.view == TensorViewKind::matrix || options.view == TensorViewKind::heatmap,
            "--follow prints values as they come: " + flag_of(options.view) + " shows one, or all at once");
}

}  // namespace

std::span<const OptionSpec> TensorOptions::table() noexcept { return own_options; }

bool TensorOptions::binary() const noexcept { return contains(binary_formats, output.format); }

TensorOptions TensorOptions::from(const CommandLine& line) {
  TensorOptions options;
  static_cast<ShowOptions&>(options) = ShowOptions::from(line);
  options.view = only_flag(line, view_flags);
  options.bins_given = line.has("bins");
  options.full = line.has("full");
  options.stack = line.has("stack");
  if (options.output.file && options.output.file->ends_with('/')) {
    refuse_if((options.output.format != "npy" && options.output.format != "raw") || options.stack,
              "-o " + *options.output.file + ": a folder is for -f npy without --stack, and -f raw");
    options.folder = options.output.file;
  }
  check_view(options, line);
  options.following = FollowingOptions::from(line);
  check_following(options);
  return options;
}

std::vector<std::string> TensorOptions::take_names(Diagnostics& messages) {
  std::span<const std::string> left = operands;
  const bool null_separated = output.null_separated;
  if (left.front() == "-") {
    several_trials = true;
    return all_operands(left, null_separated, messages);
  }
  const bool listed = lists_operands(left);
  left = listed ? left.first(left.size() - 1) : left;
  const TrialOptions opening = reading.trial_options();
  const std::string& first = left.front();
  if (!is_place(first)) {
    if (const auto trial = trial_with_tensor(first, left.subspan(1), opening)) {
      throw UsageError(single_quoted(first) + " is a tensor of " + single_quoted(*trial) +
                       ": the trial comes first, then names: smd-tensor " + *trial + " " + first);
    }
  }
  std::vector<std::string> trials{first};
  std::vector<std::string>& names = selection.names;
  std::optional<Trial> trial;  // opened once, for the first place
  bool opened = false;
  for (const std::string& operand : left.subspan(1)) {
    refuse_if(operand == "-", "'-' must be the last operand");
    const bool place = is_place(operand);
    if (place && !std::exchange(opened, true)) {
      try {
        trial = Trial::open(first, opening);
      } catch (const Error&) {  // reading it reports why
      }
    }
    (place && !(trial && trial->has_tensor(operand)) ? trials : names).push_back(operand);
  }
  several_trials = trials.size() > 1;
  if (listed) {
    const std::vector<std::string> more = OperandSource(std::span(operands).last(1), null_separated).rest();
    names.insert(names.end(), more.begin(), more.end());
  }
  return trials;
}

}  // namespace smd::tool::tensor
