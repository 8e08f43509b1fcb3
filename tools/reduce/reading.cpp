// SPDX-License-Identifier: Apache-2.0
#include "reading.hpp"

#include "cli/progress.hpp"
#include "pieces.hpp"
#include "row_maker.hpp"
#include "rows/buckets.hpp"

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

ReduceOutcome reduce_trial(const Session& session, const ReduceCommandOptions& options,
                           const std::vector<Wanted>& wanted, ResultView& view, Diagnostics& messages) {
  const bool single = options.by == By();
  // Rows that pool entries of several pieces are shown after the last one.
  const bool across = !single && (!options.by.step || (session.steps().size() < many_steps && !view.room()));
  PoolPlans plans(options, wanted);
  if (across) {
    session.for_each_entry(options, [&](const TensorEntry& entry) {
      plans.note(entry);
      return true;
    });
    plans.finish();
  }
  const auto new_maker = [&] {
    return std::make_unique<RowMaker>(session, options, wanted, view, across ? &plans : nullptr);
  };
  std::unique_ptr<RowMaker> whole = across ? new_maker() : nullptr;
  Progress progress("reducing", [&] { return session.count_entries(options); });
  Unavailable unavailable;
  ReduceOutcome outcome = ReduceOutcome::nothing;
  const auto show = [&](RowMaker& maker) {
    const bool any = maker.show(view);
    unavailable.merge(maker.unavailable());
    outcome = std::max(outcome, any                    ? ReduceOutcome::rows
                                : maker.entries() != 0 ? ReduceOutcome::no_row
                                                       : ReduceOutcome::nothing);
  };
  const bool whole_steps = !single && !across;
  read_pieces(session, options, pieces_of(session, options, wanted.size(), view.room(), whole_steps), new_maker,
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
  if (whole) {
    show(*whole);
  }
  unavailable.say(!single, options.strict, messages);
  return outcome;
}

}  // namespace smd::tool::reduce
