// SPDX-License-Identifier: Apache-2.0
#include "layout/wandb/look_at_wandb.hpp"

#include "layout/name_collections.hpp"
#include "layout/wandb/run_file.hpp"
#include "text/escape.hpp"
#include "text/json.hpp"
#include "text/loss_name.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"
#include "text/path.hpp"
#include "text/words.hpp"
#include "wire/wandb_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace smd::detail::layout {

namespace {

using wire::FlatJson;
using wire::WandbRecord;

constexpr std::string_view own_step = "_step";

std::optional<std::int64_t> whole_of(const FlatJson::Value& value) noexcept {
  const bool real = value.kind == FlatJson::Kind::number && !value.whole;
  return real ? text::whole_of(value.number) : value.whole;
}

/// Takes the records of files into rows.
class WandbTaker {
  using Role = WandbFacts::Role;

 public:
  WandbTaker(WandbCursor& cursor, const LookRequest& request, LoadedSteps& loaded)
      : cursor_(cursor), request_(request), rows_(cursor, loaded) {}

  /// Reads what is new in a file. Returns why the file is refused.
  std::optional<Problem> read(storage::Storage& storage, std::uint32_t id) {
    WandbFile& file = cursor_.files[id];
    file.stamp = file.stamp ? file.stamp : storage.file_stamp(file.path);
    file.rest.reset();
    auto opened = storage.open(file.path);
    if (!opened) {
      file.fail(opened.problem());
      return std::nullopt;
    }
    if (!request_.as_it_stands && !file.take_head(**opened)) {
      return std::nullopt;
    }
    if (file.offset == 0) {
      const auto first = read_first_bytes(**opened, first_bytes_of_file);
      if (!first) {
        file.fail(first.problem());
        return std::nullopt;
      }
      const auto why = wire::wandb_header_problem(*first);
      const wire::KnownFile* const known = wire::known_file(*first, file.path);
      const bool may_come = known != nullptr && known->kind == wire::FileKind::zeros && !request_.as_it_stands;
      if (why && !may_come) {
        return make_problem(ProblemKind::not_found, wire::is_no_text(known) ? say(*known) : std::string(*why),
                            file.path);
      }
      if (why || first->size() < wire::wandb_header_bytes) {
        return std::nullopt;
      }
      file.offset = wire::wandb_header_bytes;
    }
    file_ = id;
    rows_.begin_file(cursor_.table, {}, file.path, id, 0);
    RunFileReader reader(**opened, file.offset, file.skipping, request_);
    constexpr unsigned between = 1024;
    for (unsigned count = 0; count % between != 0 || !request_.stopped(); ++count) {
      const RunFileReader::Found found = reader.next();
      if (found == RunFileReader::Found::end) {
        break;
      }
      if (found == RunFileReader::Found::problem) {
        file.problems.add(std::move(reader.problem()));
        continue;
      }
      place_ = {reader.offset(), reader.length()};
      if (Status taken = take(reader.payload()); !taken) {
        add_problem(ProblemKind::damaged, "the record is left out: " + taken.problem().text);
      }
    }
    file.offset = reader.resume();
    file.skipping = reader.skipping();
    if (reader.failure()) {
      file.fail(*reader.failure());
    }
    return std::nullopt;
  }

  /// Ends the look. System metrics of the newest step are kept back while more may come.
  void finish(Found& found, std::shared_ptr<const CollectionsInfo> collections) {
    const bool places =
        request_.as_it_stands || request_.provisional || (!cursor_.files.empty() && cursor_.files.back().exit_code);
    if (places && cursor_.keeps_back()) {
      if (rows_.previous() == no_id) {  // perhaps no file was read
        rows_.begin_file(cursor_.table, {}, cursor_.files[cursor_.newest_file].path, cursor_.newest_file, 0);
      }
      place_system_metrics(cursor_.pending.cend());
      cursor_.placed_early = cursor_.pending.size();
    }
    rows_.finish(found, std::move(collections));
  }

 private:
  void add_problem(ProblemKind kind, std::string text) {
    cursor_.files[file_].problems.add({kind, {}, place_.offset, std::move(text)});
  }

