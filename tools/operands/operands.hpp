// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "cli/progress.hpp"
#include "operands/reading_options.hpp"

#include <smd/trial.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::tool {

/// Returns all operands, as those of `operand_source`.
[[nodiscard]] std::vector<std::string> all_operands(std::span<const std::string> operands, bool null_separated,
                                                    Diagnostics& messages);

/// Reports an empty list, as `operand_source` does.
void say_nothing_listed(Diagnostics& messages);

/// Whether standard input lists operands: the last one is `-`.
[[nodiscard]] bool lists_operands(std::span<const std::string> operands) noexcept;

/// Whether there may be several operands: more than one, or `-`.
[[nodiscard]] bool may_be_several(std::span<const std::string> operands) noexcept;

/// Whether an operand is a path that exists, or one on S3.
[[nodiscard]] bool is_place(const std::string& operand);

/// Whether a trial may appear at the path, because nothing exists there yet.
[[nodiscard]] bool may_come(const std::string& path);

/// Returns the first of the operands that is a trial with a tensor of this name; nullopt if none is.
[[nodiscard]] std::optional<std::string> trial_with_tensor(std::string_view tensor,
                                                           std::span<const std::string> operands,
                                                           const TrialOptions& options);

/// The hint for an operand that is no trial: one after the first may have been meant as the name of a tensor, as
/// smd-tensor takes them. Empty for the first operand, and if standard input lists operands.
[[nodiscard]] std::string_view hint_for(const std::string& operand, std::span<const std::string> operands) noexcept;

/// Reports why an operand could not be read. If the path does not exist, says what was perhaps meant: a tensor of a
/// trial, a similar path, else `hint`.
void fail_to_open(const Error& error, const std::string& path, Diagnostics& messages, std::string_view hint = {});

/// What was perhaps meant by a path that does not exist, to be appended to a message: existing folders whose names are
/// nearest to its first part that does not exist; else `hint`. Empty for a path on S3.
[[nodiscard]] std::string meant_instead(const std::string& path, std::string_view hint);

/// Opens a trial. Nullopt, after a message that says why, if it cannot be opened.
using OpenTrial = std::function<std::optional<Trial>(const TrialOptions& options)>;

/// Returns the paths of the trials at and below a place, in byte order. Reports what could not be searched: three
/// problems of each kind, then how many more. A note says so if there is no trial. `awaited`, unless null: the
/// caller waits for one, so that it is no error if the place does not exist. Where one may come, it is set to the
/// place, if it is empty.
[[nodiscard]] std::vector<std::string> found_trials(const std::string& place, const ReadingOptions& reading,
                                                    Diagnostics& messages, std::string* awaited = nullptr);

/// Opens a trial and passes it to `visit`. An exception of the library, here or in `visit`, is reported with its status
/// and ends only this trial; problems that the trial met (damaged files) are reported after the visit. A bad pattern
/// (InvalidArgument, MatchLimit) becomes a UsageError.
/// @param hint as for `fail_to_open`. @param open opens the trial, instead of `Trial::open`.
void with_trial(const std::string& path, const TrialOptions& options, Diagnostics& messages,
                const std::function<void(Trial&)>& visit, std::string_view hint = {}, const OpenTrial& open = {});

/// Trials that stay open, for what must see all of them before it shows the first. Not thread-safe.
class KeptTrials {
 public:
  /// `messages` must outlive this.
  KeptTrials(TrialOptions options, Diagnostics& messages) : options_(std::move(options)), messages_(messages) {}

  /// As `with_trial`, but the trial stays open, at the same address, if `visit` returns true.
  void open(const std::string& path, const std::function<bool(Trial&)>& visit, std::string_view hint = {},
            const OpenTrial& open = {});
  /// Reports the problems that those which are open met, in order, and closes them.
  void close();

 private:
  struct Kept {
    explicit Kept(std::string given) : path(std::move(given)) {}

    std::string path;
    Progress progress{"opening", 0};  // the trial refers to it
    std::optional<Trial> trial;
  };

  void report(const Kept& kept) const;

