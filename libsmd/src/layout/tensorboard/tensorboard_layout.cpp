// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/tensorboard_layout.hpp"

#include "layout/name_collections.hpp"
#include "layout/tensorboard/record_scanner.hpp"
#include "storage/inflated_file.hpp"
#include "text/escape.hpp"
#include "wire/event_outline.hpp"
#include "wire/first_bytes.hpp"
#include "wire/framing.hpp"
#include "wire/little_endian.hpp"
#include "wire/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace smd::detail::layout {

namespace {

// clang-format off
constexpr std::array<std::pair<std::string_view, SeriesPlugin>, 8> plugins = {{
    {"scalars", SeriesPlugin::scalars}, {"histograms", SeriesPlugin::histograms},
    {"images", SeriesPlugin::images}, {"audio", SeriesPlugin::audio}, {"text", SeriesPlugin::text},
    // What these three hold are no values:
    {"hparams", SeriesPlugin::hparams}, {"custom_scalars", SeriesPlugin::custom_scalars},
    {"graph", SeriesPlugin::graph},
}};
// clang-format on

SeriesPlugin plugin_of(const wire::SummaryMetadata& metadata) noexcept {
  if (metadata.plugin.starts_with("graph")) {  // graph_keras_model, graph_run_metadata, …
    return SeriesPlugin::graph;
  }
  const auto* const known = std::ranges::find(plugins, metadata.plugin, &decltype(plugins)::value_type::first);
  constexpr std::uint64_t scalar_class = 1;
  return known != plugins.end()                ? known->second
         : metadata.data_class == scalar_class ? SeriesPlugin::scalars
                                               : SeriesPlugin::none;
}

/// Returns the name of a plugin of which no values are read; else an empty one.
std::string_view name_of_plugin(SeriesPlugin plugin) noexcept {
  const auto others = std::span(plugins).last<3>();
  const auto named = std::ranges::find(others, plugin, &decltype(plugins)::value_type::second);
  return named == others.end() ? std::string_view() : named->first;
}

/// Returns the users' name of an event that holds no values; empty if it is not reported.
std::string_view name_of_event(const wire::EventOutline& event) noexcept {
  constexpr std::array<std::string_view, 8> kinds = {"",          "", "graph", "", "log_message", "", "run_metadata",
                                                     "meta_graph"};
  constexpr std::array<std::string_view, 4> sessions = {"session", "session_start", "session_stop",
                                                        "session_checkpoint"};
  static_assert(static_cast<std::size_t>(wire::EventKind::meta_graph) + 1 == kinds.size());
  return event.kind == wire::EventKind::session_log ? sessions[static_cast<std::size_t>(event.session)]
                                                    : kinds[static_cast<std::size_t>(event.kind)];
}

/// Turns the events of files into rows, and records which values later ones supersede. Events must come in order of
/// time: file by file, the files of a run in its order.
class EventTaker {
 public:
  /// Continues the series of `cursor`. Both must outlive this.
  EventTaker(LogCursor& cursor, LoadedSteps& loaded)
      : cursor_(cursor), rows_(cursor, loaded), writer_(rows_.writer()) {}

  /// `seen`: an earlier look took the events that follow, until `end_seen`.
  void begin_file(std::uint32_t file, bool seen) {
    stop_repeating();
    rows_.apply_restarts();  // its table may move
    file_ = file;
    LogRun& run = cursor_.runs[this->file().run];
    if (run.lanes.size() <= this->file().worker) {
      run.lanes.resize(this->file().worker + std::size_t{1});
    }
    lane_ = &run.lanes[this->file().worker];
    rows_.begin_file(*lane_, run.name, this->file().path, file, this->file().worker, seen);
  }

  void end_seen() {
    stop_repeating();
    writer_.set_seen(false);
  }

  /// Takes an event if it holds a number of the series that is expected next, at a step after all values of the series.
  /// For any other event returns false and has no effect.
  [[nodiscard]] bool take_expected(std::span<const std::byte> payload, double& wall_time) {
    stop_repeating();
    if (rows_.previous() == no_id || (lane_->started && is_later(*lane_->started))) {
      return false;
    }
    const std::uint32_t id = lane_->series[rows_.previous()].next;
    if (id == no_id) {
      return false;
    }
    Series& series = lane_->series[id];
    const std::string& between = lane_->facts[id].between;
    wire::PlainNumber event;
    if (between.empty() || series.look != cursor_.looks || series.restarts != lane_->restarts || !series.has_value ||
        series.last_file != file_ || !wire::plain_number(payload, std::as_bytes(std::span(between)), event) ||
        event.step <= series.last_step || std::isnan(event.wall_time)) {
      return false;
    }
    file().stopped = false;
    writer_.begin_values(event.step);
    series.last_step = event.step;
    series.last_row = writer_.row();
    writer_.add(series.name, ValueForm::number, Dtype::float32, event.bits,
                std::bit_cast<std::uint64_t>(event.wall_time));
    rows_.set_previous(id);
    wall_time = event.wall_time;
    if (writer_.repeats()) {
      start_repeating();
    }
    return true;
  }

