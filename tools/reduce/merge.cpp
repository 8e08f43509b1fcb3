// SPDX-License-Identifier: Apache-2.0
// --merge
#include "cli/command_line.hpp"
#include "cli/line_file.hpp"
#include "cli/text.hpp"
#include "partial.hpp"
#include "result_view.hpp"
#include "statistic.hpp"
#include "text/json.hpp"
#include "text/number.hpp"
#include "text/words.hpp"
#include "unavailable.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <complex>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace smd::tool::reduce {

namespace {

using Json = nlohmann::ordered_json;

Statistic statistic_of(const Json& value) {
  if (value.is_null()) {
    return {};
  }
  if (value.is_boolean()) {
    return Statistic(value.get<bool>());
  }
  if (value.is_number_unsigned()) {
    return Statistic(value.get<std::uint64_t>());
  }
  if (value.is_number_integer()) {  // `-0`, which other programs may write for `-0.0`: a floating-point zero
    return value.get<std::int64_t>() == 0 ? Statistic(-0.0) : Statistic(value.get<std::int64_t>());
  }
  if (value.is_number_float()) {
    return Statistic(value.get<double>());
  }
  if (const auto number = value.is_string() ? text::non_finite_of(value.get<std::string>()) : std::nullopt) {
    return Statistic(*number);
  }
  if (value.is_array() && value.size() == 2 && !value[0].is_array() && !value[1].is_array()) {
    return Statistic(std::complex<double>(statistic_of(value[0]).number(), statistic_of(value[1]).number()));
  }
  throw InvalidValue("a statistic is no number");
}

std::string to_text(const ShardedSteps& steps) {
  return fmt::format("{} steps, {} to {}", steps.count, steps.first, steps.last);
}

/// Which parts of one trial were given: they must be of the same whole, and none should be missing.
struct TrialParts {
  std::string name;
  std::uint64_t count = 0;  ///< Of the whole.
  ShardedSteps steps = {};
  std::set<std::uint64_t> parts = {};

  /// Takes note of a row. @throws InvalidValue if it does not belong with the rows before it.
  void add(const Partial& row) {
    if (parts.empty()) {
      count = row.shard.count;
      steps = row.steps;
    } else if (row.shard.count != count) {
      throw InvalidValue(fmt::format("a part of {}, the first is one of {}", row.shard.count, count));
    } else if (row.steps != steps) {
      throw InvalidValue("a part of " + to_text(row.steps) + "; the first is of " + to_text(steps) +
                         ": while a job runs, choose steps with -s that are there");
    }
    parts.insert(row.shard.index);
  }

  /// The parts that have steps, but no row and no line that says so.
  [[nodiscard]] std::vector<std::uint64_t> missing() const {
    std::vector<std::uint64_t> result;
    for (std::uint64_t part = 1; part <= std::min(count, steps.count); ++part) {
      if (!parts.contains(part)) {
        result.push_back(part);
      }
    }
    return result;
  }
};

/// What all rows of shards that belong together have in common.
struct ShardLayout {
  By by{false, false, false};
  std::vector<std::string> reductions;

  /// @throws InvalidValue if it is no row of a shard.
  static ShardLayout of(const Json& row) {
    ShardLayout layout;
    layout.by = {.tensor = row.contains("tensor"), .step = row.contains("step"), .worker = row.contains("worker")};
    bool after = false;
    for (const auto& [key, value] : row.items()) {
      if (after && key != "partial") {
        layout.reductions.push_back(key);
      }
      after = after || key == "source";
    }
    invalid_if(!after || !row.contains("trial") || layout.reductions.empty() || !row.contains("partial") ||
                   !row.contains("count"),
               "not a row of a shard: make shards with --shard and --jsonl, without --columns");
    return layout;
  }

  bool operator==(const ShardLayout&) const = default;
};

struct ShardRow {
  std::string source;
  std::string mode;
  std::int64_t mode_step = 0;
  std::vector<Statistic> statistics;
  Partial partial;
};

class Merger {
 public:
  Merger(const ReduceCommandOptions& options, Diagnostics& messages) : options_(options), messages_(messages) {}

