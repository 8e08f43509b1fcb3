// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sorted_chunks.hpp"
#include "layout/payload.hpp"
#include "storage/storage.hpp"
#include "text/limits.hpp"
#include "text/mapped.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"
#include "wire/event.hpp"

#include <smd/collection.hpp>
#include <smd/problem.hpp>
#include <smd/step.hpp>
#include <smd/trial.hpp>
#include <smd/trial_options.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

/// How one kind of trial is stored. No code above this knows the names or the meaning of files.
///
/// A layout finds what is there and what is new (`Layout::look`), tells whether the trial is over (`Listing::ended`,
/// `Layout::ended`), and says how to read an entry: its payload has the place, `Layout::record_name` returns the name
/// in the record. A layout that knows steps from the names of files alone also fills `NamedSteps`.
namespace smd::detail::layout {

/// What one worker saved at one step into one file. Identifies a row.
struct StepPart {
  std::int64_t step = 0;
  std::uint32_t worker = 0;  ///< Id in `Listing::workers`.
  std::uint64_t id = 0;      ///< Distinguishes the parts of one worker's step; its meaning is private to the layout.

  /// By step, then by ids, an order that later looks do not change.
  auto operator<=>(const StepPart&) const = default;
};

/// One row of the catalog.
struct StepRow {
  StepPart file;
  std::int64_t mode_step = 0;
  std::uint32_t payload = no_id;     ///< `no_id`: the row has no entries, so does not make a step.
  std::uint32_t event_file = no_id;  ///< File of its entries: id in `Tables::paths`; `no_id`: `Layout::event_path`.
  Mode mode = Mode::global;
  bool superseded = false;  ///< Later values replaced all of this row's.
  std::uint32_t index = 0;  ///< Which of the rows that share the payload.
};

/// One row, or several rows in a sequence: each is `stride` steps after the one before, its id and index are greater by
/// one, and all else is equal. A log of a million steps takes a few hundred of these.
struct RowSequence {
  StepRow row;  ///< The first.
  std::uint32_t tables =
      0;  ///< Index in `LoadedSteps::tables` to which their ids refer, until they are in the catalog.
  std::uint32_t count = 1;
  std::int64_t stride = 0;  ///< Above 0 if there are several.
  bool seen = false;        ///< An earlier look returned the same values, as rows with other ids.

  [[nodiscard]] std::int64_t step(std::uint32_t i) const noexcept { return row.file.step + i * stride; }
  [[nodiscard]] std::int64_t last_step() const noexcept { return step(count - 1); }
  [[nodiscard]] StepRow nth(std::uint32_t i) const noexcept {
    StepRow one = row;
    one.file.step += i * stride;
    one.file.id += i;
    one.mode_step += i * stride;
    one.index += i;
    return one;
  }
};

/// Returns all rows of the sequences, in order.
[[nodiscard]] std::vector<StepRow> rows_of(std::span<const RowSequence> sequences);
/// Returns the number of rows in the sequences.
[[nodiscard]] std::size_t count_rows(std::span<const RowSequence> sequences) noexcept;

/// A later value replaces earlier ones: values of that name at `from_step` and later steps, in the worker's rows with
/// lower ids, no longer count. This includes rows of earlier looks.
struct Supersession {
  std::uint32_t tables = 0;  ///< Index in `LoadedSteps::tables` to which `name` refers.
  std::uint32_t name = 0;    ///< Id of a stored name.
  std::uint32_t worker = 0;
  std::int64_t from_step = 0;
  std::uint64_t before = 0;  ///< `StepPart::id` of the row that has the later value.
  bool one_step = false;     ///< Values at later steps count.
};

/// Rows that were read, with the tables that they refer to.
struct LoadedSteps {
  using Row = RowSequence;
  struct Failure {
    StepPart file;
    Problem problem;
    bool removed = false;  ///< The file was listed and has been removed.
  };
  std::vector<Row> rows;  ///< In the order of `Listing::before`, without those that could not be read.
  std::vector<Tables> tables;
  std::vector<Supersession> supersessions;
  std::vector<Failure> failures;                  ///< Files that could not be read or parsed, in the same order.
  ProblemList notes{limits::problems_per_trial};  ///< Refused entries of the other files.
};

/// Steps that are known from the names of files without opening any. Only some layouts have them.
struct NamedSteps {
  SortedChunks<StepPart> files;  ///< All that any look has seen, in the order of `Listing::before`.
  SortedChunks<StepPart> read;   ///< Those of `files` that were read or found empty, by step and ids.
  std::vector<StepPart> fresh;   ///< Those of `files` that are new in this look, in the same order.