  /// Takes the events of `records`, whole and sound, as long as rows have the same numbers as the row before. Returns
  /// the length of the records that were taken, and sets the wall time of the last one, if any. Not inlined: what
  /// changes with each record would not stay in registers. Benchmark: measurements.py, `smd-ls, 10 tags x 100,000
  /// steps`.
  [[nodiscard, gnu::noinline]] std::size_t take_repeated(std::span<const std::byte> records, double& wall_time) {
    if (!repeating_) {
      return 0;
    }
    StepRowWriter::RepeatedRows rows(writer_);
    const std::span<const Expected> expected(expected_);
    std::size_t taken = 0;
    while (taken < records.size()) {
      const auto payload_bytes = wire::load_little<std::uint64_t>(records.subspan(taken));
      wire::PlainNumber event;
      if (!wire::plain_number(records.subspan(taken + wire::header_bytes, payload_bytes),
                              expected[rows.complete() ? 0 : rows.filled()].between, event) ||
          std::isnan(event.wall_time)) {
        break;
      }
      if (!rows.complete()) {
        if (event.step != rows.step()) {
          break;
        }
      } else {
        const std::int64_t step_before = rows.step();
        if (event.step <= step_before || !rows.begin_row(event.step)) {
          break;
        }
        step_before_ = step_before;
      }
      rows.add(event.bits, event.wall_time);
      wall_time = event.wall_time;
      taken += payload_bytes + wire::frame_bytes;
    }
    rows.end();
    return taken;
  }

  /// Takes any event. `event` is the outline of `payload`; `offset` and `length` are those of its record in the file.
  void take(const wire::EventOutline& event, std::span<const std::byte> payload, std::uint64_t offset,
            std::uint64_t length) {
    stop_repeating();
    const Place place{event, payload, offset, length};
    out_of_order_ = out_of_order_ || (lane_->started && is_later(*lane_->started));
    if (event.kind == wire::EventKind::summary) {
      file().stopped = false;
      for (const wire::SummaryValue& value : event.values) {
        take_value(value, place);
      }
      if (event.values.size() == 1 && event.values.front().kind == wire::SummaryKind::simple_value &&
          rows_.previous() != no_id && lane_->names[rows_.previous()] == event.values.front().tag) {
        expect_more_like(payload);
      }
      return;
    }
    if (const std::string_view kind = name_of_event(event); !kind.empty()) {
      take_other(kind, {}, place);
    }
    if (event.kind == wire::EventKind::session_log) {
      take_session(place);
    }
  }

  /// Ends the last row.
  void finish(Found& found, std::shared_ptr<const CollectionsInfo> collections) {
    stop_repeating();
    rows_.finish(found, std::move(collections));
  }

  /// Returns true if an event came after one that it should precede: the rows are then wrong.
  [[nodiscard]] bool out_of_order() const noexcept { return out_of_order_; }

 private:
  struct Place {
    const wire::EventOutline& event;
    std::span<const std::byte> payload;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };

  /// An expected number: the form of its event, and its series.
  struct Expected {
    std::span<const std::byte> between;  ///< `TagFacts::between`
    std::uint32_t series = 0;
  };

  /// Starts repeating if the row is complete and further rows like it may follow.
  void start_repeating() {
    if (!writer_.can_repeat() || !writer_.repeats_narrow()) {
      return;
    }
    expected_.clear();
    std::uint32_t id = rows_.previous();
    for (const std::uint32_t name : writer_.repeated_names()) {
      id = lane_->series[id].next;
      if (id == no_id) {
        return;
      }
      const Series& series = lane_->series[id];
      const std::string& between = lane_->facts[id].between;
      if (series.name != name || !writer_.repeats_number(expected_.size(), Dtype::float32) || between.empty() ||
          series.look != cursor_.looks || !series.has_value || series.last_file != file_ ||
          series.last_row != writer_.row()) {
        return;
      }
      expected_.push_back({std::as_bytes(std::span(between)), id});
    }
    repeating_ = true;
  }