  void read(const std::string& path) {
    std::optional<LineFile> file = LineFile::open(path, "the JSON lines that --shard --jsonl wrote", messages_);
    if (!file) {
      return;
    }
    open_ = {};
    file->for_each(messages_, [&](const std::string& line) {
      const auto at_line = [&](std::string_view why) {
        return fmt::format("{}: line {}: {}", path, file->number(), why);
      };
      text::JsonDocument<Json> document;
      if (text::parse_json(line, document)) {
        damaged_file(at_line("no whole row of a shard: --merge takes what --shard --jsonl wrote"));
        return;
      }
      try {
        add(*document, path);
      } catch (const InvalidValue& error) {
        throw UsageError(at_line(error.what()));
      } catch (const Json::exception&) {
        throw UsageError(at_line("not a JSON object of a shard"));
      }
    });
    if (open_.lines > 0) {
      damaged_file(path +
                   ": the line that closes a shard is missing: the command that wrote it was ended, or lines are lost");
    }
  }

  bool show(OutputFile& out) {
    if (!layout_) {
      wanted_ = wanted_reductions(options_.reductions, options_.abs, {});
    }
    tell_missing();
    bool any = false;
    const ResultContext context{
        out, options_, messages_, wanted_, layout_ ? layout_->by : options_.by, trials_.size() > 1};
    const std::unique_ptr<ResultView> view = make_result_view(context);
    std::size_t trial = 0;
    for (auto& [key, rows] : rows_) {
      const auto& [of_trial, step, tensor, worker] = key;
      if (trial != of_trial + 1) {
        trial = of_trial + 1;
        view->set_trial(trials_[of_trial].name);
      }
      ResultRow row;
      row.tensor = tensor;
      row.worker = worker;
      row.step = GlobalStep(step);
      row.mode = parse_mode(rows.front().mode).value_or(Mode::global);
      row.mode_step = ModeStep(rows.front().mode_step);
      const bool damaged = note_damage(key, rows);
      const ShardRow whole = rows.size() == 1 ? std::move(rows.front()) : pooled(rows, tensor);
      if (damaged && layout_->by == By() && whole.source.empty()) {
        continue;  // of one value: the whole would not have this row either
      }
      row.source = whole.source;
      row.statistics = whole.statistics;
      view->row(row);
      any = true;
    }
    view->finish();
    tell(lost_, ", though shards have it: to pool a statistic, all that is pooled must have it, or its values");
    const auto place_text = [this](const DamagedPlace& place) {
      const auto& [trial, step, part] = place;
      return fmt::format("{}{} (part {} of {})", single_quoted(trials_[trial].name),
                         layout_->by.step ? fmt::format(" step {}", step) : "", part, trials_[trial].count);
    };
    tell(damaged_, ": when its shard was made, not all of it could be read: " +
                       text::listed(damaged_places_, most_places, place_text));
    if (!unread_.empty()) {
      say_unavailable(counted(unread_.size(), "shard", "was", "were") +
                          " made without data that could not be read: " + text::listed(unread_, most_places),
                      options_.strict, messages_);
    }
    if (rows_.empty() && messages_.status() == ExitStatus::yes) {
      messages_.nothing("TensorUnavailableForStep", "nothing to pool: the shards have no row");
    }
    return any;
  }

 private:
  using Key = std::tuple<std::size_t, std::int64_t, std::string, std::string>;
  using DamagedPlace = std::tuple<std::size_t, std::int64_t, std::uint64_t>;  // trial, step, part
  static constexpr std::size_t most_places = 3;

  /// The lines of a file since the last one that closed a shard.
  struct OpenShard {
    std::size_t lines = 0;
    bool damaged = false;  ///< Damage was reported.
  };

  /// Statistics that results have not, and their tensors, if rows are of tensors.
  struct Lacking {
    std::set<std::string> statistics;
    std::set<std::string> tensors;

    void add(const std::string& statistic, const std::string& tensor) {
      statistics.insert(statistic);
      if (!tensor.empty()) {
        tensors.insert(tensor);
      }
    }
  };

