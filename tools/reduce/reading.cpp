// SPDX-License-Identifier: Apache-2.0
#include "reading.hpp"

#include "cli/progress.hpp"
#include "cli/text.hpp"
#include "record_sink.hpp"
#include "row_plan.hpp"
#include "row_source.hpp"
#include "rows/buckets.hpp"
#include "rows/written.hpp"
#include "single_rows.hpp"
#include "unavailable.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace smd::tool::reduce {

namespace {

constexpr std::size_t chunk_entries = 2048;  // few enough for what is known of them to stay in the caches

/// What a group's members have saved.
struct Having {
  std::size_t members = 0;
  std::size_t values = 0;
  std::vector<std::size_t> saved;  // by statistic; empty if nothing is
};

/// Borrowed from the trial; fields that rows are not grouped by are empty or 0.
using Key = std::tuple<std::int64_t, std::string_view, std::string_view>;

struct Group {
  Key key;
  Mode mode = Mode::global;
  ModeStep mode_step;
  bool superseded = false;
  PlaceCell written;
  const RowPlan* plan = nullptr;
  std::size_t members = 0;
  std::vector<Statistic> statistics;
  std::optional<Reducer> pool;
  std::vector<std::optional<Reducer>> saved_pools;
  std::vector<bool> failed;  // empty if none
  bool lost = false;         // some elements could not be read
  std::optional<PartialReduction> partial;
};

/// One record to read.
struct Item {
  TensorLocation location;
  std::string name;  // in the record
  std::string_view tensor;
  GlobalStep step;
  std::size_t group = 0;
  std::size_t statistic = value;  // of a saved reduction

  static constexpr std::size_t value = ~std::size_t{0};
};

class TrialReducer {
 public:
  TrialReducer(const Session& session, const ReduceCommandOptions& options, const std::vector<Wanted>& wanted,
               ResultView& view, Diagnostics& messages)
      : session_(session),
        options_(options),
        wanted_(wanted),
        view_(view),
        messages_(messages),
        progress_("reducing", [&session, &options] { return session.count_entries(options); }),
        plans_(wanted) {}

  ReduceOutcome run() {
    const bool chunks = options_.by.step;  // then a group's members are adjacent
    if (!chunks) {
      // The plan of a group depends on all members, so entries are visited twice.
      session_.for_each_entry(options_, [&](const TensorEntry& entry) {
        note(entry);
        return true;
      });
      plan_groups();
    }
    session_.for_each_entry(options_, [&](const TensorEntry& entry) {
      // A row takes one entry at least.
      if (chunks && entries_.size() >= std::min(chunk_entries, view_.room().value_or(chunk_entries)) &&
          !entries_.empty() && entries_.back().step != entry.step) {
        work();
        show();
        if (view_.room() == 0) {
          return false;
        }
      } else if (!chunks && entries_.size() >= chunk_entries) {
        work();
      }
      if (chunks) {
        note(entry);
      }
      entries_.push_back(entry);
      outcome_ = std::max(outcome_, ReduceOutcome::no_row);
      return true;
    });
    work();
    show();
    unavailable_.say(!single(), options_.strict, messages_);
    return outcome_;
  }

 private:
  [[nodiscard]] Key key_of(const TensorEntry& entry) const {
    return {options_.by.step ? entry.step.value : 0, options_.by.tensor ? entry.tensor : std::string_view(),
            options_.by.worker ? entry.worker : std::string_view()};
  }

  std::size_t group_of(const TensorEntry& entry) {
    const Key key = key_of(entry);
    if (!single() && !groups_.empty() && groups_.back().key == key) {
      return groups_.size() - 1;
    }
    if (single() || places_.empty() || places_.rbegin()->first < key) {
      // Mostly in order: no search.
      if (!single()) {
        places_.emplace_hint(places_.end(), key, groups_.size());
      }
    } else if (const auto [place, fresh] = places_.emplace(key, groups_.size()); !fresh) {
      return place->second;
    }
    groups_.emplace_back();
    groups_.back().key = key;
    groups_.back().mode = entry.mode;
    groups_.back().mode_step = entry.mode_step;
    groups_.back().superseded = entry.superseded;
    groups_.back().written = place_of(entry);
    having_.emplace_back();
    return groups_.size() - 1;
  }

  // Whether every entry has a row of its own.
  [[nodiscard]] bool single() const noexcept { return options_.by == By(); }

  void note(const TensorEntry& entry) {
    const std::size_t group = group_of(entry);
    groups_[group].written = std::min(groups_[group].written, place_of(entry));
    Having& having = having_[group];
    ++having.members;
    having.values += entry.value ? 1 : 0;
    if (!entry.reductions.empty()) {
      having.saved.resize(wanted_.size());
    }
    for (const SavedReduction& reduction : entry.reductions) {
      for (std::size_t i = 0; i < wanted_.size(); ++i) {
        having.saved[i] += wanted_[i].name == reduction.name ? 1 : 0;
      }
    }
  }

