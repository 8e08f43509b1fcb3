// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/log_reader.hpp"

#include "layout/tensorboard/record_scanner.hpp"
#include "layout/tensorboard/workers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace smd::detail::layout {

namespace {

/// Returns the event's time; minus infinity instead of NaN, so that times can be compared.
double time_of(const wire::EventOutline& event) noexcept {
  return std::isnan(event.wall_time) ? -std::numeric_limits<double>::infinity() : event.wall_time;
}

constexpr std::size_t device_and_inode = 2;  // of a `FileStamp`
constexpr std::size_t size_of_file = 4;

}  // namespace

std::uint32_t LogReader::add_file(const std::string& path) {
  const auto id = static_cast<std::uint32_t>(cursor_.files.size());
  const std::string_view name = run_of(path);
  const auto run =
      std::find_if(cursor_.runs.begin(), cursor_.runs.end(), [&](const LogRun& other) { return other.name == name; });
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

bool LogReader::survey(const EventFiles& files) {
  std::size_t known = 0;
  for (const std::string& path : files.paths) {
    const auto at = cursor_.file_of_path.find(path);
    if (at == cursor_.file_of_path.end()) {
      changed_.push_back(add_file(path));
      ++known;
      continue;
    }
    ++known;
    LogFile& file = cursor_.files[at->second];
    const std::optional<storage::FileStamp> stamp = storage_.file_stamp(path);
    if (stamp && file.stamp == stamp) {
      continue;
    }
    if (stamp && file.stamp &&
        (!std::equal(stamp->begin(), stamp->begin() + device_and_inode, file.stamp->begin()) ||
         (*stamp)[size_of_file] < file.offset)) {
      return false;
    }
    storage_.forget(path);
    changed_.push_back(at->second);
  }
  std::sort(changed_.begin(), changed_.end());
  return known == cursor_.files.size();
}

bool LogReader::is_changed(std::uint32_t file) const noexcept {
  return std::binary_search(changed_.begin(), changed_.end(), file);
}

/// Reads the file up to its first event, and sets `first_time`.
void LogReader::find_first_event(LogFile& file) {
  const auto opened = storage_.open(file.path);
  if (!opened) {
    return;
  }
  RecordScanner scanner(**opened, 0, storage_.remote());
  for (auto found = scanner.next(); found == RecordScanner::Found::record || found == RecordScanner::Found::damaged;
       found = scanner.next()) {
    if (found == RecordScanner::Found::record && wire::outline_event(scanner.payload(), event_)) {
      file.first_time = time_of(event_);
      return;
    }
  }
}

void LogReader::order_files(LogRun& run) {
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

bool LogReader::read(EventTaker& taker) {
  std::vector<bool> wanted(cursor_.runs.size());
  for (const std::uint32_t file : changed_) {
    wanted[cursor_.files[file].run] = true;
  }
  for (std::size_t run = 0; run < cursor_.runs.size(); ++run) {
    if (wanted[run] && !read_run(cursor_.runs[run], taker)) {
      return false;
    }
  }
  return true;
}

bool LogReader::read_run(LogRun& run, EventTaker& taker) {
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

std::uint64_t LogReader::seen_until(const LogFile& file) const {
  if (seen_ == nullptr) {
    return 0;
  }
  const auto at = seen_->file_of_path.find(file.path);
  return at == seen_->file_of_path.end() ? 0 : seen_->files[at->second].offset;
}

void LogReader::read_file(std::uint32_t id, EventTaker& taker, WorkersOfRun& workers) {
  LogFile& file = cursor_.files[id];
  file.stamp = storage_.file_stamp(file.path);
  const std::optional<Problem> rest_before = std::exchange(file.rest, std::nullopt);
  const bool was_cut = std::exchange(file.cut, false);
  const auto opened = storage_.open(file.path);
  if (!opened) {
    file.stamp.reset();
    if (opened.problem().kind != ProblemKind::not_found) {
      file.rest = opened.problem();
    }
    return;
  }
  RecordScanner scanner(**opened, file.offset, storage_.remote(), request_.jobs);
  const std::uint64_t seen = seen_until(file);
  bool begun = false;
  bool was_seen = false;
  while (!stopped()) {
    for (bool more = begun && !was_seen; more;) {
      const std::span<const std::byte> records = scanner.sound_records();
      const std::size_t taken = taker.take_repeated(records, file.last_time);
      scanner.skip(taken);
      more = taken != 0 && taken == records.size();
    }
    const RecordScanner::Found found = scanner.next();
    file.offset = scanner.offset();
    if (found == RecordScanner::Found::damaged) {
      file.problems.add(std::move(scanner.problem()));
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
        file.problems.add({ProblemKind::damaged,
                           {},
                           scanner.offset(),
                           "the record is no event, its values are left out: " + parsed.problem().text});
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
      taker.take(event_, scanner.payload(), {scanner.offset(), scanner.length()});
      if (taker.out_of_order()) {
        return;
      }
      continue;
    }
    if (found == RecordScanner::Found::failed) {
      file.stamp.reset();
    }
    if (found != RecordScanner::Found::end) {
      file.rest = std::move(scanner.problem());
      file.cut = found == RecordScanner::Found::cut;
      file.cut_since = was_cut && file.rest == rest_before ? file.cut_since : request_.now;
    }
    return;
  }
}

}  // namespace smd::detail::layout
