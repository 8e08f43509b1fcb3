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
#include "unavailable.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <complex>
#include <map>
#include <set>
#include <tuple>

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
    bool after = false;
    bool trial = false;
    for (const auto& [key, value] : row.items()) {
      if (!after) {
        trial = trial || key == "trial";
        layout.by.tensor = layout.by.tensor || key == "tensor";
        layout.by.step = layout.by.step || key == "step";
        layout.by.worker = layout.by.worker || key == "worker";
        after = key == "source";
      } else if (key != "partial") {
        layout.reductions.push_back(key);
      }
    }
    invalid_if(!after || !trial || layout.reductions.empty() || !row.contains("partial") || !row.contains("count"),
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
    file->for_each(messages_, [&](const std::string& line) {
      const auto wrong = [&](std::string_view why) {
        return UsageError(fmt::format("{}: line {}: {}", path, file->number(), why));
      };
      try {
        add(line);
      } catch (const InvalidValue& error) {
        throw wrong(error.what());
      } catch (const Json::exception&) {
        throw wrong("not a JSON object of a shard");
      }
    });
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
      const bool damaged = note_damage(rows, tensor);
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
    tell(damaged_, ": when its shard was made, not all of it could be read");
    if (rows_.empty() && messages_.status() == ExitStatus::yes) {
      messages_.nothing("TensorUnavailableForStep", "nothing to pool: the shards have no row");
    }
    return any;
  }

 private:
  using Key = std::tuple<std::size_t, std::int64_t, std::string, std::string>;

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

  void add(const std::string& line) {
    text::JsonDocument<Json> document;
    invalid_if(text::parse_json(line, document).has_value(), "not a JSON object of a shard");
    const Json& object = *document;
    const bool says_no_rows = object.size() == 2 && object.contains("trial") && object.contains("partial");
    const ShardLayout layout = says_no_rows ? ShardLayout() : ShardLayout::of(object);
    const std::optional<Partial> partial = parse_partial(object.at("partial").get<std::string>());
    invalid_if(!partial, "`partial` is not what --shard writes");
    const std::size_t at = note_part(object.at("trial").get<std::string>(), *partial);
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
      const Json& number = object.at(wanted_[i].name);
      const bool beyond = number.is_number_float() && beyond_64_bits(*partial, i);
      row.statistics.push_back(beyond ? exact(*partial, *wanted_[i].reduction) : statistic_of(number));
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

  /// Returns the place of a trial, of which a line of this part was read.
  std::size_t note_part(const std::string& trial, const Partial& part) {
    const auto known = std::ranges::find_if(trials_, [&](const TrialParts& one) { return one.name == trial; });
    const auto at = static_cast<std::size_t>(known - trials_.begin());
    if (known == trials_.end()) {
      trials_.push_back({trial});
    }
    trials_[at].add(part);
    return at;
  }

  /// Takes note of what shards could not read. Returns whether there is anything.
  bool note_damage(const std::vector<ShardRow>& rows, const std::string& tensor) {
    bool any = false;
    for (const ShardRow& row : rows) {
      for (std::size_t i = 0; i < wanted_.size(); ++i) {
        if (row.partial.how[i] == 'x') {
          damaged_.add(wanted_[i].name, tensor);
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
      messages_.warning(fmt::format("{}: no row of {}: statistics are of the others", single_quoted(trial.name),
                                    parts_text(missing, trial.count)));
      if (options_.strict) {
        messages_.raise(ExitStatus::no);
      }
    }
  }

  // Whether a number written as floating point is an integer that only the partial holds in full.
  [[nodiscard]] bool beyond_64_bits(const Partial& partial, std::size_t statistic) const {
    if (partial.how[statistic] != 'c' || !partial.data || !partial.data->integers) {
      return false;
    }
    const ReductionKind kind = wanted_[statistic].reduction->kind;
    return kind == ReductionKind::sum || kind == ReductionKind::l1;
  }

  static Statistic exact(const Partial& partial, const Reduction& reduction) {
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
  std::map<Key, std::vector<ShardRow>> rows_;
  Lacking lost_;     // though shards have them: even the whole trial would not have had them
  Lacking damaged_;  // because shards could not read something
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