  void stop_repeating() {
    if (!repeating_) {
      return;
    }
    repeating_ = false;
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      Series& series = lane_->series[expected_[i].series];
      const bool there = i < writer_.repeated();
      series.last_step = there ? writer_.step() : step_before_;
      series.last_row = writer_.row() - (there ? 0 : 1);
    }
    rows_.set_previous(expected_[writer_.repeated() - 1].series);
  }

  void take_value(const wire::SummaryValue& value, const Place& place) {
    if (value.tag.size() > limits::name_bytes) {
      refuse(place, text::beginning(value.tag, text::quoted_bytes),
             "its name is longer than the limit (name_bytes), " + std::to_string(limits::name_bytes) + " bytes");
      return;
    }
    Series& series = rows_.series_of(value.tag);
    lane_->facts.resize(lane_->series.size());
    if (value.metadata && (!value.metadata->plugin.empty() || value.metadata->data_class != 0)) {
      facts().plugin = plugin_of(*value.metadata);
      if (facts().plugin == SeriesPlugin::hparams) {
        take_hyperparameters(*value.metadata);
      }
    }
    switch (value.kind) {
      case wire::SummaryKind::simple_value:
        begin_value(series, ValueKind::number, place);
        rows_.add_number(series.name, Dtype::float32, std::bit_cast<std::uint32_t>(value.number),
                         place.event.wall_time);
        break;
      case wire::SummaryKind::tensor:
        take_tensor(series, value, place);
        break;
      case wire::SummaryKind::histogram:
        take_histogram(series, value, place);
        break;
      case wire::SummaryKind::image:
      case wire::SummaryKind::audio:
        begin_value(series, value.kind == wire::SummaryKind::image ? ValueKind::image : ValueKind::audio, place);
        rows_.add_record(series.name, ValueForm::record, place.offset, place.length);
        break;
      case wire::SummaryKind::none: {
        const std::string_view plugin = name_of_plugin(facts().plugin);
        take_other(plugin.empty() ? "none" : plugin, rows_.full_name(value.tag), place);
        break;
      }
    }
  }

  void take_tensor(Series& series, const wire::SummaryValue& value, const Place& place) {
    const auto record = [&](ValueKind kind, ValueForm form) {
      begin_value(series, kind, place);
      rows_.add_record(series.name, form, place.offset, place.length);
    };
    if (series.kinds == 0 && facts().plugin == SeriesPlugin::none && !value.metadata && file().lost_records) {
      guess_plugin(value, place);
    }
    switch (facts().plugin) {
      case SeriesPlugin::scalars:
        if (const auto scalar = wire::scalar_of_tensor(value.message)) {
          begin_value(series, ValueKind::number, place);
          rows_.add_number(series.name, scalar->dtype, scalar->bits, place.event.wall_time);
          return;
        }
        return record(ValueKind::tensor, ValueForm::record);
      case SeriesPlugin::histograms:
        return take_buckets(series, value, place);
      case SeriesPlugin::images:
        return record(ValueKind::image, ValueForm::images);
      case SeriesPlugin::audio:
        return record(ValueKind::audio, ValueForm::clips);
      case SeriesPlugin::text:
        return record(ValueKind::text, ValueForm::record);
      case SeriesPlugin::none:
        return record(ValueKind::tensor, ValueForm::record);
      case SeriesPlugin::hparams:
      case SeriesPlugin::graph:
      case SeriesPlugin::custom_scalars:
        take_other(name_of_plugin(facts().plugin), rows_.full_name(value.tag), place);
    }
  }

  /// Sets the plugin of a tag whose metadata may be lost, if a value shows it: one number, or buckets as TensorFlow
  /// writes them, with whole counts. Warns unless the values are the same whatever the plugin is.
  void guess_plugin(const wire::SummaryValue& value, const Place& place) {
    const auto tensor = wire::parse_value(place.payload, value.tag, wire::ValueKinds::summaries);
    if (tensor && tensor->shape.empty() && wire::scalar_of_tensor(value.message)) {
      facts().plugin = SeriesPlugin::scalars;
      return;
    }
    const auto edges = wire::bucket_span(value.message);
    bool buckets = tensor && tensor->dtype == Dtype::float64 && edges && *edges;
    for (std::size_t at = 2 * sizeof(double); buckets && at < tensor->bytes.size(); at += 3 * sizeof(double)) {
      const auto count = std::bit_cast<double>(wire::load_little<std::uint64_t>(tensor->bytes.subspan(at)));
      buckets = std::trunc(count) == count;
    }
    facts().plugin = buckets ? SeriesPlugin::histograms : SeriesPlugin::none;
    constexpr std::string_view why = ": the metadata that says what they are may have been in a damaged record";
    const char* const what = buckets ? "buckets of a histogram, which they look like" : "plain tensors";
    std::string text = fmt::format("the values of {} are read as {}{}", in_quotes(value.tag), what, why);
    file().problems.add({ProblemKind::warning, {}, place.offset, std::move(text)});
  }