  Status take(std::span<const std::byte> payload) {
    if (Status parsed = wire::parse_wandb_record(payload, record_); !parsed) {
      return parsed;
    }
    switch (record_.kind) {
      case WandbRecord::Kind::history:
        return take_history();
      case WandbRecord::Kind::stats:
        return take_stats();
      case WandbRecord::Kind::config:
      case WandbRecord::Kind::run:
        take_config();
        return ok();
      case WandbRecord::Kind::alert:
        take_alert();
        return ok();
      case WandbRecord::Kind::exit:
        cursor_.files[file_].exit_code = record_.exit_code;
        return ok();
      case WandbRecord::Kind::other:
        return ok();
    }
    return ok();
  }

  void take_alert() {
    const auto& [title, text, level] = record_.says;
    cursor_.extras.add_other({"alert", fmt::format("{}: {}: {}", level, title, text), cursor_.last_step.value_or(0),
                              "worker_0", cursor_.files[file_].path, place_.offset, place_.length, 0});
  }

  Status take_history() {
    std::size_t typed = 0;
    if (Status flat = wire::flatten(record_, values_, typed); !flat) {
      return flat;
    }
    cursor_.media += typed;
    time_ = std::numeric_limits<double>::quiet_NaN();
    std::optional<std::int64_t> own;
    std::array<bool, global_step_names.size()> there{};
    std::optional<std::int64_t> chosen;
    bool named = false;
    bool first_tensor = false;
    items_.clear();
    for (const FlatJson::Value& value : values_.values()) {
      const std::uint32_t id = id_of(values_.name(value));
      WandbFacts& facts = cursor_.facts[id];
      if (facts.role == Role::timestamp && value.kind == FlatJson::Kind::number) {
        time_ = value.number;
      } else if (facts.role == Role::own_step) {
        own = whole_of(value);
      }
      facts.text = facts.text || value.kind == FlatJson::Kind::text;
      facts.texts += value.kind == FlatJson::Kind::text || value.kind == FlatJson::Kind::other ? 1 : 0;
      if (facts.rank < there.size() && whole_of(value)) {
        there[facts.rank] = true;
      }
      facts.left_out = facts.left_out || may_be_text(facts, value);
      first_tensor = first_tensor || (is_tensor(facts, value) && facts.rank == there.size());
      items_.emplace_back(id, &value);
    }
    const auto known = std::find(there.begin(), there.end(), true);
    const std::string_view candidate =
        known == there.end() ? std::string_view() : global_step_names[static_cast<std::size_t>(known - there.begin())];
    if (!cursor_.step_name && first_tensor) {
      cursor_.step_name = candidate;
    }
    // Until a record has another tensor, a candidate in it is the step, and all its tensors, which are candidates, are
    // left out.
    const bool undecided = !cursor_.step_name;
    const std::string_view step_name = undecided ? candidate : std::string_view(*cursor_.step_name);
    const std::uint32_t step_id = step_name.empty() ? no_id : cursor_.table.names.find(step_name);
    for (const auto& [id, value] : items_) {
      chosen = id == step_id ? whole_of(*value) : chosen;
      named = named || id == step_id;
    }
    cursor_.had_step = cursor_.had_step || chosen;
    own = own ? own : record_.step ? record_.step : static_cast<std::int64_t>(cursor_.records);
    ++cursor_.records;
    step_ = !step_name.empty() ? chosen.value_or(cursor_.last_step.value_or(*own)) : *own;
    const bool has_tensor = keep_tensors(undecided, step_id);
    const bool back = goes_back();
    const bool has_loss = take_items();
    for (std::size_t i = 0; i < there.size(); ++i) {
      StepCandidate& counted = cursor_.candidates[i];
      counted.records += there[i] ? 1 : 0;
      counted.in_all_losses = counted.in_all_losses && (there[i] || !has_loss);
      counted.in_all = counted.in_all && (there[i] || !has_tensor);
    }
    cursor_.has_losses = cursor_.has_losses || has_loss;
    if (!step_name.empty() && !chosen && (cursor_.has_losses ? has_loss : has_tensor)) {
      ++cursor_.without_step;
      cursor_.fractions += named ? 1 : 0;
    }
    if (chosen || !items_.empty()) {
      cursor_.last_step = step_;
    }
    if (!items_.empty()) {
      begin_step(back);
    }
    return ok();
  }

