// SPDX-License-Identifier: Apache-2.0
#include "reading.hpp"

#include "cli/progress.hpp"
#include "pieces.hpp"
#include "row_maker.hpp"
#include "select/saved_forms.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace smd::tool::reduce {

namespace {

constexpr std::size_t many_steps = 64;  // enough to keep threads busy, each with whole steps

}  // namespace

void collect_saved(const Session& session, const ReduceCommandOptions& options, std::set<std::string>& names) {
  session.for_each_entry(options, [&](const TensorEntry& entry) {
    for (const SavedReduction& reduction : entry.reductions) {
      if (reduction.name != buckets_name) {
        names.insert(reduction.name);
      }
    }
    return true;
  });
}

ReduceOutcome reduce_trials(std::span<const Session* const> sessions, const ReduceCommandOptions& options,
                            const std::vector<Wanted>& wanted, ResultView& view, Diagnostics& messages) {
  // Rows that pool entries of several pieces are shown after the last one.
  const bool across = options.pools() && (options.across || !options.by.step ||
                                          (sessions.front()->steps().size() < many_steps && !view.room()));
  PoolPlans plans(options, wanted);
  for (const Session* const session : sessions.first(across ? sessions.size() : 0)) {
    plans.next_trial();
    session->for_each_entry(options, [&](const TensorEntry& entry) {
      plans.note(entry);
      return true;
    });
  }
  plans.finish();
  const auto new_maker = [&](const Session& session) {
    return std::make_unique<RowMaker>(session, options, wanted, view, across ? &plans : nullptr);
  };
  std::unique_ptr<RowMaker> whole = across ? new_maker(*sessions.front()) : nullptr;
  Progress progress("reducing", [&] {
    std::uint64_t entries = 0;
    for (const Session* const session : sessions) {
      entries += session->count_entries(options);
    }
    return entries;
  });
  Unavailable unavailable;
  ReduceOutcome outcome = ReduceOutcome::nothing;
  const auto show = [&](RowMaker& maker) {
    const bool any = maker.show(view);
    unavailable.merge(maker.unavailable());
    outcome = std::max(outcome, any                    ? ReduceOutcome::rows
                                : maker.entries() != 0 ? ReduceOutcome::no_row
                                                       : ReduceOutcome::nothing);
  };
  const bool whole_steps = options.pools() && !across;
  const std::optional<std::size_t> room = options.by.row ? 1 : view.room();  // a tensor may have very many rows
  for (const Session* const session : sessions) {
    const AboutTrial about(session->name);
    read_pieces(
        *session, options, pieces_of(*session, options, wanted.size(), room, whole_steps),
        [&] { return new_maker(*session); },
        [&](RowMaker& maker) {
          progress.advance(maker.entries());
          maker.say(messages);
          if (whole) {
            whole->absorb(maker);
          } else {
            show(maker);
          }
          return view.room() != 0;
        });
  }
  if (whole) {
    show(*whole);
  }
  unavailable.say(options.pools(), options.strict, messages);
  return outcome;
}

}  // namespace smd::tool::reduce
