// SPDX-License-Identifier: Apache-2.0
#include "base/escape.hpp"
#include "base/parallel.hpp"
#include "layout/collections_file.hpp"
#include "layout/layout.hpp"
#include "layout/trial_paths.hpp"

#include <smd/limits.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

namespace smd::detail::layout {

Listing::Listing(const Listing* before) {
  if (before != nullptr) {
    *this = Listing(*before);
    fresh.clear();
    notes.clear();
  }
}

std::string Listing::path(const StepFile& file) const {
  std::string path(folders[file.folder]);
  path.push_back('/');
  if (file.leaf == no_id) {
    path.append(index_leaf(file.step, worker_parts[file.worker]));
  } else {
    path.append(leaves[file.leaf]);
  }
  return path;
}

bool Listing::before_in_step(const StepFile& a, const StepFile& b) const {
  if (a.worker != b.worker) {
    return worker_rank[a.worker] < worker_rank[b.worker];
  }
  return a != b && path(a) < path(b);
}

namespace {

/// A folder whose stamp stayed the same for so long before it was listed was not changed within the same tick of the
/// file system's clock (that of the kernel's timer, at most 10 ms, where a storage has stamps).
constexpr std::chrono::milliseconds stamp_tick(250);

/// Folders below `index/` deeper than this are not looked into: the format has one level.
constexpr std::size_t deepest_folder = 16;

class DebuggerLayout final : public Layout {
 public:
  Outcome<Listing> list(storage::Storage& storage, const Listing* before, std::optional<std::int64_t> since,
                        std::chrono::steady_clock::time_point now, unsigned jobs) const override;
  LoadedSteps load(storage::Storage& storage, const Listing& listing, std::span<const StepFile> files, unsigned jobs,
                   const ReadProgress& progress) const override;
  std::shared_ptr<const CollectionsInfo> collections(storage::Storage& storage,
                                                     std::shared_ptr<const CollectionsInfo> before) const override;
  bool ended(storage::Storage& storage) const override { return storage.exists(end_marker); }
  std::string event_path(const Listing& listing, const StepFile& file) const override {
    return layout::event_path(file.step, listing.worker_parts[file.worker]);
  }
};

/// Takes one file of `index/`; names that are none of an index file are noted.
std::optional<StepFile> index_file(Listing& listing, std::uint32_t folder, std::string_view leaf,
                                   std::vector<Problem>& notes) {
  if (leaf.ends_with(".tmp")) {
    return std::nullopt;
  }
  const std::optional<IndexFileName> name = parse_index_file_name(leaf);
  if (!name || name->worker_part.size() > limits::name_bytes) {
    notes.push_back({ProblemKind::note,
                     std::string(listing.folders[folder]) + "/" + std::string(leaf),
                     {},
                     "ignored: the name is not that of an index file"});
    return std::nullopt;
  }
  StepFile file{name->step, listing.worker_parts.add(name->worker_part), folder, no_id};
  if (file.worker == listing.workers.size()) {
    listing.workers.push_back(std::make_shared<const std::string>(worker_name(name->worker_part)));
  }
  if (!is_index_leaf(leaf, *name)) {
    file.leaf = listing.leaves.add(leaf);
  }
  return file;
}

void rank_workers(Listing& listing) {
  std::vector<std::uint32_t> order(listing.workers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(*listing.workers[a], a) < std::tie(*listing.workers[b], b);
  });
  listing.worker_rank.resize(order.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) {
    listing.worker_rank[order[rank]] = rank;
  }
}

/// Whether an earlier listing had a file. Workers that it did not know have no rank yet.
bool was_listed(const Listing& listing, const StepFile& file) {
  if (file.worker >= listing.worker_rank.size()) {
    return false;
  }
  const auto place = listing.files.partition_point([&](const StepFile& other) { return listing.before(other, file); });
  return place != listing.files.end() && *place == file;
}

/// Whether steps from `step` on stand after it in text order too: so it is for all that have 12 digits.
bool in_text_order(std::int64_t step) noexcept {
  constexpr std::int64_t last_folder_of_nine_digits = 999'999'000'000;
  return step >= 0 && step < last_folder_of_nine_digits;
}

/// Takes in the new files of a listing.
void finish(Listing& listing) {
  if (listing.worker_rank.size() != listing.workers.size()) {
    rank_workers(listing);
  }
  const auto order = [&](const StepFile& a, const StepFile& b) { return listing.before(a, b); };
  if (!std::is_sorted(listing.fresh.begin(), listing.fresh.end(), order)) {
    std::sort(listing.fresh.begin(), listing.fresh.end(), order);
  }
  listing.fresh.erase(std::unique(listing.fresh.begin(), listing.fresh.end()), listing.fresh.end());
  listing.files.merge(listing.fresh, order);
  listing.newest_step.resize(listing.workers.size(), INT64_MIN);
  for (const StepFile& file : listing.fresh) {
    std::int64_t& newest = listing.newest_step[file.worker];
    newest = std::max(newest, file.step);
  }
}

/// Lists `index/` at once. With an earlier listing, only what stands from a step on is asked for.
Outcome<Listing> list_remote(storage::Storage& storage, Listing listing, const Listing* before,
                             std::optional<std::int64_t> since) {
  std::string after;
  if (before != nullptr && since && in_text_order(*since)) {
    // Before all names of that step: in its folder of a thousand, its digits without a worker.
    constexpr std::size_t folder_digits = 9;
    constexpr std::int64_t steps_of_folder = 1000;
    append_step_digits(after, *since / steps_of_folder);
    after.erase(0, after.size() - folder_digits);
    after.push_back('/');
    append_step_digits(after, *since);
    listing.notes = before->notes;
  }
  auto names = storage.list_below(index_folder, after);
  if (!names) {
    return std::move(names.problem());
  }
  std::uint32_t folder_id = no_id;
  std::string folder;
  std::vector<Problem> notes;
  for (const std::string& name : *names) {
    const std::size_t slash = name.rfind('/');
    std::string own = std::string(index_folder) + (slash == name.npos ? "" : "/" + name.substr(0, slash));
    if (folder_id == no_id || own != folder) {
      folder = std::move(own);
      folder_id = listing.folders.add(folder);
    }
    const std::optional<StepFile> file =
        index_file(listing, folder_id, std::string_view(name).substr(slash + 1), notes);
    if (file && !was_listed(listing, *file)) {
      listing.fresh.push_back(*file);
    }
  }
  for (Problem& note : notes) {
    if (std::find(listing.notes.begin(), listing.notes.end(), note) == listing.notes.end()) {
      listing.notes.push_back(std::move(note));
    }
  }
  finish(listing);
  return listing;
}

/// A folder as it was found: what an earlier listing knew of it, if it is the same, or what stands in it.
struct SeenFolder {
  std::shared_ptr<FolderState> state;  ///< Without what stands in it; null if `entries` are not to be looked at.
  std::shared_ptr<const FolderState> settled;  ///< Known, and cannot have changed.
  Outcome<std::vector<storage::DirEntry>> entries = std::vector<storage::DirEntry>();
};

/// Looks at one folder. Several threads may do so at once.
SeenFolder look_at(storage::Storage& storage, const std::string& folder, std::shared_ptr<const FolderState> known,
                   std::chrono::steady_clock::time_point now) {
  SeenFolder seen;
  const std::optional<storage::FolderStamp> stamp = storage.stamp(folder);
  const bool same = known && stamp && known->stamp == stamp;
  if (same && known->settled) {
    seen.settled = std::move(known);
    return seen;
  }
  seen.entries = storage.list(folder);
  seen.state = std::make_shared<FolderState>();
  seen.state->stamp = stamp;
  seen.state->since = same ? known->since : now;
  seen.state->settled = same && now - known->since >= stamp_tick;
  return seen;
}

/// Takes in what stands in a folder; null if it is not there or cannot be read, which `trouble` then says.
std::shared_ptr<const FolderState> take_folder(Listing& listing, std::uint32_t id, SeenFolder&& seen,
                                               std::optional<Problem>& trouble) {
  if (seen.settled) {
    return std::move(seen.settled);
  }
  if (!seen.entries) {
    trouble = std::move(seen.entries.problem());
    return nullptr;
  }
  const std::string folder(listing.folders[id]);
  for (const storage::DirEntry& entry : *seen.entries) {
    if (entry.kind != storage::EntryKind::folder) {
      const std::optional<StepFile> file = index_file(listing, id, entry.name, seen.state->notes);
      if (file && !was_listed(listing, *file)) {
        listing.fresh.push_back(*file);
      }
    } else if (std::count(folder.begin(), folder.end(), '/') < static_cast<std::ptrdiff_t>(deepest_folder)) {
      seen.state->folders.push_back(folder + "/" + entry.name);
    } else {
      seen.state->notes.push_back({ProblemKind::note, folder + "/" + entry.name, {}, "ignored: nested too deep"});
    }
  }
  return std::move(seen.state);
}

/// So many folders that no earlier listing knew are worth threads.
constexpr std::size_t many_new_folders = 4;

Outcome<Listing> DebuggerLayout::list(storage::Storage& storage, const Listing* before,
                                      std::optional<std::int64_t> since, std::chrono::steady_clock::time_point now,
                                      unsigned jobs) const {
  Listing listing(before);
  // Asked first: a job that ends while we list must not look ended with its last steps missing.
  listing.ended = ended(storage);
  if (storage.remote()) {
    return list_remote(storage, std::move(listing), before, since);
  }
  jobs = std::max(1u, std::min(jobs, storage.parallelism()));
  std::vector<std::string> folders{std::string(index_folder)};
  while (!folders.empty()) {  // one level after the other
    std::vector<std::uint32_t> ids;
    std::vector<std::shared_ptr<const FolderState>> known;
    for (const std::string& folder : folders) {
      ids.push_back(listing.folders.add(folder));
      listing.folder_states.resize(std::max<std::size_t>(listing.folder_states.size(), ids.back() + std::size_t{1}));
      known.push_back(listing.folder_states[ids.back()]);
    }
    const auto unknown = static_cast<std::size_t>(std::count(known.begin(), known.end(), nullptr));
    std::vector<std::string> below;
    std::optional<Problem> failure;
    parallel_ordered(
        unknown < many_new_folders ? 1 : jobs, folders.size(), std::size_t{jobs} * 2,
        [&](std::size_t i, unsigned) { return look_at(storage, folders[i], known[i], now); },
        [&](std::size_t i, SeenFolder&& seen) {
          std::optional<Problem> trouble;
          listing.folder_states[ids[i]] = take_folder(listing, ids[i], std::move(seen), trouble);
          if (const FolderState* const state = listing.folder_states[ids[i]].get()) {
            below.insert(below.end(), state->folders.begin(), state->folders.end());
            listing.notes.insert(listing.notes.end(), state->notes.begin(), state->notes.end());
          } else if (trouble->kind != ProblemKind::not_found) {  // else no index yet, or a folder that was just removed
            if (folders[i] == index_folder) {
              failure = *std::move(trouble);
              return false;
            }
            listing.notes.push_back(*std::move(trouble));
          }
          return true;
        });
    if (failure) {
      return *std::move(failure);
    }
    folders = std::move(below);
  }
  finish(listing);
  return listing;
}

/// Reads step files, one after the other; what one thread needs.
class StepLoader {
 public:
  StepLoader(storage::Storage& storage, const Listing& listing) : storage_(storage), listing_(listing) {}