  /// Leaves in `items_` only those that are taken. Returns whether one of a tensor was there that is no candidate for
  /// the step. `undecided`: which name is the step is not known yet.
  bool keep_tensors(bool undecided, std::uint32_t step_id) {
    bool has_tensor = false;
    std::erase_if(items_, [&](const auto& item) {
      const WandbFacts& facts = cursor_.facts[item.first];
      const bool tensor = is_tensor(facts, *item.second);
      if (undecided && tensor) {
        cursor_.candidates[facts.rank].left_out = true;
      }
      const bool other = undecided || !tensor || item.first == step_id;
      has_tensor = has_tensor || (!other && facts.rank == global_step_names.size());
      if (!other && cursor_.table.names[item.first].size() > limits::name_bytes) {
        add_problem(ProblemKind::damaged,
                    fmt::format("a value is left out: its name is longer than the limit (name_bytes), {} bytes",
                                limits::name_bytes));
        return true;
      }
      return other;
    });
    return has_tensor;
  }

  /// Returns whether a value in `items_` supersedes those of later steps: the job goes on from an earlier one.
  [[nodiscard]] bool goes_back() const {
    return !cursor_.times.empty() && step_ < cursor_.times.back().second &&
           std::ranges::any_of(items_, [&](const auto& item) {
             const Series& series = cursor_.table.series[item.first];
             return series.has_value && step_ < series.last_step;
           });
  }

  /// Takes the values in `items_` at `step_`. Returns whether one is a loss.
  bool take_items() {
    // The SDK writes the items of each record in another order. In one order, the rows share a list of names.
    std::ranges::sort(items_);
    bool has_loss = false;
    numbers_.clear();
    for (const auto& [id, value] : items_) {
      if (is_number(*value)) {
        numbers_.push_back(number_of(id, *value));
        has_loss = has_loss || cursor_.facts[id].loss;
      }
    }
    if (numbers_.size() != items_.size() || !rows_.take_alike(numbers_, step_, time_)) {
      auto number = numbers_.begin();
      for (const auto& [id, value] : items_) {
        if (is_number(*value)) {
          rows_.take_number(rows_.series_of(id), number->kind, step_, number->dtype, number->bits, time_);
          ++number;
        } else {
          take_record(rows_.series_of(id), *value);
        }
      }
    }
    return has_loss;
  }

  /// Returns the id of a name. One that is too long stands for all that begin like it: they are left out.
  std::uint32_t id_of(std::string_view name) {
    const std::uint32_t id = cursor_.table.names.add(name.substr(0, limits::name_bytes + 1));
    if (id == cursor_.facts.size()) {
      cursor_.table.series.emplace_back();
      WandbFacts& facts = cursor_.facts.emplace_back();
      facts.rank = static_cast<std::size_t>(std::ranges::find(global_step_names, name) - global_step_names.begin());
      facts.number = cursor_.whole.contains(std::string(name));
      facts.loss = text::is_loss_name(name);
      facts.role = name == "_timestamp"    ? Role::timestamp
                   : name == own_step      ? Role::own_step
                   : name.starts_with('_') ? Role::nothing
                                           : Role::tensor;
    }
    return id;
  }

  [[nodiscard]] static bool is_tensor(const WandbFacts& facts, const FlatJson::Value& value) noexcept {
    return facts.role == Role::tensor && value.kind != FlatJson::Kind::text && value.kind != FlatJson::Kind::other &&
           !may_be_text(facts, value);
  }
  [[nodiscard]] static bool may_be_text(const WandbFacts& facts, const FlatJson::Value& value) noexcept {
    return value.kind == FlatJson::Kind::null && facts.text && !facts.known_whole && !facts.number;
  }
  [[nodiscard]] static bool is_number(const FlatJson::Value& value) noexcept {
    return value.kind == FlatJson::Kind::number || value.kind == FlatJson::Kind::null;
  }