  void add(const Json& object, const std::string& path) {
    if (object.contains("record") && !object.contains("trial")) {
      close(object, path);
      return;
    }
    const bool says_no_rows = object.size() == 2 && object.contains("trial") && object.contains("partial");
    const ShardLayout layout = says_no_rows ? ShardLayout() : ShardLayout::of(object);
    const std::optional<Partial> partial = parse_partial(object.at("partial").get<std::string>());
    invalid_if(!partial, "`partial` is not what --shard writes");
    const std::size_t at = note_part(object.at("trial").get<std::string>(), *partial);
    ++open_.lines;
    if (says_no_rows) {
      return;
    }
    if (!layout_) {
      begin(layout, partial->how.size());
    } else if (layout != *layout_) {
      throw InvalidValue("made with another -r or --by than the first");
    }
    invalid_if(partial->how.size() != wanted_.size(), "`partial` has other statistics than there are");
    ShardRow row;
    Key key{at, 0, {}, {}};
    if (layout.by.step) {
      std::get<1>(key) = object.at("step").get<std::int64_t>();
      row.mode = object.at("mode").get<std::string>();
      row.mode_step = object.at("mode_step").get<std::int64_t>();
    }
    if (layout.by.tensor) {
      std::get<2>(key) = object.at("tensor").get<std::string>();
    }
    if (layout.by.worker) {
      std::get<3>(key) = object.at("worker").get<std::string>();
    }
    if (const Json& source = object.at("source"); !source.is_null()) {
      row.source = source.get<std::string>();
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      row.statistics.push_back(statistic_at(i, object.at(wanted_[i].name), *partial));
    }
    invalid_if(first_options_ && (first_options_->ddof != partial->options.ddof ||
                                  first_options_->omit_nan != partial->options.omit_nan),
               "made with another --ddof or --nan than the first");
    first_options_ = partial->options;
    row.partial = *partial;
    // Ordered by part, so that the result does not depend on the order of the files.
    std::vector<ShardRow>& rows = rows_[std::move(key)];
    const std::uint64_t part = partial->shard.index;
    const auto place =
        std::ranges::lower_bound(rows, part, {}, [](const ShardRow& other) { return other.partial.shard.index; });
    if (place != rows.end() && (place->partial.shard.index == part || layout.by.step)) {
      throw InvalidValue(
          fmt::format("part {} of {} has this row already: is a shard given twice?", part, partial->shard.count));
    }
    rows.insert(place, std::move(row));
  }

  /// Checks that all lines ahead of the last one of a shard are there, and notes if not everything could be read for
  /// it.
  void close(const Json& last, const std::string& path) {
    const std::string part =
        fmt::format("part {} of {}", last.at("part").get<std::uint64_t>(), last.at("parts").get<std::uint64_t>());
    const auto lines = last.at("records").get<std::uint64_t>();
    if (lines != open_.lines) {
      damaged_file(
          fmt::format("{}: {} must have {}, but {} are there", path, part, counted(lines, "line"), open_.lines));
    }
    const auto status = last.at("status").get<int>();
    if (status > static_cast<int>(ExitStatus::no)) {
      unread_.push_back(fmt::format("{} ({}, status {})", path, part, status));
    }
    open_ = {};
  }

  /// Reports that the open shard is damaged: once, however often it is.
  void damaged_file(const std::string& text) {
    if (!std::exchange(open_.damaged, true)) {
      messages_.fail("Damaged", text, ExitStatus::damaged);
    }
  }

  /// Returns the place of a trial, of which a line of this part was read.
  std::size_t note_part(const std::string& trial, const Partial& part) {
    const auto [known, fresh] = places_.try_emplace(trial, trials_.size());
    if (fresh) {
      trials_.push_back({trial});
    }
    trials_[known->second].add(part);
    return known->second;
  }

  /// Takes note of what shards could not read. Returns whether there is anything.
  bool note_damage(const Key& key, const std::vector<ShardRow>& rows) {
    const auto& [trial, step, tensor, worker] = key;
    bool any = false;
    for (const ShardRow& row : rows) {
      for (std::size_t i = 0; i < wanted_.size(); ++i) {
        if (row.partial.how[i] == 'x') {
          damaged_.add(wanted_[i].name, tensor);
          damaged_places_.emplace(trial, step, row.partial.shard.index);
          any = true;
        }
      }
    }
    return any;
  }

  void tell(const Lacking& lacking, std::string_view why) {
    if (!lacking.statistics.empty()) {
      say_unavailable(fmt::format("no {} of {}{}", fmt::join(lacking.statistics, ", "),
                                  lacking.tensors.empty() ? "what is pooled" : quoted_list(lacking.tensors, 3), why),
                      options_.strict, messages_);
    }
  }

  // Elements of missing parts are in no statistic.
  void tell_missing() {
    for (const TrialParts& trial : trials_) {
      const std::vector<std::uint64_t> missing = trial.missing();
      if (missing.empty()) {
        continue;
      }
      messages_.warning(fmt::format("{}: there is no row from {}; statistics cover only the other parts",
                                    single_quoted(trial.name), parts_text(missing, trial.count)));
      if (options_.strict) {
        messages_.raise(ExitStatus::no);
      }
    }
  }

