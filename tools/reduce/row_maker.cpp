// SPDX-License-Identifier: Apache-2.0
#include "row_maker.hpp"

#include "row_source.hpp"
#include "rows/cell.hpp"

#include <algorithm>
#include <utility>

namespace smd::tool::reduce {

namespace {

const SavedReduction* find_saved(const TensorEntry& entry, const Wanted& wanted) {
  const auto saved = std::find_if(entry.reductions.begin(), entry.reductions.end(),
                                  [&](const SavedReduction& one) { return one.name == wanted.name; });
  return saved == entry.reductions.end() ? nullptr : &*saved;
}

}  // namespace

void RowMaker::Pool::merge(Reducer&& from, Dtype from_dtype) {
  reducer->merge(std::move(from));
  dtype = dtype == from_dtype ? dtype : Dtype::float64;
}

void RowMaker::Pool::merge(Pool&& from) {
  if (reducer && from.reducer) {
    merge(*std::move(from.reducer), from.dtype);
  } else if (from.reducer) {
    *this = std::move(from);
  }
}

void PoolPlans::note(const TensorEntry& entry) {
  const auto [place, fresh] = pools_.try_emplace(key_of(entry), Pool{.mode = entry.mode,
                                                                     .mode_step = entry.mode_step,
                                                                     .superseded = entry.superseded,
                                                                     .written = place_of(entry)});
  Pool& pool = place->second;
  pool.written = std::min(pool.written, place_of(entry));
  if (pool.members == 0 || pool.last_trial != trial_) {
    ++pool.trials;
    pool.last_trial = trial_;
  }
  ++pool.members;
  pool.values += entry.value ? 1 : 0;
  if (!entry.reductions.empty()) {
    pool.saved.resize(wanted_.size());
  }
  for (std::size_t i = 0; i < pool.saved.size(); ++i) {
    pool.saved[i] += find_saved(entry, wanted_[i]) != nullptr ? 1 : 0;
  }
}

void PoolPlans::finish() {
  std::vector<How> how(wanted_.size());
  const RowPlan* last = nullptr;  // mostly all have the same
  for (auto& [key, pool] : pools_) {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const bool saved =
          !pool.saved.empty() && pool.saved[i] == pool.members && (pool.members == 1 || pooling_of(wanted_[i]));
      how[i] = how_of(options_, wanted_[i], saved, pool.values == pool.members);
    }
    pool.plan = last != nullptr && last->how == how ? last : &plans_.of(how);
    last = pool.plan;
  }
}

RowMaker::RowMaker(const Session& session, const ReduceCommandOptions& options, const std::vector<Wanted>& wanted,
                   const ResultView& view, const PoolPlans* plans)
    : session_(session),
      options_(options),
      wanted_(wanted),
      single_(!options.pools() && !options.by.row),
      shared_plans_(plans),
      own_plans_(options, wanted),
      text_view_(single_ ? view.row_text() : nullptr),
      result_(options, options.shard.has_value() || options.pools()),
      plans_(wanted),
      how_(wanted.size()) {}

void RowMaker::clear() {
  rows_.clear();
  tensors_.clear();
  lost_.clear();
  statistics_.clear();
  failed_.clear();
  partials_.clear();
  places_.clear();
  pools_.clear();
  entries_ = 0;
  records_.clear();
  targets_.clear();
  names_.clear();
  if (any_unavailable_) {
    unavailable_.clear();
    any_unavailable_ = false;
  }
  said_.clear();
}

void RowMaker::make(const Piece& piece, ValueReader& reader) {
  clear();
  const auto for_each_entry = [&](const auto& visit) {
    session_.for_each_entry(options_, piece.tensors, piece.steps, [&](const TensorEntry& entry) {
      visit(entry);
      return true;
    });
  };
  if (!single_ && shared_plans_ == nullptr) {
    own_plans_.clear();
    for_each_entry([this](const TensorEntry& entry) { own_plans_.note(entry); });
    own_plans_.finish();
  }
  for_each_entry([this](const TensorEntry& entry) { take(entry); });
  statistics_.resize(rows_.size() * wanted_.size());
  if (options_.shard) {
    partials_.resize(rows_.size());
  }
  reader.read_each(
      records_,
      [this](std::size_t i, Extent& value) {
        const Target& target = targets_[i];
        result_.read(value, target.statistic == Target::value ? row_of(target).plan : nullptr);
      },
      [this](std::size_t i, const std::optional<Problem>& problem) { finish(targets_[i], problem); });
  text_rows_ = 0;
  if (text_view_) {
    ResultRow row;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (fill(i, row)) {
        text_view_->row(row);
        ++text_rows_;
      }
    }
    text_view_->take(text_);
  }
}