  void take_histogram(Series& series, const wire::SummaryValue& value, const Place& place) {
    const auto sums = wire::histogram_sums(value.message);
    if (!sums) {
      return refuse(place, value.tag, sums.problem().text);
    }
    begin_value(series, ValueKind::histogram, place);
    const SeriesRows::ReductionNames& names = rows_.reductions_of(series);
    const HistogramReductions reductions = layout::reductions_of(*sums);
    for (std::size_t i = 0; i < reductions.size(); ++i) {
      if (reductions[i]) {
        rows_.add_number(names[i], Dtype::float64, std::bit_cast<std::uint64_t>(*reductions[i]), place.event.wall_time);
      }
    }
    rows_.add_record(names.back(), ValueForm::record, place.offset, place.length);
  }

  void take_buckets(Series& series, const wire::SummaryValue& value, const Place& place) {
    const auto span = wire::bucket_span(value.message);
    if (!span) {
      return refuse(place, value.tag, span.problem().text);
    }
    begin_value(series, ValueKind::histogram, place);
    rows_.add_buckets(series, *span, place.event.wall_time, place.offset, place.length);
  }

  void take_hyperparameters(const wire::SummaryMetadata& metadata) {
    ++cursor_.extras.hyperparameter_records;
    std::map<std::string, std::string>& known = cursor_.runs[file().run].hyperparameters;
    for (wire::Hyperparameter& one : wire::hyperparameters(metadata.content)) {
      known.insert_or_assign(std::string(one.name), std::move(one.json));
    }
  }

  /// START supersedes the worker's values at this step and later ones, which it wrote before a restart.
  void take_session(const Place& place) {
    file().stopped = place.event.session == wire::SessionStatus::stop;
    if (place.event.session != wire::SessionStatus::start) {
      return;
    }
    lane_->started = file_;
    const LogRun& run = cursor_.runs[file().run];
    const bool later_was_read = std::any_of(run.files.begin() + file().place + 1, run.files.end(),
                                            [&](std::uint32_t id) { return cursor_.files[id].has_events; });
    out_of_order_ =
        out_of_order_ || (later_was_read && std::ranges::any_of(lane_->series, [&](const Series& one) {
                            return one.has_value && one.last_step >= place.event.step && is_later(one.last_file);
                          }));
    rows_.restart(place.event.step);
  }

  void take_other(std::string_view kind, std::string name, const Place& place) {
    cursor_.extras.add_other({std::string(kind), std::move(name), place.event.step,
                              "worker_" + std::to_string(file().worker), file().path, place.offset, place.length,
                              place.event.wall_time});
  }

  /// Stores the form of an event with a number of the last series, for `take_expected`.
  void expect_more_like(std::span<const std::byte> payload) {
    if (std::string& known = facts().between; known.empty() && !facts().has_namesake) {
      const std::span<const std::byte> between = wire::between_step_and_number(payload);
      known.assign(reinterpret_cast<const char*>(between.data()), between.size());
    }
  }

  [[nodiscard]] LogFile& file() noexcept { return cursor_.files[file_]; }
  /// Returns whether `other` comes after the current file in the order of the run.
  [[nodiscard]] bool is_later(std::uint32_t other) const noexcept {
    return cursor_.files[other].place > cursor_.files[file_].place;
  }
  /// The facts of the previous value's tag.
  [[nodiscard]] TagFacts& facts() noexcept { return lane_->facts[rows_.previous()]; }
  /// As `SeriesRows::begin_value`, and notices what comes too late or from another run.
  void begin_value(Series& series, ValueKind kind, const Place& place) {
    out_of_order_ = out_of_order_ || (series.has_value && series.last_file != file_ && is_later(series.last_file));
    if (series.kinds == 0) {
      look_for_namesake(series, place);
    }
    rows_.begin_value(series, kind, place.event.step);
    if (facts().has_namesake) {
      rows_.supersede_at(series, place.event.step);
    }
  }

