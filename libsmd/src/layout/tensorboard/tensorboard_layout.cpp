// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/tensorboard_layout.hpp"

#include "layout/forward_reader.hpp"
#include "layout/name_collections.hpp"
#include "layout/tensorboard/event_taker.hpp"
#include "layout/tensorboard/record_scanner.hpp"
#include "storage/inflated_file.hpp"
#include "wire/first_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace smd::detail::layout {

namespace {

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
      if (file.compressed || file.uncertain ||
          (stamp && file.stamp && !may_continue(*file.stamp, *stamp, file.offset))) {
        return false;
      }
      storage_.forget(path);
      changed_.push_back(at->second);
    }
    std::sort(changed_.begin(), changed_.end());
    return files.paths.size() == cursor_.files.size();
  }
  [[nodiscard]] bool nothing_new() const noexcept { return changed_.empty(); }

  /// Reads what is new, run by run. Returns false if all events must be taken again, in order: one came late, or a file
  /// is of a concurrent writer.
  [[nodiscard]] bool read(EventTaker& taker) {
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

 private:
  std::uint32_t add_file(const std::string& path) {
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
    for (; found == RecordScanner::Found::record || found == RecordScanner::Found::damaged; found = scanner.next()) {
      if (found == RecordScanner::Found::record && wire::outline_event(scanner.payload(), event_)) {
        file.first_time = time_of(event_);
        return;
      }
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
    file.stamp = storage_.file_stamp(file.path);
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

/// Returns a cursor for reading from the start, which keeps the next row id and the number of workers.
LogCursor emptied(const LogCursor& cursor) {
  LogCursor empty;
  empty.next_row = cursor.next_row;
  empty.workers = cursor.workers;
  empty.checked = cursor.checked;
  return empty;
}

/// Returns whether the job is over: whether the last file of each run ends with a stop.
bool says_end(const LogCursor& cursor) {
  return !cursor.runs.empty() && std::all_of(cursor.runs.begin(), cursor.runs.end(), [&](const LogRun& run) {
    const auto last = std::find_if(run.files.rbegin(), run.files.rend(),
                                   [&](std::uint32_t file) { return cursor.files[file].has_events; });
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

/// Sets the hyperparameters by name; if several runs have some, with the run's name as a prefix.
void name_hyperparameters(LogCursor& cursor) {
  auto& values = cursor.extras.hyperparameters.values;
  values.clear();
  const auto runs = std::count_if(cursor.runs.begin(), cursor.runs.end(),
                                  [](const LogRun& run) { return !run.hyperparameters.empty(); });
  for (const LogRun& run : cursor.runs) {
    for (const auto& [name, json] : run.hyperparameters) {
      values.insert_or_assign(runs > 1 && !run.name.empty() ? run.name + "/" + name : name, json);
    }
  }
}

std::shared_ptr<LogListing> listing_of(std::shared_ptr<const LogCursor> cursor, const LogListing* before,
                                       ProblemList notes, const LookRequest& request, Found& found) {
  auto listing = before == nullptr ? std::make_shared<LogListing>() : std::make_shared<LogListing>(*before);
  listing->notes = ProblemList(limits::problems_per_trial);
  for (const LogFile& file : cursor->files) {
    for (Problem& problem : file.problems.all()) {
      listing->notes.add(placed(std::move(problem), file));
    }
    add_rest(file, request, found, listing->notes);
  }
  listing->notes.add(std::move(notes));
  listing->ended = says_end(*cursor);
  listing->add_workers(cursor->workers);
  if (before == nullptr || cursor != before->cursor) {
    listing->extras = std::make_shared<const Extras>(cursor->extras);
  }
  listing->cursor = std::move(cursor);
  return listing;
}

class TensorboardLayout final : public Layout {
 public:
  [[nodiscard]] wire::ValueKinds value_kinds() const noexcept override { return wire::ValueKinds::summaries; }
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    const auto* const earlier = static_cast<const LogListing*>(before);
    Found found;
    auto cursor = earlier == nullptr   ? std::make_shared<LogCursor>()
                  : request.everything ? std::make_shared<LogCursor>(emptied(*earlier->cursor))
                                       : std::make_shared<LogCursor>(*earlier->cursor);
    auto files = find_event_files(storage, cursor->checked);
    if (!files) {
      return std::move(files.problem());
    }
    found.afresh = earlier != nullptr && request.everything;
    const LogCursor* seen = nullptr;
    while (true) {
      found.loaded = LoadedSteps();
      LogReader reader(storage, request, *cursor, seen);
      const bool intact = reader.survey(*files);
      if (intact && reader.nothing_new() && earlier != nullptr && !found.afresh) {
        found.collections = std::move(collections);
        found.listing = listing_of(earlier->cursor, earlier, std::move(files->notes), request, found);
        return found;
      }
      EventTaker taker(*cursor, found.loaded);
      if (intact && reader.read(taker)) {
        LogListing ranks;
        ranks.add_workers(cursor->workers);
        taker.finish(ranks);
        found.collections = add_to_collections(found.afresh ? nullptr : std::move(collections), taker.new_names());
        break;
      }
      cursor = std::make_shared<LogCursor>(emptied(earlier == nullptr ? LogCursor() : *earlier->cursor));
      found.afresh = earlier != nullptr;
      // Events of the same files are not reported as new, although their order or workers changed. If files were
      // replaced, or all rows were requested, all events are new.
      seen = intact && earlier != nullptr && !request.everything ? earlier->cursor.get() : nullptr;
    }
    name_hyperparameters(*cursor);
    found.news = !found.loaded.rows.empty();
    found.listing = listing_of(std::move(cursor), earlier, std::move(files->notes), request, found);
    return found;
  }
  [[nodiscard]] storage::WatchScope watched() const override { return {{""}, true}; }
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

std::optional<Held> holds_log_directory(FolderWalk& folder) {
  const auto holds_events = [&](const std::string& below) {
    const Entries& entries = folder.below(below);
    return std::any_of(entries.begin(), entries.end(), [&](const storage::DirEntry& entry) {
      return entry.kind == storage::EntryKind::file && is_event_file(entry.name) &&
             !is_foreign(known_event_file(folder.storage(),
                                          folder.path_of(below.empty() ? entry.name : below + "/" + entry.name)));
    });
  };
  if (holds_events({})) {
    return Held{.reads_all_below = true};
  }
  std::vector<std::string> runs;
  for (const storage::DirEntry& entry : folder.entries()) {
    if (entry.kind == storage::EntryKind::folder && ends_in_side(entry.name) && holds_events(entry.name)) {
      runs.push_back(entry.name);
    }
  }
  std::vector<std::string> sides = sides_of_one(runs);
  return sides.empty()
             ? std::nullopt
             : std::optional(Held{.itself = false, .reads_below = [sides = std::move(sides)](std::string_view below) {
                                    return std::find(sides.begin(), sides.end(), below.substr(0, below.find('/'))) !=
                                           sides.end();
                                  }});
}

}  // namespace smd::detail::layout