std::uint32_t RowMaker::row_of(const TensorEntry& entry) {
  const auto next = static_cast<std::uint32_t>(rows_.size());
  if (single_) {
    rows_.push_back({entry.tensor, entry.worker, entry.step, entry.mode, entry.mode_step, entry.superseded,
                     place_of(entry), &plan_of(entry)});
    return next;
  }
  const PoolKey key = own_plans_.key_of(entry);
  if (options_.by.row) {
    tensors_.emplace_back(key, pooled_row(key));
    return static_cast<std::uint32_t>(tensors_.size() - 1);
  }
  const auto [place, fresh] = places_.emplace(key, next);
  if (fresh) {
    rows_.push_back(pooled_row(key));
  }
  return place->second;
}

RowMaker::Row RowMaker::pooled_row(const PoolKey& key) const {
  const PoolPlans::Pool& pool = (shared_plans_ != nullptr ? *shared_plans_ : own_plans_).of(key);
  Row row{std::get<1>(key), std::get<2>(key), GlobalStep(std::get<0>(key)),
          pool.mode,        pool.mode_step,   pool.superseded,
          pool.written,     pool.plan,        pool.members > 1};
  row.trials = pool.trials;
  return row;
}

void RowMaker::take(const TensorEntry& entry) {
  ++entries_;
  const std::uint32_t row = row_of(entry);
  const RowPlan& plan = *row_of(Target{row}).plan;
  if (plan.lacks) {
    unavailable_.lacks(entry, plan, wanted_);
    any_unavailable_ = true;
  }
  if (!plan.computed.empty() && entry.value) {
    records_.push_back({*entry.value, entry.tensor});
    targets_.push_back({row, Target::value, entry.tensor, entry.step});
  }
  for (std::size_t i = 0; i < wanted_.size() && !entry.reductions.empty(); ++i) {
    if (is_saved(plan.how[i])) {
      const SavedReduction& saved = *find_saved(entry, wanted_[i]);
      records_.push_back({saved.place, names_.emplace_back(reduction_tensor_name(saved.name, entry.tensor))});
      targets_.push_back({row, i, entry.tensor, entry.step});
    }
  }
}

const RowPlan& RowMaker::plan_of(const TensorEntry& entry) {
  const bool has_value = entry.value.has_value();
  const bool plain = entry.reductions.empty();
  if (plain && plain_[has_value ? 1 : 0] != nullptr) {
    return *plain_[has_value ? 1 : 0];
  }
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    how_[i] = how_of(options_, wanted_[i], find_saved(entry, wanted_[i]) != nullptr, has_value);
  }
  const RowPlan& plan = plans_.of(how_);
  if (plain) {
    plain_[has_value ? 1 : 0] = &plan;
  }
  return plan;
}

void RowMaker::finish(const Target& target, const std::optional<Problem>& problem) {
  if (problem) {
    said_.emplace_back([this, problem = *problem, tensor = target.tensor, step = target.step](Diagnostics& messages) {
      report(problem, tensor, step, session_.trial, messages);
    });
    fail(target);
    return;
  }
  if (Row& row = row_of(target); !row.pools) {
    row.wall_time = result_.wall_time();
  }
  if (target.statistic != Target::value) {
    take_saved(target);
  } else {
    take_computed(target);
  }
}

void RowMaker::take_saved(const Target& target) {
  const std::string_view name = wanted_[target.statistic].name;
  if (result_.saved().missing()) {
    said_.emplace_back([tensor = target.tensor, step = target.step, name](Diagnostics& messages) {
      report_no_number(tensor, step, name, messages);
    });
    fail(target);
    return;
  }
  if (!rows_[target.row].pools) {
    Statistic& statistic = statistics_of(target.row)[target.statistic];
    statistic = result_.saved();
    if (options_.pooled_later() && is_floating(result_.dtype())) {
      statistic.set(statistic.number());
    }
    return;
  }
  std::vector<Pool>& saved = pools_[target.row].saved;
  saved.resize(wanted_.size());
  const Reduction pooling = *pooling_of(wanted_[target.statistic]);
  Pool one = {.reducer = Reducer(std::span(&pooling, 1)), .dtype = result_.dtype()};
  result_.saved().add_to(*one.reducer);
  saved[target.statistic].merge(std::move(one));
}

