// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <vector>

#include "options.hpp"
#include "session.hpp"

namespace smd::tool::reduce {

/// Some of the work on a trial: some steps and some tensors.
struct Piece {
  std::span<const SelectedStep> steps;
  std::span<const std::string> tensors;
};

/// Cuts the selection into pieces that follow one another in the order of rows. Pieces do not depend on the number of
/// threads, so that messages do not either. `statistics`: those of each row. `room`: as `ResultView::room`.
/// `whole_steps`: a step is not divided.
[[nodiscard]] std::vector<Piece> pieces_of(const Session& session, const ReduceCommandOptions& options,
                                           std::size_t statistics = 1, std::optional<std::size_t> room = {},
                                           bool whole_steps = false);

/// Works on pieces in parallel: `maker.make(piece, reader)` in one of several threads, `take(maker)` in the order of
/// the pieces. Makers, which `new_maker` returns, are used again. Ends early if `take` returns false.
template <class NewMaker, class Take>
void read_pieces(const Session& session, const ReduceCommandOptions& options, std::span<const Piece> pieces,
                 NewMaker&& new_maker, Take&& take) {
  const ReadOptions reading = {.jobs = options.reading.jobs};
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
      [&](const LoopIndex& at) { return take(*makers[at.slot]); });
}

}  // namespace smd::tool::reduce