  /// Warns if another run has a tag of the same full name: `train/x` of the trial's folder, and `x` of `train`.
  void look_for_namesake(const Series& series, const Place& place) {
    const auto tag_of_run = [](std::string_view tag, const LogRun& run) {
      const std::string of =
          run.name.empty() ? "the trial's own folder" : fmt::format("the run '{}'", printable(run.name));
      return fmt::format("the tag '{}' of {}", printable(tag), of);
    };
    const LogRun& own = cursor_.runs[file().run];
    const std::string_view name = rows_.name_of(series);
    for (LogRun& run : cursor_.runs) {
      std::string_view tag = name;
      if (!run.name.empty()) {
        if (!tag.starts_with(run.name) || tag.size() <= run.name.size() || tag[run.name.size()] != '/') {
          continue;
        }
        tag.remove_prefix(run.name.size() + 1);
      }
      bool there = false;
      for (Lane& other : run.lanes) {
        const std::uint32_t id = &run != &own ? other.names.find(tag) : no_id;
        if (id != no_id && other.series[id].kinds != 0) {
          there = other.facts[id].has_namesake = facts().has_namesake = true;
          other.facts[id].between.clear();
        }
      }
      if (there) {
        const std::string_view own_tag = name.substr(own.name.empty() ? 0 : own.name.size() + 1);
        std::string text = fmt::format(
            "{} and {} have one name: their values are read as those of one tensor; give the run's folder another name "
            "to tell them apart",
            tag_of_run(own_tag, own), tag_of_run(tag, run));
        file().problems.add({ProblemKind::warning, {}, place.offset, std::move(text)});
        return;
      }
    }
  }

  void refuse(const Place& place, std::string_view tag, std::string_view why) {
    ProblemList& problems = file().problems;
    if (problems.full(ProblemKind::damaged)) {
      problems.count(ProblemKind::damaged);
      return;
    }
    problems.add(damaged("the value of " + in_quotes(tag) + " is left out: " + std::string(why), place.offset));
  }

  LogCursor& cursor_;
  SeriesRows rows_;
  StepRowWriter& writer_;  ///< Of `rows_`.
  std::uint32_t file_ = 0;
  Lane* lane_ = nullptr;    ///< That of the file.
  bool repeating_ = false;  ///< Rows have the same numbers as the row before. `stop_repeating` updates the series.
  std::vector<Expected> expected_;  ///< The numbers of a whole row, while `repeating_`.
  std::int64_t step_before_ = 0;    ///< The step of the row before the current one.
  bool out_of_order_ = false;
};

/// Returns the event's time; minus infinity instead of NaN, so that times can be compared.
double time_of(const wire::EventOutline& event) noexcept {
  return std::isnan(event.wall_time) ? -std::numeric_limits<double>::infinity() : event.wall_time;
}

/// What a compressed file holds, up to where it can be inflated.
class InflatedLog final : public storage::File {
 public:
  InflatedLog(std::unique_ptr<storage::File> file, const std::function<bool()>& stopped) : inflated_(std::move(file)) {
    // If not all of a block can be inflated, smaller ones show how much of it can.
    std::vector<std::byte> block(block_bytes);
    for (std::size_t want = block_bytes; want > 0 && !stopped();) {
      const auto got = inflated_.read_at(size_, std::span(block).first(want));
      size_ += got ? *got : 0;
      if (got && *got < want) {
        return;
      }
      if (!got) {
        damage_ = got.problem();
        want /= 2;
      }
    }
  }

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    return inflated_.read_at(offset, into);
  }
  /// Why the file cannot be inflated beyond `size`; nullopt if it ends there.
  [[nodiscard]] const std::optional<Problem>& damage() const noexcept { return damage_; }

 private:
  static constexpr std::size_t block_bytes = std::size_t{64} << 10;

  storage::InflatedFile inflated_;
  std::uint64_t size_ = 0;
  std::optional<Problem> damage_;
};

/// Reads what is new in the files of a log directory.
class LogReader {
 public:
  /// Continues from `cursor`. `seen`: how far earlier looks read the files that are read again; null: not at all.
  LogReader(storage::Storage& storage, const LookRequest& request, LogCursor& cursor, const LogCursor* seen)
      : storage_(storage), request_(request), cursor_(cursor), seen_(seen) {}

  /// Finds new and changed files. Returns false if one must be read from its start: it was removed, replaced, or cut
  /// below what was read, is compressed, or has an uncertain place.
  [[nodiscard]] bool survey(const EventFiles& files) {
    for (const std::string& path : files.paths) {
      const auto at = cursor_.file_of_path.find(path);
      if (at == cursor_.file_of_path.end()) {
        changed_.push_back(add_file(path));
        continue;
      }
      LogFile& file = cursor_.files[at->second];
      const std::optional<storage::FileStamp> stamp = storage_.file_stamp(path);
      if (stamp && file.stamp == stamp) {
        continue;
      }
      storage_.forget(path);
      if (file.compressed || file.uncertain || (stamp && file.stamp && !file.goes_on(storage_, *stamp, file.offset))) {
        return false;
      }
      file.stamp = stamp;
      changed_.push_back(at->second);
    }
    std::sort(changed_.begin(), changed_.end());
    return files.paths.size() == cursor_.files.size();
  }
  [[nodiscard]] bool nothing_new() const noexcept { return changed_.empty(); }