  /// Returns a number of the series `id`, and records what it tells of it.
  SeriesRows::Number number_of(std::uint32_t id, const FlatJson::Value& value) {
    const std::string_view name = cursor_.table.names[id];
    WandbFacts& facts = cursor_.facts[id];
    const bool null = value.kind == FlatJson::Kind::null;
    facts.nulls += null ? 1 : 0;
    constexpr auto exact = static_cast<std::int64_t>(text::most_exact_whole);
    const bool beyond = value.whole && (*value.whole > exact || *value.whole < -exact);
    if (!std::exchange(facts.known_whole, true)) {
      const auto known = cursor_.whole.find(std::string(name));
      facts.whole = known == cursor_.whole.end() ? beyond : known->second;
      if (facts.left_out && !request_.as_it_stands) {
        add_problem(ProblemKind::warning,
                    fmt::format("'{}' has a number: nulls before it, after a text, were left out", printable(name)));
      }
    }
    facts.beyond = facts.beyond || beyond;
    facts.real = facts.real || !value.whole;
    const bool whole = facts.whole && value.whole;
    if ((facts.whole ? !value.whole : beyond) && !request_.as_it_stands && !facts.contradicted) {
      facts.contradicted = true;
      add_problem(ProblemKind::warning,
                  fmt::format("a value of '{}' is {}, unlike the first ones: it is {}", printable(name),
                              beyond ? "a whole number that no float64 has" : "no whole number",
                              beyond ? "rounded" : "a float64"));
    }
    const double number = null ? std::numeric_limits<double>::quiet_NaN() : value.number;
    return {id, ValueKind::number, whole ? Dtype::int64 : Dtype::float64,
            whole ? static_cast<std::uint64_t>(*value.whole) : std::bit_cast<std::uint64_t>(number)};
  }

  /// Takes a histogram or an array.
  void take_record(Series& series, const FlatJson::Value& value) {
    cursor_.facts[rows_.previous()].known_whole = true;
    if (value.kind == FlatJson::Kind::histogram) {
      const std::span<const double> buckets = values_.numbers(value);
      const auto span = wire::bucket_span(buckets);
      if (!span || buckets.empty()) {
        return add_problem(ProblemKind::damaged,
                           "the value of " + in_quotes(values_.name(value)) + " is left out: " +
                               (span ? "the bins of the histogram do not fit its counts" : span.problem().text));
      }
      const bool watched = values_.name(value).starts_with("parameters/");
      rows_.begin_value(series, watched ? ValueKind::watched : ValueKind::histogram, step_);
      rows_.add_buckets(series, *span, time_, place_.offset, place_.length);
      return;
    }
    cursor_.facts[rows_.previous()].nulls += value.nulls;
    rows_.begin_value(series, ValueKind::tensor, step_);
    rows_.add_record(series.name, ValueForm::record, place_.offset, place_.length);
  }

  /// Records when a step began, but not if it comes late, at or before the newest one. If the job goes on from it (see
  /// `goes_back`) or another file begins, it is recorded, and system metrics at this and later steps are superseded.
  void begin_step(bool back) {
    constexpr std::size_t most = 1024;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    auto& times = cursor_.times;
    const bool resumed = std::exchange(cursor_.newest_file, file_) != file_;
    const bool late = !times.empty() && step_ <= times.back().second;
    if (late && !resumed && !back) {
      return;
    }
    const double newest = times.empty() ? -infinity : times.back().first;
    if (std::exchange(cursor_.placed_early, 0) != 0) {
      rows_.restart(cursor_.system_metrics, times.back().second);  // they may belong to this step
    }
    const auto later = cursor_.pending.lower_bound(time_ >= newest ? time_ : infinity);
    place_system_metrics(later);
    cursor_.pending.erase(cursor_.pending.begin(), times.empty() ? cursor_.pending.begin() : later);
    if (late) {
      rows_.restart(cursor_.system_metrics, step_);
    }
    const double time = std::isnan(time_) ? newest : time_;
    // The clock, too, may go back: then no metric belongs to a step whose time is still to come.
    while (!times.empty() && (times.back().second >= step_ || times.back().first > time)) {
      times.pop_back();
    }
    if (times.size() == most) {
      times.erase(times.begin(), times.begin() + most / 2);
    }
    times.emplace_back(time, step_);
  }

  Status take_stats() {
    std::size_t typed = 0;
    if (Status flat = wire::flatten(record_, values_, typed); !flat) {
      return flat;
    }
    for (const FlatJson::Value& value : values_.values()) {
      if (value.kind == FlatJson::Kind::number && values_.name(value).size() <= limits::name_bytes) {
        cursor_.pending.emplace(record_.time, SystemMetric{"system/" + std::string(values_.name(value)), value.number});
      }
    }
    return ok();
  }