  [[nodiscard]] bool was_read(const StepPart& file) const {
    const auto place = read.partition_point([&](const StepPart& other) { return other < file; });
    return place != read.end() && *place == file;
  }
};

/// What a trial has besides tensors.
struct Extras {
  GrowingColumn<OtherValue> others;  ///< In the order found; at most `limits::other_values`.
  std::uint64_t not_kept = 0;        ///< Number of values beyond that limit.
  std::map<std::string, std::string> hyperparameters;
  std::uint64_t hyperparameter_records = 0;
  std::optional<std::int64_t> exit_code;  ///< Of a job that has ended and said so.

  void add_other(OtherValue other) {
    if (others.size() < limits::other_values) {
      others.push_back(std::move(other));
    } else {
      ++not_kept;
    }
  }
};

/// What a layout knows of a trial after a look, from which the next look continues. Each layout derives a class with
/// what it needs to find what is new. Immutable once shared.
class Listing {
 public:
  virtual ~Listing() = default;

  /// The worker's name by worker id. Later listings share the texts, so views of them stay valid.
  std::vector<std::shared_ptr<const std::string>> workers;
  std::vector<std::uint32_t> worker_rank;  ///< By worker id, its position in the byte order of names.
  /// Nullopt if steps are known only by reading; each step that was read is then complete.
  std::optional<NamedSteps> named;
  ProblemList notes{limits::problems_per_trial};  ///< Problems found before any file is opened.
  bool ended = false;                             ///< The job was over before the look began to list.
  bool keeps_back = false;                        ///< Values are kept back while others may replace them.
  std::shared_ptr<const Extras> extras;           ///< Null if there are none.
  /// When the end marker was written for the last time: each worker may write it. Nullopt if unknown.
  std::optional<std::chrono::system_clock::time_point> ended_at;

  /// Returns the file of a row, for messages: a path relative to the trial.
  [[nodiscard]] virtual std::string path(const StepPart& /*file*/) const { return {}; }
  /// The order of rows: by step, then worker's name, then the layout's order. The last row of a worker counts.
  [[nodiscard]] bool before(const StepPart& a, const StepPart& b) const {
    return a.step != b.step ? a.step < b.step : before_in_step(a, b);
  }

 protected:
  Listing() = default;
  Listing(const Listing&) = default;
  Listing(Listing&&) noexcept = default;
  Listing& operator=(const Listing&) = default;
  Listing& operator=(Listing&&) noexcept = default;

  /// Adds a new worker, without its rank.
  void add_worker(std::string name) { workers.push_back(std::make_shared<const std::string>(std::move(name))); }
  /// Computes `worker_rank` from `workers`.
  void rank_workers();
  /// The order of different parts of one worker's step.
  [[nodiscard]] virtual bool before_in_worker(const StepPart& a, const StepPart& b) const { return a.id < b.id; }

 private:
  [[nodiscard]] bool before_in_step(const StepPart& a, const StepPart& b) const;
};

/// Collections by name, either given or made on first access: with many tensors, making them takes longer than the rest
/// of a look. Copies share them. Thread-safe.
class CollectionMap {
 public:
  using Map = std::map<std::string, Collection>;

