// SPDX-License-Identifier: Apache-2.0
#include "merge.hpp"

#include "common/errors.hpp"
#include "common/text.hpp"
#include "partial_text.hpp"
#include "reduction_list.hpp"
#include "result_view.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

namespace smd::tool::reduce {

namespace {

using Json = nlohmann::ordered_json;

struct ShardRow {
  std::string source;
  std::string mode;
  std::int64_t mode_step = 0;
  std::vector<Figure> figures;
  Partial partial;
};

/// What all rows have: read from the first.
struct Layout {
  By by{false, false, false};
  std::vector<std::string> reductions;

  bool operator==(const Layout&) const = default;
};

Layout layout_of(const Json& object) {
  Layout layout;
  bool after = false;
  bool trial = false;
  for (const auto& [key, value] : object.items()) {
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
  if (!after || !trial || layout.reductions.empty() || !object.contains("partial") || !object.contains("count")) {
    throw InvalidValue("not a row of a shard: make shards with --shard and --jsonl, without --columns");
  }
  return layout;
}

Figure figure_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return {};
    case Json::value_t::boolean:
      return Figure(value.get<bool>());
    case Json::value_t::number_integer:
      // Zero with a sign is one of floating point.
      return value.get<std::int64_t>() == 0 ? Figure(-0.0) : Figure(value.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return Figure(value.get<std::uint64_t>());
    case Json::value_t::number_float:
      return Figure(value.get<double>());
    case Json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      constexpr double infinity = std::numeric_limits<double>::infinity();
      if (text == "NaN") {
        return Figure(std::numeric_limits<double>::quiet_NaN());
      }
      if (text == "Infinity" || text == "-Infinity") {
        return Figure(text.front() == '-' ? -infinity : infinity);
      }
      break;
    }
    case Json::value_t::array:
      if (value.size() == 2 && !value[0].is_array() && !value[1].is_array()) {
        return Figure(std::complex<double>(figure_of(value[0]).number(), figure_of(value[1]).number()));
      }
      break;
    default:
      break;
  }
  throw InvalidValue("a figure is no number");
}

class Merger {
 public:
  Merger(const ReduceCommandOptions& options, Diagnostics& messages) : options_(options), messages_(messages) {}