  void plan_groups() {
    std::vector<How> how(wanted_.size());
    const RowPlan* plan = nullptr;  // mostly all have the same
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Having& having = having_[g];
      for (std::size_t i = 0; i < wanted_.size(); ++i) {
        const bool saved = !having.saved.empty() && having.saved[i] == having.members &&
                           (having.members == 1 || pooling_of(wanted_[i]));
        how[i] = how_of(options_, wanted_[i], saved, having.values == having.members);
      }
      Group& group = groups_[g];
      group.plan = plan != nullptr && plan->how == how ? plan : &plans_.of(how);
      plan = group.plan;
      group.members = having.members;
      group.statistics.resize(wanted_.size());
    }
    having_.clear();
  }

  // Reads the records of the entries held, and forgets the entries.
  void work() {
    if (entries_.empty()) {
      return;
    }
    if (options_.by.step) {
      plan_groups();
    }
    std::vector<Item> items;
    items.reserve(entries_.size());
    std::size_t next = 0;
    for (TensorEntry& entry : entries_) {
      // Single rows are in the order of the entries.
      const std::size_t g = single() ? next++ : places_.at(key_of(entry));
      const RowPlan& plan = *groups_[g].plan;
      if (plan.lacks) {
        unavailable_.lacks(entry, plan, wanted_);
      }
      const bool has_value = entry.value.has_value();
      if (!plan.computed.empty() && has_value) {
        items.push_back({std::move(*entry.value), std::string(entry.tensor), entry.tensor, entry.step, g, Item::value});
      }
      for (std::size_t i = 0; i < wanted_.size(); ++i) {
        if (is_saved(plan.how[i])) {
          const auto saved = std::find_if(entry.reductions.begin(), entry.reductions.end(),
                                          [&](const SavedReduction& one) { return one.name == wanted_[i].name; });
          items.push_back(
              {saved->location, reduction_tensor_name(saved->name, entry.tensor), entry.tensor, entry.step, g, i});
        }
      }
    }
    const std::size_t entries = entries_.size();
    entries_.clear();
    read(items, entries);
    entries_done_ += entries;
    progress_.advance_to(entries_done_);
  }