  /// Reads what is new, run by run. Returns false if all events must be taken again, in order: one came late, or a file
  /// is of a concurrent writer.
  [[nodiscard]] bool read(EventTaker& taker) {
    return std::ranges::all_of(cursor_.runs, [&](LogRun& run) {
      const bool changed = std::ranges::any_of(run.files, [&](std::uint32_t file) { return is_changed(file); });
      return !changed || read_run(run, taker);
    });
  }

 private:
  std::uint32_t add_file(const std::string& path) {
    const auto id = static_cast<std::uint32_t>(cursor_.files.size());
    const std::string_view name = run_of(path);
    const auto run = std::ranges::find(cursor_.runs, name, &LogRun::name);
    LogFile& file = cursor_.files.emplace_back();
    file.path = path;
    file.run = static_cast<std::uint32_t>(run - cursor_.runs.begin());
    if (run == cursor_.runs.end()) {
      cursor_.runs.emplace_back().name = name;
    }
    cursor_.runs[file.run].files.push_back(id);
    cursor_.file_of_path.emplace(path, id);
    return id;
  }

  [[nodiscard]] bool is_changed(std::uint32_t file) const noexcept {
    return std::binary_search(changed_.begin(), changed_.end(), file);
  }

  /// Opens a file; one that is known to be compressed, as what it holds.
  Outcome<std::unique_ptr<storage::File>> open(const LogFile& file) {
    auto opened = storage_.open(file.path);
    if (opened && file.compressed) {
      return std::unique_ptr<storage::File>(
          std::make_unique<InflatedLog>(*std::move(opened), [this] { return request_.stopped(); }));
    }
    return opened;
  }

  /// Reads the file up to its first event, and sets `first_time`.
  void find_first_event(LogFile& file) {
    const auto opened = open(file);
    if (!opened) {
      return;
    }
    RecordScanner scanner(**opened, 0, storage_.remote());
    auto found = scanner.next();
    if (found == RecordScanner::Found::compressed && !file.compressed) {
      file.compressed = true;
      return find_first_event(file);
    }
    while ((found == RecordScanner::Found::record || found == RecordScanner::Found::damaged) && !request_.stopped()) {
      if (found == RecordScanner::Found::record && wire::outline_event(scanner.payload(), event_)) {
        file.first_time = time_of(event_);
        return;
      }
      found = scanner.next();
    }
  }

