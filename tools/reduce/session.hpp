// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "select/saved_forms.hpp"
#include "select/select.hpp"

#include <smd/trial.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smd::tool::reduce {

/// The steps that shards divide. Shards belong together if these are equal: the job may have saved more in between.
struct ShardedSteps {
  std::uint64_t count = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool operator==(const ShardedSteps&) const = default;
};

/// Some of the work on a trial: some steps and some tensors.
struct Piece {
  std::span<const SelectedStep> steps;
  std::span<const std::string> tensors;
};

/// One trial, and what is selected of it.
struct Session {
  Trial& trial;
  std::string name;  ///< As given.
  const ReduceCommandOptions& options;
  Selection selection;        ///< With its lists.
  unsigned jobs = 0;          ///< Threads that read; 0: as many as the trial uses.
  ShardedSteps sharded = {};  ///< For a shard: the steps that were divided.
  /// With --smooth: the steps selected; `selection` then has all of the mode.
  std::optional<TensorSteps> shown = {};
  std::optional<double> started = {};  ///< When the trial's first value was written, if that is asked for.
  /// With --smooth: the workers whose whole series are read, though only the first at each step is selected; empty:
  /// all.
  std::optional<std::vector<std::string>> workers = {};

  /// Whether an entry is selected, and not only read to be smoothed.
  [[nodiscard]] bool shows(std::string_view tensor, GlobalStep step, std::string_view worker) const;
  /// All that is selected.
  [[nodiscard]] Piece whole() const noexcept { return {selection.steps.steps, selection.tensors}; }
  /// Calls `visit` for the entries of a piece that hold more than a shape, in the documented order.
  void for_each_entry(const Piece& piece, const std::function<void(const TensorEntry&)>& visit) const;
  /// The same for all that is selected.
  void for_each_entry(const std::function<void(const TensorEntry&)>& visit) const;
  /// The forms in which the selection was saved, for messages. Visits all entries if none has a value.
  [[nodiscard]] SavedForms forms() const;
};

/// Resolves names, steps and the shard; reports what is missing.
[[nodiscard]] Session open_session(Trial& trial, const std::string& name, const ReduceCommandOptions& options,
                                   Diagnostics& messages);

/// `first`, `last` and negative numbers count each tensor's own steps at which there is what can be reduced.
[[nodiscard]] SelectionNeeds selection_needs(const ReduceCommandOptions& options);

/// What to read of a trial at first.
[[nodiscard]] StepRange range_to_open(const ReduceCommandOptions& options);

/// Cuts the selection into pieces that follow one another in the order of rows. Pieces do not depend on the number of
/// threads, so that messages do not either. `statistics`: those of each row. `room`: the most rows of a piece, if they
/// are large. `whole_steps`: a step is not divided.
[[nodiscard]] std::vector<Piece> pieces_of(const Session& session, std::size_t statistics,
                                           std::optional<std::size_t> room, bool whole_steps);

/// Works on pieces in parallel: `maker.make(piece, reader)` in one of several threads, `take(maker)` in the order of
/// the pieces. Makers, which `new_maker` returns, are used again.
template <class NewMaker, class Take>
void read_pieces(const Session& session, std::span<const Piece> pieces, NewMaker&& new_maker, Take&& take) {
  const ReadOptions reading = {.jobs = session.jobs};
  const ParallelLoop loop = reading_loop(session.trial, pieces.size(), reading);
  std::vector<decltype(new_maker())> makers(loop.slots());
  parallel_read(
      session.trial, loop, reading,
      [&](const LoopIndex& at, ValueReader& reader) {
        auto& maker = makers[at.slot];
        if (!maker) {
          maker = new_maker();
        }
        maker->make(pieces[at.index], reader);
      },
      [&](const LoopIndex& at) {
        take(*makers[at.slot]);
        return true;
      });
}

/// Reports that nothing selected can be reduced as asked, and in which forms it was saved, unless something was
/// reported before; status 1. `trial` may be null.
void say_nothing_found(std::string_view name, const SavedForms& forms, const ReduceCommandOptions& options,
                       Trial* trial, Diagnostics& messages);

/// A message about a record, which waits until the record's turn has come.
using Said = std::function<void(Diagnostics&)>;
inline void say_all(const std::vector<Said>& all, Diagnostics& messages) {
  for (const Said& said : all) {
    said(messages);
  }
}

/// Why a record could not be read. The session must outlive it.
[[nodiscard]] Said about_problem(const Problem& problem, std::string_view tensor, GlobalStep step,
                                 const Session& session);
/// That a saved reduction is damaged; `what` follows the tensor and step.
[[nodiscard]] Said about_damage(std::string_view tensor, GlobalStep step, const std::string& what);
/// Why --slice does not fit a tensor.
[[nodiscard]] Said about_slice(std::string_view tensor, const std::string& why);

}  // namespace smd::tool::reduce