void RowMaker::take_computed(const Target& target) {
  if (!result_.misfit().empty()) {
    said_.emplace_back([tensor = target.tensor, why = result_.misfit()](Diagnostics& messages) {
      report_slice(tensor, why, messages);
    });
    fail(target);
    return;
  }
  if (result_.dtype() == Dtype::string) {
    unavailable_.string(target.tensor);
    any_unavailable_ = true;
    fail(target);
    return;
  }
  if (options_.by.row) {
    take_rows(target);
    return;
  }
  if (rows_[target.row].pools) {
    pool(target.row, std::move(result_.reducer()), result_.dtype());
    return;
  }
  if (options_.shard && !is_complex(result_.dtype())) {
    partials_[target.row] = result_.reducer().partial();
  }
  take_values(target.row, result_.computed(), target.tensor, result_.dtype(), result_.one_element());
}

void RowMaker::take_rows(const Target& target) {
  if (!result_.rows()) {
    unavailable_.without_rows(target.tensor);
    any_unavailable_ = true;
    return;
  }
  auto [key, of_tensor] = tensors_[target.row];
  for (std::size_t i = 0; i < *result_.rows(); ++i) {
    std::get<3>(key) = of_tensor.row = i;
    const auto [place, fresh] = places_.emplace(key, static_cast<std::uint32_t>(rows_.size()));
    if (fresh) {
      rows_.push_back(of_tensor);
      statistics_.resize(rows_.size() * wanted_.size());
    }
    if (of_tensor.pools) {
      pool(place->second, std::move(result_.row_reducer(i)), result_.dtype());
    } else {
      take_values(place->second, result_.row(i), target.tensor, result_.dtype(), result_.one_element_a_row());
    }
  }
}

void RowMaker::pool(std::uint32_t row, Reducer&& elements, Dtype dtype) {
  Pool& into = pools_[row].elements;
  if (!into.reducer) {
    into = {.reducer = Reducer(rows_[row].plan->computed, options_.reduce), .dtype = dtype};
  }
  into.merge(std::move(elements), dtype);
}

void RowMaker::take_values(std::uint32_t row, std::span<const ReducedValue> values, std::string_view tensor,
                           Dtype dtype, bool one) {
  const RowPlan& plan = *rows_[row].plan;
  const std::span<Statistic> statistics = statistics_of(row);
  for (std::size_t i = 0; i < plan.positions.size(); ++i) {
    const std::size_t position = plan.positions[i];
    if (values[i].kind == ReducedValue::Kind::undefined) {
      unavailable_.undefined(wanted_[position].name, tensor);
      any_unavailable_ = true;
    }
    statistics[position] =
        options_.pooled_later() ? Statistic::of(values[i]) : Statistic::of(values[i], plan.computed[i], dtype, one);
  }
}

void RowMaker::fail(const Target& target) {
  if (options_.by.row) {
    lost_.insert(tensors_[target.row].first);
    return;
  }
  if (target.statistic != Target::value) {
    fail(target.row, target.statistic);
    return;
  }
  rows_[target.row].lost = true;
  for (const std::size_t position : rows_[target.row].plan->positions) {
    fail(target.row, position);
  }
}

void RowMaker::fail(std::size_t row, std::size_t statistic) {
  failed_.resize(statistics_.size());
  failed_[row * wanted_.size() + statistic] = true;
}