  CollectionMap() = default;
  explicit CollectionMap(Map map) : made_(std::make_shared<Made>()) { made_->map = std::move(map); }
  explicit CollectionMap(std::function<Map()> make) : made_(std::make_shared<Made>()) { made_->make = std::move(make); }

  [[nodiscard]] const Map& operator*() const;
  [[nodiscard]] const Map* operator->() const { return &**this; }
  /// Returns whether they are the same object, not whether they are equal.
  [[nodiscard]] bool is(const CollectionMap& other) const noexcept { return made_ == other.made_; }

 private:
  struct Made {
    std::once_flag once;
    std::function<Map()> make;  ///< Null if `map` was given, or has been made.
    Map map;
  };
  std::shared_ptr<Made> made_;
};

/// The trial's collections.
struct CollectionsInfo {
  CollectionsInfo() = default;
  CollectionsInfo(const CollectionsInfo&) = default;
  CollectionsInfo& operator=(const CollectionsInfo&) = default;
  virtual ~CollectionsInfo() = default;

  bool found = false;                       ///< The trial has collections.
  std::vector<std::string> workers;         ///< Workers that saved collections, by name.
  std::optional<std::int64_t> num_workers;  ///< The number of workers that the first of `workers` states.
  CollectionMap collections;                ///< The union over all workers.
  /// The names of collections that are made of tensors' names: they are defined, even while nothing is in them.
  std::span<const std::string_view> made_of_names;

  [[nodiscard]] bool defines(std::string_view name) const {
    return collections->contains(std::string(name)) || contains(made_of_names, name);
  }
  std::vector<Problem> problems;
};

/// Called in the calling thread: `done` of `total` files were read.
using ReadProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// The parameters of a look.
struct LookRequest {
  /// Steps to read. A layout that must read everything to know the steps returns all of them; the trial then leaves out
  /// those that are not in range.
  std::span<const StepRange> ranges;
  bool ranges_changed = false;  ///< `ranges` has more than at the look before.
  /// Return all rows again, not only new ones; ids and names of workers stay. Only for layouts without `NamedSteps`.
  bool everything = false;
  std::size_t incomplete_steps = 0;  ///< How many steps may wait for a worker before the oldest count as complete.
  bool as_it_stands = false;         ///< The caller does not wait for more, so half-written data is damaged.
  bool provisional = false;  ///< Return what is otherwise kept back (`Listing::keeps_back`): later looks supersede it.
  std::chrono::nanoseconds half_written{};  ///< How long a half-written file may stay unchanged before it is damaged.
  std::chrono::steady_clock::time_point now;
  unsigned jobs = 1;                            ///< The most threads.
  const ReadProgress* progress = nullptr;       ///< May be null or empty.
  const std::function<bool()>* stop = nullptr;  ///< Once it returns true, the look's result will not be used.

  [[nodiscard]] bool stopped() const { return stop != nullptr && *stop && (*stop)(); }
};

/// The result of a look.
struct Found {
  std::shared_ptr<const Listing> listing;
  /// Shared with the look before if nothing changed. If its `found` is false, nothing else was read.
  std::shared_ptr<const CollectionsInfo> collections;
  LoadedSteps loaded;  ///< What no earlier look returned; but `failures` has all that still apply.
  /// The rows of earlier looks are invalid (for example, a restarted job overwrote them), and `loaded` has all rows.
  bool afresh = false;
  /// The requested ranges; those that count steps are fixed to the steps of the first look.
  std::vector<StepRange> ranges;
  bool news = false;  ///< There was something that the look before did not have.
  /// When to look again even if nothing changes. Nullopt if only changes matter.
  std::optional<std::chrono::steady_clock::time_point> due;
};

/// Thread-safe. Stateless: what a look must know of earlier ones is in the `Listing`.
class Layout {
 public:
  virtual ~Layout() = default;

