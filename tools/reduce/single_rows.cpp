// SPDX-License-Identifier: Apache-2.0
#include "single_rows.hpp"

#include "cli/progress.hpp"
#include "row_maker.hpp"
#include "rows/idle_objects.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace smd::tool::reduce {

namespace {

constexpr std::size_t piece_rows = 512;         // if there are many: what is known of them stays in the caches
constexpr std::size_t most_statistics = 8192;   // of a piece: they are held until it is shown
constexpr std::size_t enough_pieces = 64;       // to keep threads busy to the end
constexpr std::uint64_t piece_bytes = 1 << 20;  // less is not worth another thread

/// The selection, cut into pieces that follow one another in the order of rows. Pieces do not depend on the number of
/// threads, so that messages do not either.
std::vector<Piece> pieces_of(const Session& session, const ReduceCommandOptions& options, std::size_t statistics,
                             std::optional<std::size_t> room) {
  const std::size_t most_rows = std::clamp<std::size_t>(room.value_or(piece_rows), 1, piece_rows);
  const std::span<const SelectedStep> steps = session.steps();
  const std::span<const std::string> tensors = session.tensors();
  const std::size_t workers =
      options.selection.all_workers ? std::max<std::size_t>(session.trial.writers().size(), 1) : 1;
  const std::size_t step_rows = tensors.size() * workers;
  const std::size_t steps_each = std::clamp<std::size_t>(most_rows / std::max<std::size_t>(step_rows, 1), 1,
                                                         std::max<std::size_t>(steps.size() / enough_pieces, 1));
  std::size_t parts = std::max(step_rows * statistics / most_statistics, room ? step_rows / most_rows : 0) + 1;
  if (steps.size() < enough_pieces) {
    const std::optional<StepInfo> first = session.trial.step_info(steps.front().step);
    parts = std::max<std::size_t>(
        parts, std::min<std::uint64_t>(enough_pieces / steps.size(), (first ? first->bytes : 0) / piece_bytes));
  }
  parts = std::min(parts, tensors.size());
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < steps.size(); at += steps_each) {
    const std::span<const SelectedStep> some = steps.subspan(at, std::min(steps_each, steps.size() - at));
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t begin = tensors.size() * part / parts;
      pieces.push_back({some, tensors.subspan(begin, tensors.size() * (part + 1) / parts - begin)});
    }
  }
  return pieces;
}

class PieceWork : public TrialPart {
 public:
  PieceWork(const Piece& piece, std::unique_ptr<RowMaker> maker) : piece_(piece), maker_(std::move(maker)) {}

  void work(BlockReader& reader) override { maker_->make(piece_, reader); }
  [[nodiscard]] std::unique_ptr<RowMaker> take_maker() noexcept { return std::move(maker_); }

 private:
  Piece piece_;
  std::unique_ptr<RowMaker> maker_;
};

}  // namespace

ReduceOutcome reduce_single(const Session& session, const ReduceCommandOptions& options,
                            const std::vector<Wanted>& wanted, ResultView& view, Diagnostics& messages) {
  if (session.empty()) {
    return ReduceOutcome::nothing;
  }
  const std::vector<Piece> pieces = pieces_of(session, options, wanted.size(), view.room());
  Progress progress("reducing", [&] { return session.count_entries(options); });
  IdleObjects<RowMaker> idle;
  Unavailable unavailable;
  ReduceOutcome outcome = ReduceOutcome::nothing;
  session.trial.parallel_for_each(
      pieces.size(),
      [&](std::size_t i) {
        std::unique_ptr<RowMaker> maker = idle.take();
        if (!maker) {
          maker = std::make_unique<RowMaker>(session, options, wanted, view);
        }
        return std::make_unique<PieceWork>(pieces[i], std::move(maker));
      },
      [&](std::size_t, std::unique_ptr<TrialPart>&& part) {
        std::unique_ptr<RowMaker> maker = static_cast<PieceWork&>(*part).take_maker();
        progress.advance(maker->entries());
        unavailable.merge(maker->unavailable());
        const bool any = maker->show(view, messages);
        outcome = std::max(outcome, any                     ? ReduceOutcome::rows
                                    : maker->entries() != 0 ? ReduceOutcome::no_row
                                                            : ReduceOutcome::nothing);
        idle.put(std::move(maker));
        return view.room() != 0;
      },
      {.jobs = options.reading.jobs});
  unavailable.say(false, options.strict, messages);
  return outcome;
}

}  // namespace smd::tool::reduce