  void order_files(LogRun& run) {
    if (run.files.size() > 1) {
      for (const std::uint32_t id : run.files) {
        if (LogFile& file = cursor_.files[id]; !file.has_events && is_changed(id)) {
          find_first_event(file);
        }
      }
    }
    const auto key = [&](std::uint32_t id) {
      const LogFile& file = cursor_.files[id];
      return std::tie(file.first_time, file.path);
    };
    std::sort(run.files.begin(), run.files.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (std::uint32_t place = 0; place < run.files.size(); ++place) {
      cursor_.files[run.files[place]].place = place;
    }
  }

  bool read_run(LogRun& run, EventTaker& taker) {
    order_files(run);
    WorkersOfRun workers;
    for (const std::uint32_t id : run.files) {
      LogFile& file = cursor_.files[id];
      const bool had_events = file.has_events;
      if (had_events && workers.begin_file(writer_of(file.path), file.first_time) != file.worker) {
        return false;
      }
      if (is_changed(id)) {
        read_file(id, taker, workers);
        if (taker.out_of_order()) {
          return false;
        }
      }
      if (file.has_events) {
        workers.end_file(file.worker, file.last_time);
      }
    }
    return true;
  }

  std::uint64_t seen_until(const LogFile& file) const {
    if (seen_ == nullptr) {
      return 0;
    }
    const auto at = seen_->file_of_path.find(file.path);
    return at == seen_->file_of_path.end() ? 0 : seen_->files[at->second].offset;
  }

  void read_file(std::uint32_t id, EventTaker& taker, WorkersOfRun& workers) {
    LogFile& file = cursor_.files[id];
    file.stamp = file.stamp ? file.stamp : storage_.file_stamp(file.path);
    const std::optional<Problem> rest_before = std::exchange(file.rest, std::nullopt);
    const bool was_cut = std::exchange(file.cut, false);
    const auto opened = open(file);
    if (!opened) {
      file.stamp.reset();
      if (opened.problem().kind != ProblemKind::not_found) {
        file.rest = opened.problem();
      }
      return;
    }
    if (!request_.as_it_stands && !file.compressed && !file.take_head(**opened)) {
      return;
    }
    // What is inflated has one reader.
    RecordScanner scanner(**opened, file.offset, storage_.remote(), file.compressed ? 1 : request_.jobs);
    const std::uint64_t seen = seen_until(file);
    bool begun = false;
    bool was_seen = false;
    while (!stopped()) {
      for (bool more = begun && !was_seen; more && !stopped();) {
        const std::span<const std::byte> records = scanner.sound_records();
        const std::size_t taken = taker.take_repeated(records, file.last_time);
        scanner.skip(taken);
        more = taken != 0 && taken == records.size();
      }
      const RecordScanner::Found found = scanner.next();
      file.offset = scanner.offset();
      if (found == RecordScanner::Found::damaged) {
        file.lost_records = true;
        file.problems.add(std::move(scanner.problem()));
        if (request_.stopped()) {  // the search for the next record takes longer than many records
          return;
        }
        continue;
      }
      if (found == RecordScanner::Found::record) {
        if (was_seen && scanner.offset() >= seen) {
          taker.end_seen();
          was_seen = false;
        }
        if (begun && taker.take_expected(scanner.payload(), file.last_time)) {
          continue;
        }
        if (const Status parsed = wire::outline_event(scanner.payload(), event_); !parsed) {
          file.lost_records = true;
          file.problems.add(
              damaged("the record is no event, its values are left out: " + parsed.problem().text, scanner.offset()));
          continue;
        }
        const double time = time_of(event_);
        if (!file.has_events) {
          file.has_events = true;
          file.first_time = time;
          file.worker = workers.begin_file(writer_of(file.path), time);
        }
        file.last_time = time;
        if (!begun) {
          begun = true;
          was_seen = scanner.offset() < seen;
          taker.begin_file(id, was_seen);
        }
        taker.take(event_, scanner.payload(), scanner.offset(), scanner.length());
        if (taker.out_of_order()) {
          return;
        }
        continue;
      }
      if (found == RecordScanner::Found::compressed && !file.compressed) {
        file.compressed = true;
        return read_file(id, taker, workers);
      }
      if (found == RecordScanner::Found::failed) {
        file.stamp.reset();
      }
      file.uncertain = scanner.uncertain();
      const auto* const inflated = file.compressed ? static_cast<const InflatedLog*>(opened->get()) : nullptr;
      const bool cut_off = inflated != nullptr && inflated->damage() && found != RecordScanner::Found::failed;
      if (cut_off || found != RecordScanner::Found::end) {
        file.rest = cut_off ? inflated->damage() : std::move(scanner.problem());
        file.rest->offset = file.offset;
        file.cut = cut_off ? file.rest->kind == ProblemKind::not_yet : found == RecordScanner::Found::cut;
        if (file.cut) {
          file.rest->kind = ProblemKind::damaged;  // unless more may come, as for a record that is cut short
        }
        file.cut_since = was_cut && file.rest == rest_before ? file.cut_since : request_.now;
      }
      return;
    }
  }

  /// Asks only now and then whether to stop, because a record takes less time than the question.
  [[nodiscard]] bool stopped() { return ++records_ % 256 == 0 && request_.stopped(); }

  storage::Storage& storage_;
  const LookRequest& request_;
  LogCursor& cursor_;
  const LogCursor* seen_;
  std::vector<std::uint32_t> changed_;  ///< Files with something to read, ascending.
  std::uint32_t records_ = 0;
  wire::EventOutline event_;
};

/// Returns whether the job is over: whether the last file of each run ends with a stop.
bool says_end(const LogCursor& cursor) {
  const auto has_events = [&](std::uint32_t file) { return cursor.files[file].has_events; };
  return !cursor.runs.empty() && std::ranges::all_of(cursor.runs, [&](const LogRun& run) {
    const auto last = std::find_if(run.files.rbegin(), run.files.rend(), has_events);
    return last != run.files.rend() && cursor.files[*last].stopped;
  });
}

Problem placed(Problem problem, const LogFile& file) {
  problem.file = file.path;
  if (file.compressed) {
    problem.text += wire::in_inflated_stream;
  }
  return problem;
}

/// Adds the problem of a file's rest. A file that ends within a record may still be written to, for a time.
void add_rest(const LogFile& file, const LookRequest& request, Found& found, ProblemList& notes) {
  if (!file.rest) {
    return;
  }
  Problem problem = placed(*file.rest, file);
  problem.unfinished = file.cut;
  if (file.cut) {
    const auto given_up = file.cut_since + request.half_written;
    if (!request.as_it_stands && request.now < given_up) {
      problem.kind = ProblemKind::not_yet;
      found.due = std::min(found.due.value_or(given_up), given_up);
    } else {
      problem.text += ": its values are left out; the writer was interrupted, or the file was not copied whole";
    }
  }
  notes.add(std::move(problem));
}

/// Adds a note on an empty file, unless it is young: its writer may have just begun.
void add_if_empty(const LogFile& file, storage::Storage& storage, const LookRequest& request, ProblemList& notes) {
  if (!request.as_it_stands || !file.stamp || storage::size_of(*file.stamp) != 0) {
    return;
  }
  const auto written = storage.written_at(file.path);
  if (written && storage::age_of(*written) > request.half_written) {
    notes.add(make_problem(ProblemKind::remark, in_quotes(file.path) + " is left out: it is empty"));
  }
}

/// Sets the hyperparameters by name; if several runs have some, with the run's name as a prefix.
void name_hyperparameters(LogCursor& cursor) {
  auto& values = cursor.extras.hyperparameters;
  values.clear();
  const auto runs = std::ranges::count_if(cursor.runs, [](const LogRun& run) { return !run.hyperparameters.empty(); });
  for (const LogRun& run : cursor.runs) {
    for (const auto& [name, json] : run.hyperparameters) {
      values.insert_or_assign(runs > 1 && !run.name.empty() ? run.name + "/" + name : name, json);
    }
  }
}

std::shared_ptr<LogListing> listing_of(storage::Storage& storage, std::shared_ptr<const LogCursor> cursor,
                                       const LogListing* before, ProblemList notes, const LookRequest& request,
                                       Found& found) {
  ProblemList all(limits::problems_per_trial);
  for (const LogFile& file : cursor->files) {
    for (Problem& problem : file.problems.all()) {
      all.add(placed(std::move(problem), file));
    }
    add_rest(file, request, found, all);
    add_if_empty(file, storage, request, all);
  }
  all.add(std::move(notes));
  const bool ended = says_end(*cursor);
  auto listing = next_listing(std::move(cursor), before, std::move(all));
  listing->ended = ended;
  return listing;
}

class TensorboardLayout final : public Layout {
 public:
  [[nodiscard]] wire::ValueKinds value_kinds() const noexcept override { return wire::ValueKinds::summaries; }
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    const auto* const earlier = static_cast<const LogListing*>(before);
    Found found;
    const LogCursor* const known = earlier == nullptr ? nullptr : earlier->cursor.get();
    auto cursor = known == nullptr || request.everything ? emptied(known) : std::make_shared<LogCursor>(*known);
    CheckedFiles checked = std::move(cursor->checked);
    auto files = find_event_files(storage, checked);
    if (!files) {
      return std::move(files.problem());
    }
    found.afresh = known != nullptr && request.everything;
    const LogCursor* seen = nullptr;
    while (true) {
      found.loaded = LoadedSteps();
      LogReader reader(storage, request, *cursor, seen);
      const bool intact = reader.survey(*files);
      if (intact && known != nullptr && !found.afresh && reader.nothing_new()) {
        found.collections = std::move(collections);
        found.listing = listing_of(storage, earlier->cursor, earlier, std::move(files->notes), request, found);
        return found;
      }
      EventTaker taker(*cursor, found.loaded);
      if (intact && reader.read(taker)) {
        taker.finish(found, std::move(collections));
        break;
      }
      cursor = emptied(known);
      found.afresh = known != nullptr;
      // Events of the same files are not reported as new, although their order or workers changed. If files were
      // replaced, or all rows were requested, all events are new.
      seen = intact && !request.everything ? known : nullptr;
    }
    cursor->checked = std::move(checked);
    name_hyperparameters(*cursor);
    found.listing = listing_of(storage, std::move(cursor), earlier, std::move(files->notes), request, found);
    return found;
  }
  /// Returns the tag: the stored name without the run, and without the prefix of buckets.
  [[nodiscard]] std::string_view record_name(std::string_view file, std::string_view stored) const noexcept override {
    stored = without_bucket_prefix(stored);
    if (const std::string_view run = run_of(file); !run.empty()) {
      stored.remove_prefix(std::min(run.size() + 1, stored.size()));
    }
    return stored;
  }
};

}  // namespace

std::unique_ptr<Layout> tensorboard_layout(const Opening& /*what*/) { return std::make_unique<TensorboardLayout>(); }

}  // namespace smd::detail::layout
