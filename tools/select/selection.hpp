// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"
#include "select/step_spec.hpp"

#include <smd/trial.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool {

/// The selection options, as option tables and as their values.
struct SelectionOptions {
  std::vector<std::string> names;            ///< -n
  std::vector<std::string> regexes;          ///< -e
  std::vector<std::string> collections;      ///< -c
  std::vector<std::string> excludes;         ///< -x
  std::vector<Mode> modes = {Mode::global};  ///< -m; never empty.
  bool modes_given = false;
  std::optional<StepSpec> steps;      ///< -s; nullopt: the command's default.
  std::int64_t every = 1;             ///< --every
  std::optional<std::string> worker;  ///< -w NAME; nullopt: the first by name, for values.
  bool all_workers = false;           ///< -w all
  bool incomplete = false;            ///< --incomplete

  /// -e -c -x -m -s --every -w --incomplete.
  static std::span<const OptionSpec> table() noexcept;
  /// -e -c -x alone, for commands that choose tensors and not steps.
  static std::span<const OptionSpec> tensor_table() noexcept { return table().first(3); }
  /// -n, for commands where names are not operands.
  static std::span<const OptionSpec> name_table() noexcept;
  /// @throws UsageError.
  static SelectionOptions from(const CommandLine& line);

  /// The worker of -w NAME alone, or none.
  [[nodiscard]] std::vector<std::string> workers() const {
    return worker ? std::vector{*worker} : std::vector<std::string>();
  }
  /// Whether any of -n -e -c was given.
  [[nodiscard]] bool selects_tensors() const noexcept {
    return !names.empty() || !regexes.empty() || !collections.empty();
  }
};

/// The mode that a word names, in any case. `what` is said of another word. @throws InvalidValue.
[[nodiscard]] Mode mode_from(const std::string& word, std::string_view what = {});

/// The modes of -m, each once, in the order given; without -m: `global`. @throws UsageError.
[[nodiscard]] std::vector<Mode> modes_from(const CommandLine& line);

/// The only mode whose entries are asked for; nullopt: several modes, or all steps. Workers may claim different modes
/// for one step, and each one's tensors are filed under its own claim.
[[nodiscard]] std::optional<Mode> only_mode(const SelectionOptions& options) noexcept;

/// The names that -n -e -c -x select among the tensors of the steps read, in byte order. Reports, with status 1, exact
/// names that the trial does not have (TensorUnavailable with the nearest three, after reading the rest of the trial)
/// and collections that it does not define (NotFound). -m narrows -e and -c to tensors saved in one of the modes. It
/// keeps every tensor of -n: steps that were not read may have it in the mode.
/// @throws UsageError for a bad pattern.
[[nodiscard]] std::vector<std::string> select_tensors(Trial& trial, const SelectionOptions& options,
                                                      Diagnostics& messages);

/// The query of -n -e -c -x, with names that the trial may not have, and only the collections that it defines; nullopt
/// if nothing else was asked for, since an empty query would mean all tensors.
[[nodiscard]] std::optional<TensorQuery> tensor_query(const Trial& trial, const SelectionOptions& options);

/// The tensors that -n -e -c -x select among those saved at a step, or at any, in the mode asked for if it is one; in
/// byte order. Reports nothing.
[[nodiscard]] std::vector<std::string> tensors_at(const Trial& trial, const SelectionOptions& options,
                                                  const std::optional<GlobalStep>& step);

/// The workers that announced themselves, and those that wrote the steps read so far; in byte order.
[[nodiscard]] std::vector<std::string> known_workers(const Trial& trial);
/// Whether -w names a worker that the trial has (or none in particular), after reading the rest of the trial if need
/// be; if not: InvalidWorker with the names, status 1.
[[nodiscard]] bool check_worker(Trial& trial, const SelectionOptions& options, Diagnostics& messages);

/// `train`, `eval`, `predict`, `global`: as messages and captions name modes, and as -m takes them. Rows name them as
/// the trial stores them: `smd::to_string`.
[[nodiscard]] std::string_view mode_text(Mode mode) noexcept;

/// `120 (train 118)`, or `120` for a step without a mode: as reports and captions name steps.
[[nodiscard]] std::string full_step_text(GlobalStep step, Mode mode, ModeStep mode_step);

/// What may be grouped by, in every command that groups.
inline constexpr std::array<std::string_view, 3> by_words = {"tensor", "step", "worker"};

/// What rows are grouped by; the rest is pooled.
struct By {
  bool tensor = true;
  bool step = true;
  bool worker = true;
  bool row = false;  ///< The index on the first axis; only with the tensor.

  bool operator==(const By&) const = default;

  /// The value of --by, of these words; without it, the default. @throws UsageError.
  static By from(const CommandLine& line, std::span<const std::string_view> words = by_words);
};

/// --by.
inline constexpr OptionSpec by_option = {
    .short_name = 'b',
    .name = "by",
    .metavar = "LIST",
    .help = "of tensor,step,worker: a row for each; what is left out is pooled as one array (default: all three)",
    .group = group::view,
    .kind = ArgumentKind::text,
    .split_commas = true,
    .choices = by_words};

}  // namespace smd::tool