  /// Places pending system metrics before one of them: at the newest step at or before their time, else at the first.
  /// Of several of one name at a step the last counts.
  void place_system_metrics(WandbCursor::Pending::const_iterator later) {
    if (cursor_.times.empty()) {
      return;
    }
    std::map<std::pair<std::size_t, std::string_view>, std::pair<double, double>> placed;  // by index in `times`, name
    for (auto metric = cursor_.pending.cbegin(); metric != later; ++metric) {
      const auto after =
          std::ranges::upper_bound(cursor_.times, metric->first, {}, [](const auto& step) { return step.first; });
      const auto at = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - cursor_.times.begin(), 1) - 1);
      placed[{at, metric->second.name}] = {metric->first, metric->second.value};
    }
    for (const auto& [place, measured] : placed) {
      const std::uint32_t id = id_of(place.second);
      Series& series = rows_.series_of(id);
      const std::int64_t step = cursor_.times[place.first].second;
      if (!std::exchange(cursor_.facts[id].system, true)) {
        cursor_.system_metrics.push_back(id);
      }
      const bool again = cursor_.placed_early != 0 && step == cursor_.times.back().second;
      if (!series.has_value || step > series.last_step || again) {
        rows_.take_number(series, ValueKind::system, step, Dtype::float64,
                          std::bit_cast<std::uint64_t>(measured.second), measured.first);
      }
    }
  }

  void take_config() {
    std::map<std::string, std::string>& all = cursor_.extras.hyperparameters;
    cursor_.extras.hyperparameter_records += record_.items.empty() ? 0 : 1;
    for (const WandbRecord::Item& item : record_.removed) {
      const std::string name = path_of(item);
      std::erase_if(all, [&](const auto& one) { return one.first == name || one.first.starts_with(name + "."); });
    }
    for (const WandbRecord::Item& item : record_.items) {
      const std::string name = path_of(item);
      if (!name.starts_with('_')) {
        text::JsonDocument<nlohmann::ordered_json> document;
        if (text::parse_json(item.json, document)) {
          all.insert_or_assign(name, std::string(item.json));  // NaN, or what only Python writes
        } else {
          add_hyperparameters(name, *document, all);
        }
      }
    }
  }

  [[nodiscard]] std::string path_of(const WandbRecord::Item& item) const {
    return fmt::format("{}", fmt::join(record_.keys_of(item), "."));
  }

  static void add_hyperparameters(const std::string& name, const nlohmann::ordered_json& value,
                                  std::map<std::string, std::string>& all) {
    if (!value.is_object() || value.empty()) {
      all.insert_or_assign(name, text::json_text(value));
      return;
    }
    for (const auto& member : value.items()) {
      add_hyperparameters(name + "." + member.key(), member.value(), all);
    }
  }

  WandbCursor& cursor_;
  const LookRequest& request_;
  SeriesRows rows_;
  WandbRecord record_;
  FlatJson values_;
  std::vector<std::pair<std::uint32_t, const FlatJson::Value*>> items_;  ///< Of a record: ids of names, values.
  std::vector<SeriesRows::Number> numbers_;
  std::uint32_t file_ = 0;
  struct {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  } place_;
  std::int64_t step_ = 0;
  double time_ = 0;
};

/// Returns whether values of names were left out that are not that of the step.
bool left_out_tensors(const WandbCursor& read, std::string_view step_name) {
  bool left_out = false;
  for (std::size_t i = 0; i < global_step_names.size(); ++i) {
    left_out = left_out || (read.candidates[i].left_out && global_step_names[i] != step_name);
  }
  return left_out;
}

/// Corrects choices that later records contradict. Returns false if none is wrong.
bool choose_again(const WandbCursor& read, bool step_is_given, WandbCursor& next) {
  std::string step_name = read.step_name.value_or(std::string());
  if (!step_is_given) {
    step_name.clear();
    for (std::size_t i = global_step_names.size(); i-- > 0;) {
      const StepCandidate& candidate = read.candidates[i];
      const bool everywhere = read.has_losses ? candidate.in_all_losses : candidate.in_all;
      step_name = candidate.records != 0 && everywhere ? std::string(global_step_names[i]) : step_name;
    }
  }
  bool again = step_name != read.step_name.value_or(std::string()) || left_out_tensors(read, step_name);
  next.step_name = step_name;
  for (std::uint32_t id = 0; id < read.facts.size(); ++id) {
    const WandbFacts& facts = read.facts[id];
    const bool nulls = facts.left_out && facts.known_whole;
    const bool whole = facts.beyond && !facts.real && !nulls;
    again = again || whole != facts.whole || nulls;
    if (whole || facts.whole || nulls) {
      next.whole.emplace(read.table.names[id], whole);
    }
  }
  return again;
}