  struct Result {
    StepRow row;
    std::optional<Problem> failure;
    std::vector<Problem> refused;
  };

  /// Reads `files`; `take(i, Result)` gets each.
  template <class Take>
  void load(std::span<const StepFile> files, Take&& take) {
    leaves_.resize(std::max(leaves_.size(), files.size()));
    views_.clear();
    for (std::size_t i = 0; i < files.size(); ++i) {
      leaf_of(files[i], leaves_[i]);
      views_.emplace_back(leaves_[i]);
    }
    for (std::size_t first = 0; first < files.size();) {
      std::size_t last = first;
      while (last < files.size() && files[last].folder == files[first].folder) {
        ++last;
      }
      load_folder(files.subspan(first, last - first), {views_.data() + first, last - first}, first, take);
      first = last;
    }
  }

  [[nodiscard]] IndexTables take_tables() { return std::move(parser_.tables()); }

 private:
  void leaf_of(const StepFile& file, std::string& leaf) const {
    leaf.clear();
    if (file.leaf != no_id) {
      leaf.append(listing_.leaves[file.leaf]);
      return;
    }
    append_step_digits(leaf, file.step);
    leaf.push_back('_');
    leaf.append(listing_.worker_parts[file.worker]);
    leaf.append(".json");
  }

  template <class Take>
  void load_folder(std::span<const StepFile> files, std::span<const std::string_view> leaves, std::size_t first,
                   Take& take) {
    Outcome<std::unique_ptr<storage::Folder>> folder = storage_.open_folder(listing_.folders[files[0].folder]);
    if (folder) {
      (*folder)->announce(leaves);
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      Result result;
      result.row.file = files[i];
      if (folder) {
        load_one(**folder, leaves[i], result);
      } else {
        result.failure = folder.problem();
      }
      take(first + i, std::move(result));
    }
  }

