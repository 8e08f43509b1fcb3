// SPDX-License-Identifier: Apache-2.0
#include "row_source.hpp"

#include "shard_row.hpp"

namespace smd::tool::reduce {

RowSource::RowSource(std::span<const Statistic> statistics, const RowPlan& plan)
    : statistics_(statistics), plan_(plan) {
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    const bool there = !statistics[i].missing();
    saved_ = saved_ || (there && is_saved(plan.how[i]));
    computed_ = computed_ || (there && plan.how[i] == How::computed);
  }
}

std::string_view RowSource::text() const noexcept {
  return saved_ && computed_ ? "mixed" : saved_ ? "saved" : computed_ ? "computed" : "";
}

void RowSource::tell_part(ResultRow& row, const Session& session, const ReduceCommandOptions& options,
                          const std::optional<PartialReduction>& elements) const {
  Partial partial;
  partial.shard = *options.shard;
  partial.steps = session.sharded;
  for (std::size_t i = 0; i < statistics_.size(); ++i) {
    const How how = plan_.how[i];
    if (how == How::computed) {
      // A statistic of no elements may be missing here, but not of these and those of other shards.
      partial.how += statistics_[i].missing() && !elements ? '-' : 'c';
    } else {
      partial.how += statistics_[i].missing() ? '-' : how == How::both && elements ? 'b' : 's';
    }
  }
  partial.options = options.reduce;
  partial.data = elements;
  if (!partial.data && !computed_) {
    partial.data.emplace();  // nothing but saved statistics
  }
  row.count = partial.data ? partial.data->count : 0;
  row.partial = to_text(partial);
}

}  // namespace smd::tool::reduce