void RowMaker::absorb(RowMaker& piece) {
  entries_ += piece.entries_;
  unavailable_.merge(piece.unavailable_);
  lost_.merge(piece.lost_);
  for (const auto& [key, from] : piece.places_) {
    const auto [place, fresh] = places_.emplace(key, static_cast<std::uint32_t>(rows_.size()));
    const std::uint32_t to = place->second;
    if (fresh) {
      rows_.push_back(piece.rows_[from]);
      statistics_.resize(rows_.size() * wanted_.size());
      partials_.resize(options_.shard ? rows_.size() : 0);
    }
    rows_[to].lost = rows_[to].lost || piece.rows_[from].lost;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (Statistic& statistic = piece.statistics_of(from)[i]; !statistic.missing()) {
        statistics_of(to)[i] = std::move(statistic);
      }
      if (piece.failed(from, i)) {
        fail(to, i);
      }
    }
    if (options_.shard && piece.partials_[from]) {
      partials_[to] = piece.partials_[from];
    }
    if (const auto pooled = piece.pools_.find(from); pooled != piece.pools_.end()) {
      Pooled& into = pools_[to];
      into.elements.merge(std::move(pooled->second.elements));
      into.saved.resize(std::max(into.saved.size(), pooled->second.saved.size()));
      for (std::size_t i = 0; i < pooled->second.saved.size(); ++i) {
        into.saved[i].merge(std::move(pooled->second.saved[i]));
      }
    }
  }
}

void RowMaker::finish_pool(std::uint32_t row, const Pooled& pooled) {
  if (pooled.elements.reducer) {
    const RowPlan& plan = *rows_[row].plan;
    std::vector<ReducedValue> values(plan.computed.size());
    pooled.elements.reducer->results(values);
    take_values(row, values, rows_[row].tensor.empty() ? "(pooled)" : rows_[row].tensor, pooled.elements.dtype);
    if (options_.shard && !rows_[row].lost) {
      try {
        partials_[row] = pooled.elements.reducer->partial();
      } catch (const InvalidArgument&) {
        partials_[row].reset();  // complex numbers
      }
    }
  }
  for (std::size_t i = 0; i < pooled.saved.size(); ++i) {
    if (const Pool& saved = pooled.saved[i]; saved.reducer) {
      const Reduction pooling = *pooling_of(wanted_[i]);
      const ReducedValue value = saved.reducer->result(pooling);
      statistics_of(row)[i] =
          options_.pooled_later() ? Statistic::of(value) : Statistic::of(value, pooling, saved.dtype, false);
    }
  }
}

bool RowMaker::fill(std::size_t index, ResultRow& row) {
  const Row& from = rows_[index];
  const std::span<Statistic> statistics = statistics_of(index);
  bool damaged = false;
  const bool lost =
      !lost_.empty() && lost_.contains({options_.by.step ? from.step.value : 0, from.tensor, from.worker, 0});
  for (std::size_t i = 0; i < statistics.size() && (lost || !failed_.empty()); ++i) {
    if (lost || failed(index, i)) {
      statistics[i] = Statistic();  // a part of the whole would be taken for the whole
      damaged = true;
    }
  }
  const RowSource source(statistics, *from.plan);
  if (damaged && source.nothing()) {
    return false;
  }
  row.tensor = from.tensor;
  row.worker = from.worker;
  row.step = from.step;
  row.mode = from.mode;
  row.mode_step = from.mode_step;
  row.superseded = from.superseded;
  row.written = from.written;
  row.row = from.row;
  row.trials = from.trials;
  row.selected = session_.shows(from.tensor, from.step);
  row.wall_time = from.wall_time;
  row.elapsed = from.wall_time && session_.started ? std::optional(*from.wall_time - *session_.started) : std::nullopt;
  row.source = source.text();
  row.statistics = statistics;
  if (options_.shard) {
    source.tell_part(row, session_, options_, partials_[index]);
  }
  return true;
}

void RowMaker::say(Diagnostics& messages) {
  for (const Said& said : said_) {
    said(messages);
  }
}

bool RowMaker::show(ResultView& view) {
  if (text_view_) {
    view.append(text_, text_rows_);
    return text_rows_ != 0;
  }
  for (const auto& [row, pooled] : pools_) {
    finish_pool(row, pooled);
  }
  ResultRow row;
  bool any = false;
  const auto show_row = [&](std::size_t i) {
    if (fill(i, row)) {
      view.row(row);
      any = true;
    }
  };
  for (std::size_t i = 0; i < rows_.size() && single_; ++i) {
    show_row(i);
  }
  for (const auto& [key, i] : places_) {
    show_row(i);
  }
  return any;
}

}  // namespace smd::tool::reduce
