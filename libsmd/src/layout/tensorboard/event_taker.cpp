// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/event_taker.hpp"

#include "text/escape.hpp"
#include "wire/framing.hpp"
#include "wire/little_endian.hpp"

#include <smd/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
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

}  // namespace

EventTaker::EventTaker(LogCursor& cursor, LoadedSteps& loaded)
    : cursor_(cursor), rows_(cursor, loaded), writer_(rows_.writer()) {}

void EventTaker::begin_file(std::uint32_t file, bool seen) {
  stop_repeating();
  file_ = file;
  LogRun& run = cursor_.runs[this->file().run];
  if (run.lanes.size() <= this->file().worker) {
    run.lanes.resize(this->file().worker + std::size_t{1});
  }
  lane_ = &lane();
  rows_.begin_file(*lane_, run.name, this->file().path, file, this->file().worker, seen);
}

void EventTaker::end_seen() {
  stop_repeating();
  writer_.set_seen(false);
}

void EventTaker::finish(const Listing& listing) {
  stop_repeating();
  rows_.finish(listing);
}

bool EventTaker::take_next(std::span<const std::byte> payload, double& wall_time) {
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
  if (between.empty() || series.look != cursor_.looks || !series.has_value || series.last_file != file_ ||
      !wire::plain_number(payload, std::as_bytes(std::span(between)), event) || event.step <= series.last_step ||
      std::isnan(event.wall_time)) {
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

/// Starts repeating if the row is complete and further rows like it may follow.
void EventTaker::start_repeating() {
  if (!writer_.can_repeat() || !writer_.repeats_numbers(Dtype::float32)) {
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
    if (series.name != name || between.empty() || series.look != cursor_.looks || !series.has_value ||
        series.last_file != file_ || series.last_row != writer_.row()) {
      return;
    }
    expected_.push_back({std::as_bytes(std::span(between)), id});
  }
  repeating_ = true;
}

std::size_t EventTaker::take_repeated(std::span<const std::byte> records, double& wall_time) {
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

void EventTaker::stop_repeating() {
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

/// Stores the form of an event with a number of the last series, for `take_expected`.
void EventTaker::expect_more_like(std::span<const std::byte> payload) {
  if (std::string& known = facts().between; known.empty()) {
    const std::span<const std::byte> between = wire::between_step_and_number(payload);
    known.assign(reinterpret_cast<const char*>(between.data()), between.size());
  }
}

void EventTaker::take(const wire::EventOutline& event, std::span<const std::byte> payload, std::uint64_t offset,
                      std::uint64_t length) {
  stop_repeating();
  const Place place{event, offset, length};
  if (const auto& started = lane().started; started && is_later(*started)) {
    out_of_order_ = true;
  }
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

/// START supersedes the worker's values at this step and later ones, which it wrote before a restart.
void EventTaker::take_session(const Place& place) {
  file().stopped = place.event.session == wire::SessionStatus::stop;
  if (place.event.session != wire::SessionStatus::start) {
    return;
  }
  lane().started = file_;
  rows_.restart(place.event.step,
                [&](const Series& series) { out_of_order_ = out_of_order_ || is_later(series.last_file); });
}

void EventTaker::take_other(std::string_view kind, std::string name, const Place& place) {
  Extras& extras = cursor_.extras;
  if (extras.others.size() >= limits::other_values) {
    ++extras.not_kept;
    return;
  }
  extras.others.push_back({std::string(kind), std::move(name), place.event.step,
                           "worker_" + std::to_string(file().worker), file().path, place.offset, place.length,
                           place.event.wall_time});
}

void EventTaker::look_for_namesake(const Series& series, const Place& place) {
  const auto told = [](std::string_view tag, const LogRun& run) {
    const std::string of =
        run.name.empty() ? "the trial's own folder" : fmt::format("the run '{}'", printable(run.name));
    return fmt::format("the tag '{}' of {}", printable(tag), of);
  };
  const LogRun& own = cursor_.runs[file().run];
  const std::string_view name = rows_.name_of(series);
  for (const LogRun& run : cursor_.runs) {
    std::string_view tag = name;
    if (!run.name.empty()) {
      if (!tag.starts_with(run.name) || tag.size() <= run.name.size() || tag[run.name.size()] != '/') {
        continue;
      }
      tag.remove_prefix(run.name.size() + 1);
    }
    const bool there = &run != &own && std::any_of(run.lanes.begin(), run.lanes.end(), [&](const Lane& other) {
      const std::uint32_t id = other.names.find(tag);
      return id != no_id && other.series[id].kinds != 0;
    });
    if (there) {
      const std::string_view own_tag = name.substr(own.name.empty() ? 0 : own.name.size() + 1);
      file().problems.add(
          {ProblemKind::warning,
           {},
           place.offset,
           fmt::format("{} and {} have one name: their values are read as those of one tensor; give the "
                       "run's folder another name to tell them apart",
                       told(own_tag, own), told(tag, run))});
      return;
    }
  }
}

void EventTaker::begin_value(Series& series, ValueKind kind, const Place& place) {
  if (series.has_value) {
    out_of_order_ = out_of_order_ || (series.last_file != file_ && is_later(series.last_file));
  }
  if (series.kinds == 0) {
    look_for_namesake(series, place);
  }
  rows_.begin_value(series, kind, place.event.step);
}

void EventTaker::refuse(const Place& place, std::string_view tag, std::string_view why) {
  ProblemList& problems = file().problems;
  if (problems.full(ProblemKind::damaged)) {
    problems.count(ProblemKind::damaged);
    return;
  }
  problems.add(damaged("the value of '" + printable(tag) + "' is left out: " + std::string(why), place.offset));
}

void EventTaker::take_value(const wire::SummaryValue& value, const Place& place) {
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
      rows_.add_number(series.name, Dtype::float32, std::bit_cast<std::uint32_t>(value.number), place.event.wall_time);
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

void EventTaker::take_tensor(Series& series, const wire::SummaryValue& value, const Place& place) {
  const auto record = [&](ValueKind kind, ValueForm form) {
    begin_value(series, kind, place);
    rows_.add_record(series.name, form, place.offset, place.length);
  };
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

void EventTaker::take_histogram(Series& series, const wire::SummaryValue& value, const Place& place) {
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

void EventTaker::take_buckets(Series& series, const wire::SummaryValue& value, const Place& place) {
  const auto span = wire::bucket_span(value.message);
  if (!span) {
    return refuse(place, value.tag, span.problem().text);
  }
  begin_value(series, ValueKind::histogram, place);
  rows_.add_buckets(series, *span, place.event.wall_time, place.offset, place.length);
}

void EventTaker::take_hyperparameters(const wire::SummaryMetadata& metadata) {
  ++cursor_.extras.hyperparameters.records;
  std::map<std::string, std::string>& known = cursor_.runs[file().run].hyperparameters;
  for (wire::Hyperparameter& one : wire::hyperparameters(metadata.content)) {
    known.insert_or_assign(std::string(one.name), std::move(one.json));
  }
}

}  // namespace smd::detail::layout