  void load_one(storage::Folder& folder, std::string_view leaf, Result& result) {
    const StepFile& file = result.row.file;
    const auto text = folder.read_all(leaf, buffer_, limits::json_bytes);
    if (!text) {
      result.failure = text.problem();
    } else {
      expected_ = layout::event_path(file.step, listing_.worker_parts[file.worker]);
      Outcome<ParsedIndex> index = parser_.parse(*text, expected_, result.refused);
      if (index) {
        result.row.mode = index->mode;
        result.row.mode_step = index->mode_step;
        result.row.payload = index->payload;
        result.row.event_file = index->event_file;
      } else {
        result.failure = std::move(index.problem());
      }
    }
    if (result.failure) {
      result.failure->file = listing_.path(file);
      if (leaf.ends_with(".csv") && result.failure->kind == ProblemKind::damaged) {
        // The reference lists such files, but nothing writes them: another program's table, most likely.
        result.failure->kind = ProblemKind::note;
        result.failure->text = "ignored: not an index file";
        result.failure->offset.reset();
      }
    }
    for (Problem& problem : result.refused) {
      problem.file = listing_.path(file);
    }
  }

  storage::Storage& storage_;
  const Listing& listing_;
  IndexParser parser_;
  Buffer buffer_;
  std::string expected_;
  std::vector<std::string> leaves_;
  std::vector<std::string_view> views_;
};

/// Whether files that could not be found have their names yet: a link that leads nowhere has, a removed file has not.
/// Files of one folder are to be asked for one after the other, so that it is listed once.
class StillListed {
 public:
  StillListed(storage::Storage& storage, const Listing& listing) : storage_(storage), listing_(listing) {}

