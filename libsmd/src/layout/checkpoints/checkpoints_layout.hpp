// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/checkpoints/checkpoint_files.hpp"
#include "layout/checkpoints/checkpoint_plan.hpp"
#include "layout/checkpoints/shard_index.hpp"
#include "layout/checkpoints/trainer_state.hpp"
#include "layout/layout_kind.hpp"
#include "layout/name_collections.hpp"
#include "storage/storage.hpp"
#include "types/problem_list.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What is known of a checkpoint folder after a look, and what the next look needs.
namespace smd::detail::layout {

/// Caches what was read from files until they change. Copies share the values.
template <class T>
class ReadOnce {
 public:
  /// Drops all files except `paths`. Returns a function for each file that is new or has changed, which reads it with
  /// `read(path)`, a T. The caller must call them all, on any threads, before it uses the cache.
  /// `again`: false if the cache is up to date, so that only new files are read.
  template <class Read>
  [[nodiscard]] std::vector<std::function<void()>> update(storage::Storage& storage,
                                                          const std::vector<std::string>& paths, const Read& read,
                                                          bool again = true) {
    std::map<std::string, Known, std::less<>> next;
    std::vector<std::function<void()>> readings;
    for (const std::string& path : paths) {
      const auto [entry, added] = next.try_emplace(path);
      if (!added) {
        continue;
      }
      const auto known = known_.find(path);
      if (known != known_.end() && !again) {
        entry->second = known->second;
        continue;
      }
      entry->second.stamp = storage.file_stamp(path);
      if (known != known_.end() && entry->second.stamp && known->second.stamp == entry->second.stamp) {
        entry->second.value = known->second.value;
      } else {
        readings.push_back(
            [fresh = &*entry, read] { fresh->second.value = std::make_shared<const T>(read(fresh->first)); });
      }
    }
    known_ = std::move(next);  // does not move the entries, to which `readings` point
    return readings;
  }
  /// Returns the value of a file, which is read if it is new or has changed. The next update keeps or drops it.
  template <class Read>
  std::shared_ptr<const T> find_or_read(storage::Storage& storage, const std::string& path, const Read& read) {
    Known& known = known_[path];
    const auto stamp = storage.file_stamp(path);
    if (!known.value || !stamp || known.stamp != stamp) {
      known = {stamp, std::make_shared<const T>(read(path))};
    }
    return known.value;
  }
  /// Null if the file was not among those of the last update.
  [[nodiscard]] std::shared_ptr<const T> find(std::string_view path) const {
    const auto known = known_.find(path);
    return known == known_.end() ? nullptr : known->second.value;
  }
  template <class Take>
  void for_each(Take take) const {
    for (const auto& [path, known] : known_) {
      take(*known.value);
    }
  }
  /// Makes the next update read a file again, even if its stamp is the same.
  void read_again(std::string_view path) {
    if (const auto known = known_.find(path); known != known_.end()) {
      known->second.stamp.reset();
    }
  }

 private:
  struct Known {
    std::optional<storage::FileStamp> stamp;
    std::shared_ptr<const T> value;
  };
  std::map<std::string, Known, std::less<>> known_;
};

/// The identity of a row: a file at a step under some names.
struct CheckpointRow {
  std::int64_t step = 0;
  std::string path;
  std::string prefix;                            ///< Precedes each tensor's name.
  bool main = false;                             ///< The tensors are the model's own.
  bool facts = false;                            ///< Numbers beside the tensors count too.
  std::uint64_t reading = 0;                     ///< `TensorFileHeader::reading`.
  std::optional<storage::FileStamp> stamp = {};  ///< `TensorFileHeader::stamp`.
  std::uint64_t id = 0;                          ///< `StepPart::id`.

  /// Returns whether it is of the same step and file, which has not changed.
  [[nodiscard]] bool same_file(const CheckpointRow& other) const {
    return step == other.step && path == other.path && (reading == other.reading || (stamp && stamp == other.stamp));
  }
  /// Returns whether its tensors have the same names, too. `facts` may differ: shards come in any order.
  [[nodiscard]] bool same(const CheckpointRow& other) const {
    return same_file(other) && prefix == other.prefix && main == other.main;
  }
};

/// The identity of a row of numbers: a step of the log. Each checkpoint's log repeats those before, so its path does
/// not matter.
struct LogRow {
  std::int64_t step = 0;
  std::uint64_t numbers = 0;  ///< Their hash.
  std::uint64_t id = 0;       ///< `StepPart::id`.
};

/// What a look saw of a file that had come or changed.
struct FileChange {
  std::optional<storage::FileStamp> stamp;
  std::chrono::steady_clock::time_point seen;
  bool at_first_look = false;
};

/// Immutable once shared.
class CheckpointListing final : public Listing {
 public:
  CheckpointListing() {
    add_worker("worker_0");
    rank_workers();
  }

  [[nodiscard]] std::string path(const StepPart& file) const override;
  /// Null if the log has no such step.
  [[nodiscard]] const LogRow* find_log_row(std::int64_t step) const noexcept;

  ReadOnce<TrainerStep> steps;  ///< Of trainer_state.json files.
  ReadOnce<Outcome<ShardIndex>> indexes;
  ReadOnce<TensorFileHeader> headers;
  ReadOnce<Outcome<TrainerLog>> logs;
  std::vector<CheckpointRow> rows;  ///< By id.
  std::string log_path;
  std::vector<LogRow> log_rows;  ///< By step.
  std::uint64_t next_id = 1;
  std::set<std::int64_t> whole;          ///< Steps of checkpoints all of whose files are, or were, there.
  std::set<std::int64_t> lacking_index;  ///< Steps of young checkpoints with shards whose index may still come.
  bool waits = false;                    ///< Some file may still be written.
  std::optional<Problem> steps_repeat;   ///< Of the plan of this look or one before, so that steps stay.
  /// The prefixes of sets that are not the main one beside others, in this look or one before, so that names stay.
  /// True: the others have a main one.
  std::map<std::string, bool> beside;
  std::map<std::string, FileChange, std::less<>> changes;  ///< The last change of each file.
  /// All files that matter, with their stamps; nullopt if some file has none.
  std::optional<std::map<std::string, storage::FileStamp>> seen;
};

/// Returns whether any file that a set's index names exists.
[[nodiscard]] bool has_whole_index(const TensorSet& set, const CheckpointListing& listing);

/// Reports problems of shards and their index, if that could be read: entries that were refused, a stale index, and
/// tensors that are not in the file that it names. Calls `missing` for shards that are not there.
void check_shards(const TensorSet& set, const CheckpointListing& listing, const std::function<void(Problem)>& report,
                  const std::function<void(Problem)>& missing);

/// Returns a row for each step of a log, without ids. `replaced`: set to how many numbers others of their
/// name and step replaced.
[[nodiscard]] std::vector<LogRow> list_log_rows(const TrainerLog& log, std::size_t& replaced);

/// Tensors, each once, by their ids in a table, with the kind of some of their values.
struct FreshNames {
  NameTable::Texts texts;
  std::vector<std::pair<std::uint32_t, ValueKind>> kinds;
};

/// Fills `loaded` with the rows whose ids are at least `first_id`, and returns their tensors' names, for collections.
/// If two files of one step have the same tensor, that of the first file counts, and `problems` reports it.
[[nodiscard]] FreshNames fill_rows(storage::Storage& storage, const CheckpointListing& listing, std::uint64_t first_id,
                                   LoadedSteps& loaded, ProblemList& problems);

}  // namespace smd::detail::layout