  // `entries`: how many entries the items belong to.
  void read(std::vector<Item>& items, std::size_t entries) {
    // In the order of the files, whatever the order of rows.
    std::vector<std::uint32_t> order(items.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&items](std::uint32_t a, std::uint32_t b) {
      const TensorLocation& left = items[a].location;
      const TensorLocation& right = items[b].location;
      return std::tie(left.file, left.offset) < std::tie(right.file, right.offset);
    });
    std::vector<TensorLocation> locations;
    std::vector<std::string> names;
    locations.reserve(items.size());
    names.reserve(items.size());
    for (const std::uint32_t i : order) {
      locations.push_back(std::move(items[i].location));
      names.push_back(std::move(items[i].name));
    }
    const SliceSpec* const slice = options_.slice ? &*options_.slice : nullptr;
    session_.trial.read_blocks(
        locations, names,
        [&](std::size_t i) -> std::unique_ptr<BlockSink> {
          const Item& item = items[order[i]];
          const Group& group = groups_[item.group];
          auto sink =
              std::make_unique<RecordSink>(options_.reduce, slice, group.members > 1 || options_.shard.has_value());
          sink->aim(item.statistic == Item::value ? group.plan : nullptr);
          return sink;
        },
        [&](std::size_t i, std::unique_ptr<BlockSink>&& sink, std::optional<Problem>&& problem) {
          progress_.advance_to(entries_done_ + entries * (i + 1) / items.size());
          const Item& item = items[order[i]];
          Group& group = groups_[item.group];
          if (problem) {
            report(*problem, item.tensor, item.step, session_.trial, messages_);
            fail(group, item);
          } else if (item.statistic != Item::value) {
            take_saved(group, item, static_cast<RecordSink&>(*sink));
          } else {
            take_computed(group, item, static_cast<RecordSink&>(*sink));
          }
          return true;
        },
        {.jobs = options_.reading.jobs});
  }

  static void fail(Group& group, const Item& item) {
    group.failed.resize(group.statistics.size());
    if (item.statistic != Item::value) {
      group.failed[item.statistic] = true;
      return;
    }
    group.lost = true;
    for (const std::size_t position : group.plan->positions) {
      group.failed[position] = true;
    }
  }

  void take_saved(Group& group, const Item& item, const RecordSink& sink) {
    if (sink.dtype() == Dtype::string || sink.saved().missing()) {
      report_no_number(item.tensor, item.step, wanted_[item.statistic].name, messages_);
      fail(group, item);
      return;
    }
    if (group.members == 1) {
      group.statistics[item.statistic] = sink.saved();
      if (!options_.by.step && is_floating(sink.dtype())) {
        // Another shard may have more to pool with it, as a double: the shortest text of a float32 would not do.
        group.statistics[item.statistic].set(sink.saved().number());
      }
      return;
    }
    group.saved_pools.resize(wanted_.size());
    std::optional<Reducer>& pool = group.saved_pools[item.statistic];
    if (!pool) {
      const Reduction pooling = *pooling_of(wanted_[item.statistic]);
      pool.emplace(std::span(&pooling, 1));
    }
    sink.saved().add_to(*pool);
  }

  void take_computed(Group& group, const Item& item, RecordSink& sink) {
    if (!sink.slice_error().empty()) {
      report_slice(item.tensor, sink.slice_error(), messages_);
      fail(group, item);
      return;
    }
    if (sink.dtype() == Dtype::string) {
      unavailable_.string(item.tensor);
      fail(group, item);
      return;
    }
    if (group.members > 1) {
      if (group.pool) {
        group.pool->merge(sink.take_reducer());
      } else {
        group.pool = sink.take_reducer();
      }
      return;
    }
    if (options_.shard && !is_complex(sink.dtype())) {
      group.partial = sink.partial();
    }
    take_values(group, sink.values(), item.tensor);
  }

  void take_values(Group& group, std::span<const ReducedValue> values, std::string_view tensor) {
    for (std::size_t i = 0; i < group.plan->positions.size(); ++i) {
      const std::size_t position = group.plan->positions[i];
      if (values[i].kind == ReducedValue::Kind::undefined) {
        unavailable_.undefined(wanted_[position].name, tensor);
      }
      group.statistics[position] = Statistic::of(values[i]);
    }
  }

  void finish(Group& group) {
    if (group.pool) {
      std::vector<ReducedValue> values;
      for (const Reduction& reduction : group.plan->computed) {
        values.push_back(group.pool->result(reduction));
      }
      take_values(group, values, std::get<1>(group.key).empty() ? "(pooled)" : std::get<1>(group.key));
      if (options_.shard && !group.lost) {
        try {
          group.partial = group.pool->partial();
        } catch (const InvalidArgument&) {
          group.partial.reset();  // complex numbers
        }
      }
      group.pool.reset();
    }
    for (std::size_t i = 0; i < group.saved_pools.size(); ++i) {
      if (group.saved_pools[i]) {
        group.statistics[i] = Statistic::of(group.saved_pools[i]->result(*pooling_of(wanted_[i])));
      }
    }
  }

  // Shows the rows of all groups so far, in order, and forgets the groups.
  void show() {
    if (single()) {
      for (Group& group : groups_) {
        show(group);
      }
    } else {
      for (const auto& [key, place] : places_) {
        show(groups_[place]);
      }
    }
    groups_.clear();
    places_.clear();
  }

  void show(Group& group) {
    finish(group);
    bool damaged = false;
    for (std::size_t i = 0; i < group.failed.size(); ++i) {
      if (group.failed[i]) {
        // A part of the whole would be taken for the whole.
        group.statistics[i] = Statistic();
        damaged = true;
      }
    }
    const RowSource source(group.statistics, *group.plan);
    if (damaged && source.nothing()) {
      return;
    }
    ResultRow row;
    row.tensor = std::get<1>(group.key);
    row.worker = std::get<2>(group.key);
    row.step = GlobalStep(std::get<0>(group.key));
    row.mode = group.mode;
    row.mode_step = group.mode_step;
    row.superseded = group.superseded;
    row.written = group.written;
    row.source = source.text();
    row.statistics = group.statistics;
    if (options_.shard) {
      source.tell_part(row, session_, options_, group.partial);
    }
    view_.row(row);
    outcome_ = ReduceOutcome::rows;
  }

  const Session& session_;
  const ReduceCommandOptions& options_;
  const std::vector<Wanted>& wanted_;
  ResultView& view_;
  Diagnostics& messages_;
  Progress progress_;
  std::uint64_t entries_done_ = 0;
  std::vector<TensorEntry> entries_;
  std::vector<Group> groups_;
  std::vector<Having> having_;
  std::map<Key, std::size_t> places_;  // of groups; not used for single rows
  RowPlans plans_;
  ReduceOutcome outcome_ = ReduceOutcome::nothing;
  Unavailable unavailable_;
};

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
  // On S3, many files must be requested at once, which whole chunks do better.
  if (options.by == By() && !session.trial.remote()) {
    return reduce_single(session, options, wanted, view, messages);
  }
  return TrialReducer(session, options, wanted, view, messages).run();
}

}  // namespace smd::tool::reduce