  /// Finds and reads what is new since an earlier look at the same trial: `before` is its listing, `collections` are
  /// its collections. If both are null, reads everything.
  virtual Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                              std::shared_ptr<const CollectionsInfo> collections) const = 0;
  /// Returns whether the job is over, as far as it shows without reading.
  [[nodiscard]] virtual bool ended(storage::Storage& /*storage*/) const { return false; }
  /// Returns the folder of the collections, for messages.
  [[nodiscard]] virtual std::string_view collections_place() const noexcept { return {}; }
  /// Returns the folders of all files that a job writes before its end, relative to the trial.
  [[nodiscard]] virtual std::span<const std::string_view> folders() const noexcept {
    static constexpr std::array<std::string_view, 1> all = {""};
    return all;
  }
  /// Returns where a change means that there may be something new.
  [[nodiscard]] virtual storage::WatchScope watched() const { return {{""}, true}; }
  /// Returns the name that the record in a file has, given the stored name in the catalog. Borrowed from `stored` or
  /// the layout.
  [[nodiscard]] virtual std::string_view record_name(std::string_view /*file*/,
                                                     std::string_view stored) const noexcept {
    return stored;
  }
  /// Returns whether rows name only files that looks have seen: one that is missing was removed and is not awaited.
  [[nodiscard]] virtual bool rows_name_seen_files() const noexcept { return false; }
  /// Returns the kinds of values that its records may hold.
  [[nodiscard]] virtual wire::ValueKinds value_kinds() const noexcept { return wire::ValueKinds::tensors; }
  /// Reports files in the trial's folder that are no part of the trial, and damage in files that no look reads whole;
  /// it may be reported already. `used`: the files that rows name. All values were read.
  virtual void check_names(storage::Storage& /*storage*/, const Listing& /*listing*/,
                           const std::unordered_set<std::string>& /*used*/,
                           const std::function<void(Problem)>& /*report*/) const {}

  // Only called for layouts whose listings have `NamedSteps`, or whose rows have no `event_file`:

  /// Reads some of `NamedSteps::files` with at most `jobs` threads, without any effect on `listing`.
  [[nodiscard]] virtual LoadedSteps load(storage::Storage& /*storage*/, const Listing& /*listing*/,
                                         std::span<const StepPart> /*files*/, unsigned /*jobs*/) const {
    return {};
  }
  /// Returns the file that holds the entries of a step file by default.
  [[nodiscard]] virtual std::string event_path(const Listing& /*listing*/, const StepPart& /*file*/) const {
    return {};
  }
  /// The inverse of `event_path`: returns step and worker id of its result. Nullopt if the path is of no step file.
  [[nodiscard]] virtual std::optional<std::pair<std::int64_t, std::uint32_t>> step_of_path(
      const Listing& /*listing*/, std::string_view /*path*/) const {
    return std::nullopt;
  }
};

/// Returns the number of workers that a step needs to be complete: the number that the job saved, else the number of
/// workers that wrote anything; at least 1.
[[nodiscard]] std::size_t workers_needed(const CollectionsInfo& collections, const Listing& listing);

/// Step numbers with the number of workers that have a file there, ascending.
using StepCounts = std::vector<std::pair<std::int64_t, std::size_t>>;
[[nodiscard]] StepCounts count_steps(const NamedSteps& named);

/// Returns whether one of the ranges includes all steps.
[[nodiscard]] bool takes_all(std::span<const StepRange> ranges) noexcept;

/// Tests whether a step is in one of several ranges. Ranges that count steps refer to `steps`.
class RangeFilter {
 public:
  RangeFilter(std::span<const StepRange> ranges, const StepCounts& steps);

  [[nodiscard]] bool holds(std::int64_t step) const noexcept {
    return std::ranges::any_of(bounds_,
                               [step](const Bounds& bounds) { return step >= bounds.first && step <= bounds.last; });
  }

 private:
  struct Bounds {
    std::int64_t first = INT64_MIN;
    std::int64_t last = INT64_MAX;  ///< Below `first`: no step.
  };
  std::vector<Bounds> bounds_;
};

}  // namespace smd::detail::layout
