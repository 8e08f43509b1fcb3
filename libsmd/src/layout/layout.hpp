// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sorted_chunks.hpp"
#include "layout/debugger/index_parser.hpp"
#include "layout/name_table.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <smd/collection.hpp>
#include <smd/limits.hpp>
#include <smd/step.hpp>

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// How one kind of trial is laid out in its storage. Nothing above knows the names of files.
namespace smd::detail::layout {

/// One file that tells what one worker saved at one step, known by its name alone.
struct StepFile {
  std::int64_t step = 0;
  std::uint32_t worker = 0;    ///< Id in `Listing::worker_parts`.
  std::uint32_t folder = 0;    ///< Id in `Listing::folders`.
  std::uint32_t leaf = no_id;  ///< Id in `Listing::leaves`; `no_id`: the name that the grammar gives.

  /// By step, then by ids: an order that stays the same in later listings.
  auto operator<=>(const StepFile&) const = default;
};

/// What one folder held when it was last listed.
struct FolderState {
  std::optional<storage::FolderStamp> stamp;
  std::chrono::steady_clock::time_point since;  ///< When the folder was first seen with that stamp.
  bool settled = false;  ///< It was listed so long after that that the same stamp means the same content.
  std::vector<std::string> folders;
  ProblemList notes{limits::problems_per_file};
};

/// What a listing shows without opening anything. Ids stay the same in later listings of the same trial.
struct Listing {
  Listing() = default;
  /// Nothing listed yet, but the ids of an earlier listing.
  explicit Listing(const Listing* before);

  NameTable folders;
  NameTable worker_parts;
  NameTable leaves;
  /// By worker id: the worker's name. Later listings share the texts, so views of them stay valid.
  std::vector<std::shared_ptr<const std::string>> workers;
  std::vector<std::uint32_t> worker_rank;  ///< By worker id: its place in the byte order of names.
  SortedChunks<StepFile> files;            ///< All ever seen, by step, then worker's name, then path.
  std::vector<StepFile> fresh;             ///< Those of them that the listing before did not have, in that order.
  std::vector<std::int64_t> newest_step;   ///< By worker id: the last step that the worker has a file of.
  std::vector<std::shared_ptr<const FolderState>> folder_states;  ///< By folder id; null: not there, or unreadable.
  ProblemList notes{limits::problems_per_trial};  ///< Names that mean nothing; folders that cannot be read.
  bool ended = false;                             ///< The end marker was there before anything else was looked at.

  [[nodiscard]] std::string path(const StepFile& file) const;
  /// The order of `files`.
  [[nodiscard]] bool before(const StepFile& a, const StepFile& b) const {
    return a.step != b.step ? a.step < b.step : before_in_step(a, b);
  }

 private:
  [[nodiscard]] bool before_in_step(const StepFile& a, const StepFile& b) const;
};

/// One step file that was read.
struct StepRow {
  StepFile file;
  std::int64_t mode_step = 0;
  std::uint32_t payload = no_id;     ///< `no_id`: lists nothing, so makes no step.
  std::uint32_t event_file = no_id;  ///< `no_id`: where the grammar puts it; else id of another path.
  Mode mode = Mode::global;
};

/// Step files that were read, with the tables that their rows refer to.
struct LoadedSteps {
  struct Row {
    StepRow row;
    std::uint32_t tables = 0;  ///< Which of `tables` its ids mean.
  };
  struct Failure {
    StepFile file;
    Problem problem;
    bool removed = false;  ///< It was listed, and no longer is.
  };
  std::vector<Row> rows;  ///< In the order asked for; unreadable ones are missing.
  std::vector<IndexTables> tables;
  std::vector<Failure> failures;                  ///< Files that could not be read or parsed.
  ProblemList notes{limits::problems_per_trial};  ///< Entries refused in files that could.
};

/// The trial's collections.
struct CollectionsInfo {
  bool found = false;                             ///< There is at least one collections file.
  std::vector<std::string> workers;               ///< Workers that have one, by name.
  std::optional<std::int64_t> num_workers;        ///< As the first worker's readable file says.
  std::map<std::string, Collection> collections;  ///< The union over all workers.
  std::vector<Problem> problems;
  std::vector<std::string> files;                         ///< Their names within the folder, by worker.
  std::vector<std::optional<storage::FileStamp>> stamps;  ///< Of `files`, before they were read.
};

/// Told, in the calling thread, how many files of how many were read.
using ReadProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Thread-safe; keeps no state between calls.
class Layout {
 public:
  virtual ~Layout() = default;

  /// Lists the steps. `before` is an earlier listing of the same trial, whose ids and files are kept, or null. Folders
  /// that have not changed since then are not listed again; with `since`, a remote store is asked for that step and
  /// later ones only. At most `jobs` threads list folders.
  virtual Outcome<Listing> list(storage::Storage& storage, const Listing* before, std::optional<std::int64_t> since,
                                std::chrono::steady_clock::time_point now, unsigned jobs) const = 0;
  /// Reads step files with at most `jobs` threads. `progress` may be empty.
  virtual LoadedSteps load(storage::Storage& storage, const Listing& listing, std::span<const StepFile> files,
                           unsigned jobs, const ReadProgress& progress) const = 0;
  /// `before` is what was read earlier, or null; given back if there are no other files, none was replaced, and nothing
  /// was wrong. Of a remote store, once all workers have theirs: there each is written once.
  virtual std::shared_ptr<const CollectionsInfo> collections(storage::Storage& storage,
                                                             std::shared_ptr<const CollectionsInfo> before) const = 0;
  virtual bool ended(storage::Storage& storage) const = 0;
  /// Folders that hold all files that a job writes before its end, relative to the trial.
  [[nodiscard]] virtual std::span<const std::string_view> folders() const noexcept = 0;
  /// Where the records of a step file lie if it does not say otherwise.
  [[nodiscard]] virtual std::string event_path(const Listing& listing, const StepFile& file) const = 0;
};

/// The layout of docs/format.md: collections, index and event files.
[[nodiscard]] std::unique_ptr<Layout> debugger_layout();

}  // namespace smd::detail::layout