  bool operator()(const StepFile& file) {
    if (storage_.remote()) {  // has no links
      return false;
    }
    if (folder_ != file.folder) {
      folder_ = file.folder;
      auto entries = storage_.list(listing_.folders[file.folder]);
      entries_ = entries ? *std::move(entries) : std::vector<storage::DirEntry>();
    }
    const std::string path = listing_.path(file);
    const std::string_view leaf = std::string_view(path).substr(path.rfind('/') + 1);
    return std::any_of(entries_.begin(), entries_.end(), [leaf](const auto& entry) { return entry.name == leaf; });
  }

 private:
  storage::Storage& storage_;
  const Listing& listing_;
  std::uint32_t folder_ = no_id;
  std::vector<storage::DirEntry> entries_;
};

LoadedSteps DebuggerLayout::load(storage::Storage& storage, const Listing& listing, std::span<const StepFile> files,
                                 unsigned jobs, const ReadProgress& progress) const {
  LoadedSteps loaded;
  if (files.empty()) {
    return loaded;
  }
  jobs = std::max(1u, std::min(jobs, storage.parallelism()));
  // Where each file costs a round trip, none may wait behind others while a thread is idle.
  const std::size_t least = storage.remote() ? 1 : 32;
  const std::size_t grain = std::clamp<std::size_t>(files.size() / (std::size_t{jobs} * 8), least, 256);
  std::vector<std::unique_ptr<StepLoader>> loaders(jobs);
  std::vector<LoadedSteps::Row> rows(files.size());
  std::vector<std::uint8_t> good(files.size(), 0);
  struct Odd {
    std::size_t index;
    std::optional<Problem> failure;
    std::vector<Problem> refused;
  };
  std::vector<Odd> odd;
  std::mutex mutex;
  const auto load_piece = [&](std::size_t begin, std::size_t end, unsigned worker) {
    if (!loaders[worker]) {
      loaders[worker] = std::make_unique<StepLoader>(storage, listing);
    }
    loaders[worker]->load(files.subspan(begin, end - begin), [&](std::size_t i, StepLoader::Result&& result) {
      rows[begin + i] = {result.row, worker};
      good[begin + i] = result.failure ? 0 : 1;
      if (result.failure || !result.refused.empty()) {
        const std::lock_guard lock(mutex);
        odd.push_back({begin + i, std::move(result.failure), std::move(result.refused)});
      }
    });
  };
  std::atomic<std::uint64_t> done{0};
  parallel_for(jobs, files.size(), grain, [&](std::size_t begin, std::size_t end, unsigned worker) {
    load_piece(begin, end, worker);
    const std::uint64_t so_far = done.fetch_add(end - begin, std::memory_order_relaxed) + (end - begin);
    if (worker == 0 && progress) {  // the caller's own thread
      progress(so_far, files.size());
    }
  });

  // What failed for want of descriptors or memory is tried once more, by one thread alone; so is what was gone, as it
  // may have been put back.
  std::vector<Odd> first_try = std::move(odd);
  odd.clear();
  for (Odd& item : first_try) {
    if (item.failure && (item.failure->kind == ProblemKind::io || item.failure->kind == ProblemKind::not_found)) {
      load_piece(item.index, item.index + 1, 0);
    } else {
      odd.push_back(std::move(item));
    }
  }
  std::sort(odd.begin(), odd.end(), [](const Odd& a, const Odd& b) { return a.index < b.index; });
  StillListed still_listed(storage, listing);
  for (Odd& item : odd) {
    if (item.failure) {
      const StepFile& file = files[item.index];
      const bool removed = item.failure->kind == ProblemKind::not_found && !still_listed(file);
      loaded.failures.push_back({file, std::move(*item.failure), removed});
    }
    std::move(item.refused.begin(), item.refused.end(), std::back_inserter(loaded.notes));
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (good[i] != 0) {
      rows[kept++] = rows[i];
    }
  }
  rows.resize(kept);
  loaded.rows = std::move(rows);
  for (const auto& loader : loaders) {
    loaded.tables.push_back(loader ? loader->take_tables() : IndexTables{});
  }
  return loaded;
}

/// One collections file, and what was odd in it.
struct ReadCollections {
  Outcome<CollectionsFile> file;
  std::vector<Problem> notes;
};

ReadCollections read_collections_file(const Outcome<std::unique_ptr<storage::Folder>>& folder,
                                      const std::string& leaf) {
  if (!folder) {
    return {folder.problem(), {}};
  }
  Buffer buffer;
  const auto text = (*folder)->read_all(leaf, buffer, limits::json_bytes);
  if (!text) {
    return {text.problem(), {}};
  }
  std::vector<Problem> notes;
  Outcome<CollectionsFile> file = parse_collections_file(*text, notes);
  return {std::move(file), std::move(notes)};
}

/// Whether these files are those that were read before. Where there are no stamps, a name stands for its content.
bool same_files(const CollectionsInfo& before, const CollectionsInfo& now) {
  return before.files == now.files &&
         std::equal(before.stamps.begin(), before.stamps.end(), now.stamps.begin(), now.stamps.end(),
                    [](const auto& a, const auto& b) { return !a || !b || a == b; });
}

/// As many workers as save have theirs, and nothing was wrong.
bool all_there(const CollectionsInfo& info) {
  return info.found && info.problems.empty() &&
         static_cast<std::int64_t>(info.workers.size()) >= info.num_workers.value_or(1);
}

std::shared_ptr<const CollectionsInfo> DebuggerLayout::collections(
    storage::Storage& storage, std::shared_ptr<const CollectionsInfo> before) const {
  if (before && storage.remote() && all_there(*before)) {
    return before;  // each is written once, so that asking again would tell nothing
  }
  auto result = std::make_shared<CollectionsInfo>();
  CollectionsInfo& info = *result;
  auto entries = storage.list(collections_folder);
  if (!entries) {
    if (entries.problem().kind != ProblemKind::not_found) {
      info.problems.push_back(std::move(entries.problem()));
    }
    return result;
  }
  std::vector<std::pair<std::string, std::string>> files;  // worker, leaf
  for (storage::DirEntry& entry : *entries) {
    std::string_view part = entry.name;
    if (entry.kind == storage::EntryKind::folder || part.ends_with(".tmp")) {
      continue;
    }
    if (!part.ends_with(collections_suffix) || part.size() == collections_suffix.size()) {
      info.problems.push_back({ProblemKind::note,
                               std::string(collections_folder) + "/" + entry.name,
                               {},
                               "ignored: the name is not that of a collections file"});
      continue;
    }
    part.remove_suffix(collections_suffix.size());
    files.emplace_back(worker_name(part), entry.name);
  }
  std::sort(files.begin(), files.end());
  for (const auto& [worker, leaf] : files) {
    info.files.push_back(leaf);
    info.stamps.push_back(storage.file_stamp(std::string(collections_folder) + "/" + leaf));
  }
  if (before && before->problems.empty() && info.problems.empty() && same_files(*before, info)) {
    return before;
  }
  info.found = !files.empty();
  Outcome<std::unique_ptr<storage::Folder>> folder = storage.open_folder(collections_folder);
  std::vector<std::pair<std::string, std::int64_t>> claims;
  const auto read = [&](std::size_t i, unsigned) { return read_collections_file(folder, files[i].second); };
  const unsigned jobs = storage.remote() ? storage.parallelism() : 1;
  parallel_ordered(jobs, files.size(), jobs, read, [&](std::size_t i, ReadCollections&& one) {
    const auto& [worker, leaf] = files[i];
    if (info.workers.empty() || info.workers.back() != worker) {
      info.workers.push_back(worker);
    }
    const auto add = [&info, path = std::string(collections_folder) + "/" + leaf](Problem problem) {
      problem.file = path;
      info.problems.push_back(std::move(problem));
    };
    if (!one.file) {
      add(std::move(one.file.problem()));
      return true;
    }
    std::for_each(one.notes.begin(), one.notes.end(), add);
    const std::int64_t workers = one.file->num_workers.value_or(1);
    claims.emplace_back(worker, workers);
    if (!info.num_workers) {
      info.num_workers = workers;
    } else if (*info.num_workers != workers) {
      add({ProblemKind::warning,
           {},
           {},
           "says that " + std::to_string(workers) + " workers save, that of " + printable(claims.front().first) +
               " says " + std::to_string(*info.num_workers)});
    }
    merge_collections(info.collections, one.file->collections);
    return true;
  });
  return result;
}

}  // namespace

std::unique_ptr<Layout> debugger_layout() { return std::make_unique<DebuggerLayout>(); }

}  // namespace smd::detail::layout