void add_notes(const WandbCursor& cursor, bool step_is_given, ProblemList& notes) {
  const std::string file = cursor.files.size() == 1 ? cursor.files.front().path : std::string();
  const auto add = [&](ProblemKind kind, std::string text) { notes.add({kind, file, {}, std::move(text)}); };
  const std::string step_name = cursor.step_name.value_or(std::string());
  if (!step_name.empty() && !step_is_given) {
    add(ProblemKind::remark,
        fmt::format("steps are the values of '{}', not the SDK's own: --step-name _step takes those", step_name));
  }
  const auto stand_before = [&](std::uint64_t records, std::string_view what) {
    if (!step_name.empty() && records != 0) {
      add(ProblemKind::warning,
          fmt::format("{} {} '{}'; the step before is used", text::counted(records, "record", "has", "have"), what,
                      printable(step_name)));
    }
  };
  stand_before(cursor.without_step - cursor.fractions, "no");
  stand_before(cursor.fractions, "no whole number in");
  const auto remark = [&](std::uint64_t WandbFacts::*values, std::string_view what) {
    std::uint64_t count = 0;
    std::vector<std::string_view> names;
    for (std::uint32_t id = 0; id < cursor.facts.size(); ++id) {
      if (cursor.facts[id].*values != 0 && cursor.table.series[id].has_value) {
        count += cursor.facts[id].*values;
        names.push_back(cursor.table.names[id]);
      }
    }
    if (count != 0) {
      Problem problem{ProblemKind::remark, file, {}, text::counted(count, "value", "is", "are")};
      problem.text += fmt::format(" {}: of {}", what, text::first_names(names));
      problem.tensor = names.size() == 1 ? names.front() : std::string_view();
      notes.add(std::move(problem));
    }
  };
  remark(&WandbFacts::nulls, "null, which is NaN here");
  remark(&WandbFacts::texts, "not numeric and left out");
  // Notes about no file: a sound run has them, too.
  for (const OtherValue& other : cursor.extras.others) {
    const Problem alert{ProblemKind::note, other.file, other.offset, "alert " + printable(other.name)};
    notes.add(make_problem(ProblemKind::note, to_string(alert)));
  }
  if (cursor.media != 0) {
    notes.add(make_problem(ProblemKind::note, text::counted(cursor.media, "value", "is", "are") +
                                                  " left out: media, or a type of W&B's own"));
  }
}

std::shared_ptr<WandbListing> listing_of(const std::shared_ptr<WandbCursor>& cursor, const WandbListing* before,
                                         bool step_is_given, ProblemList notes) {
  cursor->extras.exit_code = cursor->files.empty() ? std::nullopt : cursor->files.back().exit_code;
  auto listing = next_listing(cursor, before, std::move(notes));
  for (const WandbFile& file : cursor->files) {
    listing->add_notes(file.path, file.problems, file.rest);
  }
  add_notes(*cursor, step_is_given, listing->notes);
  listing->ended = cursor->extras.exit_code.has_value();
  listing->keeps_back = cursor->keeps_back();
  return listing;
}

Outcome<RunFiles> list_run_files(storage::Storage& storage, const Opening& place) {
  RunFiles files;
  if (!place.file.empty()) {
    files.paths.push_back(place.file);
    return files;
  }
  const auto entries = storage.list({});
  if (!entries) {
    return entries.problem();
  }
  return find_run_files(*entries, [&](const std::string& folder) {
    auto below = storage.list(folder);
    return below ? *std::move(below) : Entries();
  });
}

/// Returns why the name that was given is not that of the steps; nullopt if it is.
std::optional<Problem> step_problem(const WandbCursor& cursor) {
  const std::string step_name = cursor.step_name.value_or(std::string());
  if (step_name.empty() || cursor.had_step || cursor.records == 0) {
    return std::nullopt;
  }
  const bool named = cursor.table.names.find(step_name) != no_id;
  const std::string meant = named ? "" : did_you_mean(nearest(step_name, cursor.table.names.texts().by_number));
  return make_problem(
      ProblemKind::not_found,
      fmt::format("no record has {}'{}'{}", named ? "a whole number in " : "", printable(step_name), printable(meant)),
      cursor.files.front().path);
}