  TrialOptions options_;
  Diagnostics& messages_;
  std::deque<Kept> kept_;
};

/// Waits until standard input can be read without blocking. Returns false once a stop is requested.
[[nodiscard]] bool wait_for_input(const std::stop_token& stop);

/// The operands of a command, one after another; a `-` at the end stands for those that standard input lists, one per
/// line (or NUL, with -0), each available as soon as it is read. Empty lines are skipped. Not thread-safe.
class OperandSource {
 public:
  /// The operands must outlive this. @throws UsageError for a `-` elsewhere.
  OperandSource(std::span<const std::string> operands, bool null_separated);

  /// Exactly these operands, which must outlive the source: `-` has no special meaning.
  static OperandSource of(std::span<const std::string> operands);

  /// The next operand; nullopt if there is none, or if a stop was requested while standard input had none ready.
  /// @throws ReadError (io) if standard input cannot be read.
  [[nodiscard]] std::optional<std::string> next(const std::stop_token& stop = {});
  /// All that `next` would still return.
  [[nodiscard]] std::vector<std::string> rest();
  /// What `next` will return; null if there is none. Valid until the call of `next`.
  [[nodiscard]] const std::string* peek(const std::stop_token& stop = {});
  /// How many operands there are in all, taken ones included; nullopt if standard input may list more.
  [[nodiscard]] std::optional<std::size_t> total() const noexcept;

 private:
  void read_list();

  std::span<const std::string> given_;
  std::size_t at_ = 0;  // of given_
  char separator_;
  std::optional<std::string> first_;  // of those that were read but not taken
  std::deque<char> ahead_;            // the text of the others, with a separator after each: ten thousand take little
  std::size_t waiting_ = 0;           // how many are in `first_` and `ahead_`
  std::size_t listed_count_ = 0;      // taken ones included
  std::size_t unfinished_ = 0;        // bytes of a part of an item at the end of `ahead_`
  bool ended_;                        // standard input lists no more
};

/// The operands of a command, which must outlive the source. Messages then name their trials if there may be several;
/// if standard input was to list operands but lists none, a message says so, with status 1, so that the maker of the
/// list notices.
/// @throws UsageError and ReadError as the constructor and `next`.
[[nodiscard]] OperandSource operand_source(std::span<const std::string> operands, bool null_separated,
                                           Diagnostics& messages);

/// Ends a visit whose result is no longer needed. Thrown by `Turn`; visits let it pass.
struct VisitsOver {};

/// Tells a visit when it may show its results. Both throw VisitsOver.
struct Turn {
  /// Whether all operands before this one were shown, so that this visit can show its results at once.
  std::function<bool()> mine;
  /// Waits until `mine` is true. Only a visit that has more than it can hold should wait.
  std::function<void()> wait;
};

/// Shows what a visit still holds, once all operands before it were shown. Returns whether further visits are needed.
using Show = std::function<bool()>;

struct Visit {
  const std::string& operand;
  unsigned jobs;  ///< Threads for this visit, as `TrialOptions::jobs`.
  Turn& turn;
};

struct VisitPlan {
  std::string_view doing;          ///< For the line of progress: `evaluating trials`.
  unsigned jobs = 0;               ///< As -j: threads in all; 0: one per CPU. On S3: requests at once, in all.
  bool one_at_a_time = false;      ///< Visits have side effects, whose order counts.
  std::stop_token interruption{};  ///< Ends the waiting for operands; a visit checks it itself.
};

/// Visits operands, several at the same time, each in one thread; their output and messages come in the order of the
/// operands. Few visits run ahead of the one whose turn it is, so that what they hold is bounded. `visit` must be
/// thread-safe, unless there is one thread; Show, and what a visit shows while `Turn::mine`, run in one thread at a
/// time. An exception from `visit` or Show ends all visits when its turn has come, and is thrown here. Returns how many
/// were shown.
std::size_t visit_in_turn(OperandSource& operands, const VisitPlan& plan, Diagnostics& messages,
                          const std::function<Show(const Visit&)>& visit);

}  // namespace smd::tool