  void read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      messages_.fail(errno == ENOENT ? "NotFound" : "ReadError", tool::quoted(path) + ": " + std::strerror(errno),
                     ExitStatus::unreadable);
      return;
    }
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
      if (line.empty()) {
        continue;
      }
      try {
        add(line);
      } catch (const InvalidValue& error) {
        throw UsageError(path + ": line " + std::to_string(number) + ": " + error.what());
      } catch (const Json::exception&) {
        throw UsageError(path + ": line " + std::to_string(number) + ": not a JSON object of a shard");
      }
    }
    if (file.bad()) {
      messages_.fail("ReadError", tool::quoted(path) + ": reading failed", ExitStatus::unreadable);
    }
  }

  bool show(OutputFile& out) {
    check_wanted();
    const ResultContext context{
        out, options_, messages_, wanted_, layout_ ? layout_->by : options_.by, trials_.size() > 1};
    const std::unique_ptr<ResultView> view = make_result_view(context);
    std::size_t trial = 0;
    for (auto& [key, rows] : rows_) {
      const auto& [of_trial, step, tensor, worker] = key;
      if (trial != of_trial + 1) {
        trial = of_trial + 1;
        view->set_trial(trials_[of_trial]);
      }
      ResultRow row;
      row.tensor = tensor;
      row.worker = worker;
      row.step = GlobalStep(step);
      row.mode = parse_mode(rows.front().mode);
      row.mode_step = ModeStep(rows.front().mode_step);
      std::string source = rows.front().source;
      for (const ShardRow& other : rows) {
        source = source.empty() || source == other.source ? other.source : other.source.empty() ? source : "mixed";
      }
      row.source = source;
      const std::vector<Figure> figures = rows.size() == 1 ? std::move(rows.front().figures) : pooled(rows);
      row.figures = figures;
      view->row(row);
    }
    view->finish();
    return !rows_.empty();
  }

 private:
  using Key = std::tuple<std::size_t, std::int64_t, std::string, std::string>;

  static Mode parse_mode(const std::string& text) {
    for (const Mode mode : {Mode::train, Mode::eval, Mode::predict}) {
      if (to_string(mode) == text) {
        return mode;
      }
    }
    return Mode::global;
  }

  void add(const std::string& line) {
    const Json object = Json::parse(line);
    const Layout layout = layout_of(object);
    const std::optional<Partial> partial = parse_partial(object.at("partial").get<std::string>());
    if (!partial) {
      throw InvalidValue("`partial` is not what --shard writes");
    }
    if (!layout_) {
      begin(layout, partial->how.size());
    } else if (layout != *layout_) {
      throw InvalidValue("made with another -r or --by than the first");
    }
    if (partial->how.size() != wanted_.size()) {
      throw InvalidValue("`partial` tells of other figures than there are");
    }
    const auto trial = object.at("trial").get<std::string>();
    std::size_t at = 0;
    while (at < trials_.size() && trials_[at] != trial) {
      ++at;
    }
    if (at == trials_.size()) {
      trials_.push_back(trial);
    }
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
    row.source = object.at("source").is_null() ? std::string() : object.at("source").get<std::string>();
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const Json& value = object.at(wanted_[i].name);
      row.figures.push_back(beyond_64_bits(value, *partial, i) ? exact(*partial, *wanted_[i].reduction)
                                                               : figure_of(value));
    }
    if (first_options_ &&
        (first_options_->ddof != partial->options.ddof || first_options_->nan != partial->options.nan)) {
      throw InvalidValue("made with another --ddof or --nan than the first");
    }
    first_options_ = partial->options;
    row.partial = *partial;
    std::vector<ShardRow>& rows = rows_[std::move(key)];
    if (!rows.empty() && layout.by.step) {
      throw InvalidValue("a second row of the same step, tensor and worker: is a shard given twice?");
    }
    rows.push_back(std::move(row));
  }

  // Integers that only the partial has in full.
  [[nodiscard]] bool beyond_64_bits(const Json& value, const Partial& partial, std::size_t figure) const {
    if (!value.is_number_float() || partial.how[figure] != 'c' || !partial.data || !partial.data->integers) {
      return false;
    }
    const ReductionKind kind = wanted_[figure].reduction->kind;
    return kind == ReductionKind::sum || kind == ReductionKind::l1;
  }

  static Figure exact(const Partial& partial, const Reduction& reduction) {
    Reducer reducer(std::span(&reduction, 1), partial.options);
    reducer.merge(*partial.data);
    return Figure::of(reducer.result(reduction));
  }

  void begin(const Layout& layout, std::size_t figures) {
    layout_ = layout;
    std::vector<std::string> names = layout.reductions;
    if (names.size() == figures + 1 && names.back() == "count") {
      names.pop_back();  // written whether asked for or not
    }
    if (options_.reductions_given && !options_.asks_for_saved()) {
      std::vector<std::string> given;
      for (const Wanted& wanted : wanted_reductions(options_.reductions, options_.abs, {})) {
        given.push_back(wanted.name);
      }
      if (given != names) {
        throw InvalidValue("made with another -r than the one given");
      }
    }
    if (options_.by_given && options_.by != layout.by) {
      throw InvalidValue("made with another --by than the one given");
    }
    for (const std::string& name : names) {
      wanted_.push_back({name, parse_reduction(name)});
      if (wanted_.back().reduction && needs_values(*wanted_.back().reduction)) {
        throw InvalidValue(name + " cannot be pooled without the values: reduce the whole");
      }
    }
  }

  void check_wanted() {
    if (layout_) {
      return;
    }
    wanted_ = wanted_reductions(options_.reductions, options_.abs, {});
  }

  [[nodiscard]] std::vector<Figure> pooled(const std::vector<ShardRow>& rows) const {
    std::vector<Reduction> computed;
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      bool all = wanted_[i].reduction.has_value();
      for (const ShardRow& row : rows) {
        all = all && row.partial.how[i] == 'c';
      }
      if (all) {
        computed.push_back(*wanted_[i].reduction);
        positions.push_back(i);
      }
    }
    std::vector<Figure> figures(wanted_.size());
    if (!computed.empty()) {
      Reducer reducer(computed, rows.front().partial.options);
      for (const ShardRow& row : rows) {
        if (!row.partial.data) {
          throw UsageError("--merge: complex numbers cannot be pooled without the values: reduce the whole");
        }
        reducer.merge(*row.partial.data);
      }
      for (std::size_t i = 0; i < computed.size(); ++i) {
        figures[positions[i]] = Figure::of(reducer.result(computed[i]));
      }
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const std::optional<Reduction> pooling = pooling_of(wanted_[i]);
      if (!figures[i].missing() || !pooling) {
        continue;
      }
      Reducer reducer(std::span(&*pooling, 1));
      bool all = true;
      for (const ShardRow& row : rows) {
        const double number = row.figures[i].number();
        all = all && !row.figures[i].missing();
        reducer.add(Dtype::float64, std::as_bytes(std::span(&number, 1)));
      }
      if (all) {
        figures[i] = Figure::of(reducer.result(*pooling));
      }
    }
    return figures;
  }

  const ReduceCommandOptions& options_;
  Diagnostics& messages_;
  std::optional<Layout> layout_;
  std::optional<ReduceOptions> first_options_;
  std::vector<Wanted> wanted_;
  std::vector<std::string> trials_;
  std::map<Key, std::vector<ShardRow>> rows_;
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
