// SPDX-License-Identifier: Apache-2.0
#include "pieces.hpp"

#include <algorithm>

namespace smd::tool::reduce {

namespace {

constexpr std::size_t piece_rows = 512;         // if there are many: what is known of them stays in the caches
constexpr std::size_t most_statistics = 8192;   // of a piece: they are held until it is shown
constexpr std::size_t enough_pieces = 64;       // to keep threads busy to the end
constexpr std::size_t enough_requests = 512;    // the same for those to a remote store
constexpr std::uint64_t piece_bytes = 1 << 20;  // less is not worth another thread

// On a remote store each file costs a round trip, and one request has all that is read together of a file: then a piece
// is of one file, or of few if there are very many.
class FileCuts {
 public:
  FileCuts(const Session& session, const ReduceCommandOptions& options) {
    if (!session.trial.remote()) {
      return;
    }
    std::optional<GlobalStep> last;
    session.for_each_entry(options, session.tensors(), session.steps(), [&](const TensorEntry& entry) {
      if (last != entry.step && entry.value) {
        last = entry.step;
        if (files_.empty() || *files_.back().second != *entry.value->file) {
          files_.emplace_back(entry.step, entry.value->file);
        }
      }
      return true;
    });
    each_ = std::max<std::size_t>(files_.size() / enough_requests, 1);
  }

  // Whether a piece ends before this step.
  bool before(GlobalStep step) {
    while (next_ < files_.size() && files_[next_].first < step) {
      ++next_;
    }
    return next_ < files_.size() && files_[next_].first == step && next_ % each_ == 0;
  }

 private:
  std::vector<std::pair<GlobalStep, std::shared_ptr<const std::string>>> files_;  // where another one begins
  std::size_t each_ = 1;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<Piece> pieces_of(const Session& session, const ReduceCommandOptions& options, std::size_t statistics,
                             std::optional<std::size_t> room, bool whole_steps) {
  std::vector<Piece> pieces;
  if (session.empty()) {
    return pieces;
  }
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
  parts = whole_steps ? 1 : std::min(parts, tensors.size());
  FileCuts cuts(session, options);
  for (std::size_t at = 0; at < steps.size();) {
    std::size_t end = at + 1;
    while (end < steps.size() && end - at < steps_each && !cuts.before(steps[end].step)) {
      ++end;
    }
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t begin = tensors.size() * part / parts;
      pieces.push_back(
          {steps.subspan(at, end - at), tensors.subspan(begin, tensors.size() * (part + 1) / parts - begin)});
    }
    at = end;
  }
  return pieces;
}

}  // namespace smd::tool::reduce