/// Returns the files to read, in order; nullopt if all must be read from the start.
std::optional<std::vector<std::uint32_t>> changed_files(storage::Storage& storage, const RunFiles& files,
                                                        WandbCursor& cursor) {
  std::vector<std::uint32_t> changed;
  for (std::uint32_t id = 0; id < std::max(files.paths.size(), cursor.files.size()); ++id) {
    if (id >= files.paths.size() || (id < cursor.files.size() && cursor.files[id].path != files.paths[id])) {
      return std::nullopt;
    }
    if (id == cursor.files.size()) {
      cursor.files.emplace_back().path = files.paths[id];
      changed.push_back(id);
      continue;
    }
    WandbFile& file = cursor.files[id];
    const auto stamp = storage.file_stamp(file.path);
    if (stamp && stamp == file.stamp) {
      continue;
    }
    storage.forget(file.path);
    const bool is_last = id + 1 == cursor.files.size();
    // The place to go on may be behind the end, in a block that is skipped.
    if (!is_last ||
        (stamp && file.stamp && !file.goes_on(storage, *stamp, std::min(file.offset, storage::size_of(*file.stamp))))) {
      return std::nullopt;
    }
    file.stamp = stamp;
    changed.push_back(id);
  }
  return changed;
}

}  // namespace

Outcome<Found> look_at_wandb(storage::Storage& storage, const LookRequest& request, const Opening& place,
                             const WandbListing* before, std::shared_ptr<const CollectionsInfo> collections) {
  auto files = list_run_files(storage, place);
  if (!files) {
    return files.problem();
  }
  ProblemList notes(limits::problems_per_trial);
  const WandbCursor* const known = before == nullptr ? nullptr : before->cursor.get();
  if (!files->one_run && known != nullptr && !known->files.empty()) {
    const std::string_view run = text::leaf_of(known->files.front().path);
    std::erase_if(files->paths, [&](const std::string& path) { return text::leaf_of(path) != run; });
    notes.add(make_problem(ProblemKind::remark, "other runs began beside this one: each is a trial of its own"));
  }
  for (const std::string& file : files->left_out) {
    notes.add(make_problem(ProblemKind::remark,
                           in_quotes(file) + " is left out: " + in_quotes(files->paths.front()) + " is read"));
  }
  Found found;
  auto cursor = known == nullptr || request.everything ? emptied(known) : std::make_shared<WandbCursor>(*known);
  auto changed = changed_files(storage, *files, *cursor);
  if (cursor->waits && changed && !changed->empty()) {
    changed.reset();
  }
  found.afresh = before != nullptr && (request.everything || !changed);
  if (!changed) {
    cursor = emptied(known);
    changed = changed_files(storage, *files, *cursor);
  }
  const bool step_is_given = !place.step_name.empty();
  if (changed->empty() && before != nullptr && !found.afresh && !(before->keeps_back && request.provisional)) {
    found.collections = std::move(collections);
    found.listing = listing_of(cursor, before, step_is_given, std::move(notes));
    return found;
  }
  const bool from_start = before == nullptr || found.afresh;
  if (step_is_given) {
    cursor->step_name = place.step_name == own_step ? std::string() : place.step_name;
  }
  for (bool may_choose_again = from_start && request.as_it_stands;; may_choose_again = false) {
    found.loaded = LoadedSteps();
    WandbTaker taker(*cursor, request, found.loaded);
    for (const std::uint32_t file : *changed) {
      if (auto refused = taker.read(storage, file)) {
        return *std::move(refused);
      }
    }
    auto next = emptied(known);
    next->step_name = cursor->step_name;
    // A follower, too, reads again what was left out: the step was not decided before, and no row was returned.
    if (may_choose_again ? choose_again(*cursor, step_is_given, *next)
                         : cursor->step_name && left_out_tensors(*cursor, *cursor->step_name)) {
      cursor = std::move(next);
      changed = changed_files(storage, *files, *cursor);
      continue;
    }
    if (auto why = step_is_given ? step_problem(*cursor) : std::nullopt) {
      if (request.as_it_stands || cursor->files.back().exit_code) {
        return *std::move(why);
      }
      // The name may still come, and then all is read as if it had always been there.
      found.loaded = LoadedSteps();
      auto waiting = emptied(known);
      waiting->files = std::move(cursor->files);
      waiting->waits = true;
      cursor = std::move(waiting);
      notes.add(make_problem(ProblemKind::warning, why->text + " yet: no value is read before one has"));
      WandbTaker(*cursor, request, found.loaded).finish(found, std::move(collections));
      break;
    }
    taker.finish(found, std::move(collections));
    break;
  }
  found.listing = listing_of(cursor, before, step_is_given, std::move(notes));
  return found;
}

}  // namespace smd::detail::layout
