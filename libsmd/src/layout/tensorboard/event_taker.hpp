// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/series_rows.hpp"
#include "layout/tensorboard/tensorboard_layout.hpp"
#include "wire/event_outline.hpp"
#include "wire/summary.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::layout {

/// Turns the events of files into rows, and records which values later ones supersede. Events must come in order of
/// time: file by file, the files of a run in its order.
class EventTaker {
 public:
  /// Continues the series of `cursor`. Both must outlive this.
  EventTaker(LogCursor& cursor, LoadedSteps& loaded);

  /// `seen`: an earlier look took the events that follow, until `end_seen`.
  void begin_file(std::uint32_t file, bool seen);
  void end_seen();
  /// Takes an event if it holds a number of the series that is expected next, at a step after all values of the series.
  /// For any other event returns false and has no effect.
  [[nodiscard]] bool take_expected(std::span<const std::byte> payload, double& wall_time) {
    stop_repeating();
    return take_next(payload, wall_time);
  }
  /// Takes the events of `records`, whole and sound, as long as rows have the same numbers as the row before. Returns
  /// the length of the records that were taken, and sets the wall time of the last one, if any.
  [[nodiscard]] std::size_t take_repeated(std::span<const std::byte> records, double& wall_time);
  /// Takes any event. `event` is the outline of `payload`; `offset` and `length` are those of its record in the file.
  void take(const wire::EventOutline& event, std::span<const std::byte> payload, std::uint64_t offset,
            std::uint64_t length);
  /// Ends the last row.
  void finish(const Listing& listing);

  /// Returns true if an event came after one that it should precede: the rows are then wrong.
  [[nodiscard]] bool out_of_order() const noexcept { return out_of_order_; }
  /// Returns tensors with kinds of values that they did not have before.
  [[nodiscard]] const std::vector<NamedValues>& new_names() const noexcept { return rows_.new_names(); }

 private:
  struct Place {
    const wire::EventOutline& event;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };

  /// An expected number: the form of its event, and its series.
  struct Expected {
    std::span<const std::byte> between;  ///< `TagFacts::between`
    std::uint32_t series = 0;
  };

  [[nodiscard]] bool take_next(std::span<const std::byte> payload, double& wall_time);
  void start_repeating();
  void stop_repeating();
  void take_value(const wire::SummaryValue& value, const Place& place);
  void take_tensor(Series& series, const wire::SummaryValue& value, const Place& place);
  void take_histogram(Series& series, const wire::SummaryValue& value, const Place& place);
  void take_buckets(Series& series, const wire::SummaryValue& value, const Place& place);
  void take_hyperparameters(const wire::SummaryMetadata& metadata);
  void take_session(const Place& place);
  void take_other(std::string_view kind, std::string name, const Place& place);

  void expect_more_like(std::span<const std::byte> payload);

  [[nodiscard]] LogFile& file() noexcept { return cursor_.files[file_]; }
  [[nodiscard]] Lane& lane() noexcept { return cursor_.runs[file().run].lanes[file().worker]; }
  /// Returns whether `other` comes after the current file in the order of the run.
  [[nodiscard]] bool is_later(std::uint32_t other) const noexcept {
    return cursor_.files[other].place > cursor_.files[file_].place;
  }
  /// The facts of the previous value's tag.
  [[nodiscard]] TagFacts& facts() noexcept { return lane_->facts[rows_.previous()]; }
  /// As `SeriesRows::begin_value`, and notices what comes too late or from another run.
  void begin_value(Series& series, ValueKind kind, const Place& place);
  /// Warns if another run has a tag of the same full name: `train/x` of the trial's folder, and `x` of `train`.
  void look_for_namesake(const Series& series, const Place& place);
  void refuse(const Place& place, std::string_view tag, std::string_view why);

  LogCursor& cursor_;
  SeriesRows rows_;
  StepRowWriter& writer_;  ///< Of `rows_`.
  std::uint32_t file_ = 0;
  Lane* lane_ = nullptr;    ///< `lane()`
  bool repeating_ = false;  ///< Rows have the same numbers as the row before. `stop_repeating` updates the series.
  std::vector<Expected> expected_;  ///< The numbers of a whole row, while `repeating_`.
  std::int64_t step_before_ = 0;    ///< The step of the row before the current one.
  bool out_of_order_ = false;
};

}  // namespace smd::detail::layout