  // A number that is written as floating point may be an integer that only the partial holds in full.
  [[nodiscard]] Statistic statistic_at(std::size_t i, const Json& number, const Partial& partial) const {
    const bool integers = partial.how[i] == 'c' && partial.data && partial.data->integers;
    const Reduction reduction = wanted_[i].reduction.value_or(Reduction());
    if (!number.is_number_float() || !integers ||
        (reduction.kind != ReductionKind::sum && reduction.kind != ReductionKind::l1)) {
      return statistic_of(number);
    }
    Reducer reducer(std::span(&reduction, 1), partial.options);
    reducer.merge(*partial.data);
    return Statistic::of(reducer.result(reduction));
  }

  void begin(const ShardLayout& layout, std::size_t statistics) {
    layout_ = layout;
    std::vector<std::string> names = layout.reductions;
    if (names.size() == statistics + 1 && names.back() == "count") {
      names.pop_back();  // written whether asked for or not
    }
    if (options_.reductions_given && !options_.asks_for_saved()) {
      const auto given = mapped(wanted_reductions(options_.reductions, options_.abs, {}), &Wanted::name);
      invalid_if(given != names, "made with another -r than the one given");
    }
    invalid_if(options_.by_given && options_.by != layout.by, "made with another --by than the one given");
    for (const std::string& name : names) {
      wanted_.push_back({name, parse_reduction(name)});
      invalid_if(wanted_.back().reduction && needs_values(*wanted_.back().reduction),
                 name + " cannot be pooled without the values: reduce the whole");
    }
  }

  // Pools rows as reducing the whole would: saved statistics if all have them and they can be pooled, else computed
  // ones.
  [[nodiscard]] ShardRow pooled(const std::vector<ShardRow>& rows, const std::string& tensor) {
    ShardRow whole;
    whole.statistics.resize(wanted_.size());
    std::vector<Reduction> computed;
    std::vector<std::size_t> positions;
    const auto came = [&whole](std::string_view source) {
      whole.source = whole.source.empty() || whole.source == source ? source : "mixed";
    };
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const auto all = [&](std::string_view hows) {
        return std::ranges::all_of(
            rows, [&](const ShardRow& row) { return hows.find(row.partial.how[i]) != std::string_view::npos; });
      };
      const std::optional<Reduction> pooling = pooling_of(wanted_[i]);
      if (pooling && all("sb")) {
        Reducer reducer(std::span(&*pooling, 1));
        for (const ShardRow& row : rows) {
          row.statistics[i].add_to(reducer);
        }
        whole.statistics[i] = Statistic::of(reducer.result(*pooling));
        came("saved");
      } else if (wanted_[i].reduction && all("cb")) {
        computed.push_back(*wanted_[i].reduction);
        positions.push_back(i);
      } else if (all("csb-") &&
                 std::ranges::any_of(rows, [i](const ShardRow& row) { return !row.statistics[i].missing(); })) {
        lost_.add(wanted_[i].name, tensor);
      }
    }
    if (computed.empty()) {
      return whole;
    }
    Reducer reducer(computed, rows.front().partial.options);
    for (const ShardRow& row : rows) {
      refuse_if(!row.partial.data, "--merge: complex numbers cannot be pooled without the values: reduce the whole");
      reducer.merge(*row.partial.data);
    }
    for (std::size_t i = 0; i < computed.size(); ++i) {
      Statistic& statistic = whole.statistics[positions[i]] = Statistic::of(reducer.result(computed[i]));
      if (!statistic.missing()) {
        came("computed");
      }
    }
    return whole;
  }

  const ReduceCommandOptions& options_;
  Diagnostics& messages_;
  std::optional<ShardLayout> layout_;
  std::optional<ReduceOptions> first_options_;
  std::vector<Wanted> wanted_;
  std::vector<TrialParts> trials_;
  std::map<std::string, std::size_t> places_;  // of trials, by name
  std::map<Key, std::vector<ShardRow>> rows_;
  Lacking lost_;     // though shards have them: even the whole trial would not have had them
  Lacking damaged_;  // because shards could not read something
  std::set<DamagedPlace> damaged_places_;
  std::vector<std::string> unread_;  // shards that could not read everything
  OpenShard open_;
};

}  // namespace

bool merge_shards(const std::vector<std::string>& files, OutputFile& out, const ReduceCommandOptions& options,
                  Diagnostics& messages) {
  Merger merger(options, messages);
  for (const std::string& file : files) {
    merger.read(file);
  }
  return merger.show(out);
}

}  // namespace smd::tool::reduce
