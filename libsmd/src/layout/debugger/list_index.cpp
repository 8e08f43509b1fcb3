// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/debugger_layout.hpp"

#include "base/parallel.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "layout/folder_walk.hpp"
#include "text/mapped.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

namespace smd::detail::layout {

namespace {

/// If a folder's stamp has been the same for this long when it is listed, no later change can fall into the tick of the
/// stamp. The file system's clock is that of the kernel's timer, at most 10 ms, where a storage has stamps.
constexpr std::chrono::milliseconds stamp_tick(250);

/// Folders deeper than this below `index/` are not listed: the format has one level.
constexpr std::size_t deepest_folder = 16;

Problem stray(std::string path) {
  return {ProblemKind::note, std::move(path), {}, "ignored: the name is not that of an index file"};
}

/// Returns whether an earlier listing had a file. Workers that it did not know have no rank yet.
bool was_listed(const DebuggerListing& listing, const StepPart& file) {
  if (file.worker >= listing.worker_rank.size()) {
    return false;
  }
  const SortedChunks<StepPart>& files = listing.named->files;
  const auto place = files.partition_point([&](const StepPart& other) { return listing.before(other, file); });
  return place != files.end() && *place == file;
}

/// Returns a file in `index/`, and takes it if it is new. If its name is not that of an index file, calls `take_stray`
/// with its path, unless it is temporary, or what macOS keeps beside a file.
template <class TakeStray>
std::optional<StepPart> take_file(DebuggerListing& listing, std::uint32_t folder, std::string_view leaf,
                                  TakeStray&& take_stray) {
  if (leaf.ends_with(".tmp") || is_apple_double(leaf)) {
    return std::nullopt;
  }
  const std::optional<IndexFileName> name = parse_index_file_name(leaf);
  if (!name || name->worker_part.size() > limits::name_bytes) {
    take_stray(std::string(listing.folders[folder]) + "/" + std::string(leaf));
    return std::nullopt;
  }
  const std::uint32_t worker = listing.worker_of(name->worker_part);
  const std::uint32_t own_leaf = is_index_leaf(leaf, *name) ? no_id : listing.leaves.add(leaf);
  const StepPart file = DebuggerListing::file(name->step, worker, folder, own_leaf);
  if (!was_listed(listing, file)) {
    listing.named->fresh.push_back(file);
  }
  return file;
}

/// Returns whether the names of all later steps follow that of `step` in text order, as they do for 12 digits.
bool in_text_order(std::int64_t step) noexcept {
  constexpr std::int64_t last_folder_of_nine_digits = 999'999'000'000;
  return step >= 0 && step < last_folder_of_nine_digits;
}

/// Lists all of `index/` in one listing; with an earlier listing, only steps from `since` on.
Outcome<DebuggerListing> list_remote(storage::Storage& storage, DebuggerListing listing, const DebuggerListing* before,
                                     std::optional<std::int64_t> since) {
  std::string after;
  if (before != nullptr && since && in_text_order(*since)) {
    // The folder of a thousand steps and the digits of the step, without a worker: precedes all names of that step.
    after = index_path(*since, "").substr(index_folder.size() + 1);
    after.erase(after.rfind('_'));
    listing.notes = before->notes;
  }
  std::uint32_t folder_id = no_id;
  std::string folder;
  // The first names in byte order, and the number of others. They come in any order.
  std::set<std::string> strays;
  std::uint64_t more_strays = 0;
  const auto add_stray = [&](std::string path) {
    strays.insert(std::move(path));
    if (strays.size() > limits::problems_per_trial) {
      strays.erase(std::prev(strays.end()));
      ++more_strays;
    }
  };
  const auto listed = storage.list_below(index_folder, after, [&](std::span<const std::string> names) {
    for (const std::string& name : names) {
      const std::size_t slash = name.rfind('/');
      std::string own = std::string(index_folder) + (slash == name.npos ? "" : "/" + name.substr(0, slash));
      if (folder_id == no_id || own != folder) {
        folder = std::move(own);
        folder_id = listing.folders.add(folder);
      }
      take_file(listing, folder_id, std::string_view(name).substr(slash + 1), add_stray);
    }
  });
  if (!listed) {
    return listed.problem();
  }
  ProblemList notes(limits::problems_per_trial);
  for (const std::string& path : strays) {
    notes.add(stray(path));
  }
  for (; more_strays > 0; --more_strays) {
    notes.count(ProblemKind::note);
  }
  listing.take_fresh();
  if (listing.notes.empty()) {
    listing.notes = std::move(notes);
    return listing;
  }
  // Names before `after` were not listed again: their notes stay, and new notes are added once.
  std::unordered_set<std::string> known;
  for (const Problem& note : listing.notes.kept()) {
    known.insert(note.file);
  }
  for (const Problem& note : notes.kept()) {
    if (!known.contains(note.file)) {
      listing.notes.add(note);
    }
  }
  return listing;
}

/// A folder that was looked at: the state known from an earlier listing if it is unchanged, else its entries.
struct SeenFolder {
  std::shared_ptr<FolderState> state;          ///< The new state, still without content; null if `settled` is set.
  std::shared_ptr<const FolderState> settled;  ///< The earlier state, if the folder cannot have changed.
  Outcome<storage::ListedFolder> listed = storage::ListedFolder();
};

/// Looks at one folder. Thread-safe.
SeenFolder look_at(storage::Storage& storage, const std::string& folder, std::shared_ptr<const FolderState> known,
                   std::chrono::steady_clock::time_point now) {
  SeenFolder seen;
  if (known && known->settled && known->stamp == storage.stamp(folder)) {
    seen.settled = std::move(known);
    return seen;
  }
  seen.listed = storage.open_listed(folder);
  const std::optional<storage::FolderStamp> stamp = seen.listed ? seen.listed->stamp : std::nullopt;
  const bool same = known && stamp && known->stamp == stamp;
  seen.state = std::make_shared<FolderState>();
  seen.state->stamp = stamp;
  seen.state->since = same ? known->since : now;
  seen.state->settled = same && now - known->since >= stamp_tick;
  return seen;
}

/// Adds the entries of a folder to the listing and returns the folder's state. Null if the folder does not exist or
/// cannot be read; `trouble` is then set.
std::shared_ptr<const FolderState> take_folder(DebuggerListing& listing, std::uint32_t id, SeenFolder&& seen,
                                               std::optional<Problem>& trouble) {
  if (seen.settled) {
    return std::move(seen.settled);
  }
  if (!seen.listed) {
    trouble = std::move(seen.listed.problem());
    return nullptr;
  }
  const std::string folder(listing.folders[id]);
  const std::shared_ptr<const FolderState> before = listing.folder_states[id];
  std::vector<std::uint64_t> known = before ? before->files : std::vector<std::uint64_t>();
  std::ranges::sort(known);
  const auto add_stray = [&](std::string path) { seen.state->notes.add(stray(std::move(path))); };
  for (const storage::DirEntry& entry : seen.listed->entries) {
    if (entry.kind != storage::EntryKind::folder) {
      Fnv identity{.value = std::hash<std::string_view>()(entry.name)};
      identity.add(entry.inode);
      if (std::ranges::binary_search(known, identity.value)) {  // most files of a folder that grows: nothing to look at
        seen.state->files.push_back(identity.value);
      } else if (const auto file = take_file(listing, id, entry.name, add_stray)) {
        seen.state->files.push_back(identity.value);
        if (before) {
          listing.replaced.push_back(*file);
        }
      }
    } else if (std::ranges::count(folder, '/') < static_cast<std::ptrdiff_t>(deepest_folder)) {
      seen.state->folders.push_back(folder + "/" + entry.name);
    } else {
      seen.state->notes.add({ProblemKind::note, folder + "/" + entry.name, {}, "ignored: nested too deep"});
    }
  }
  return std::move(seen.state);
}

/// The least number of new folders that is listed by several threads.
constexpr std::size_t many_new_folders = 4;

}  // namespace

Outcome<DebuggerListing> list_index(storage::Storage& storage, const DebuggerListing* before,
                                    std::optional<std::int64_t> since, std::chrono::steady_clock::time_point now,
                                    unsigned jobs, OpenFolder& open) {
  DebuggerListing listing(before);
  open = {};
  // First: if the job ends during the listing, it must not appear ended with its last steps missing.
  listing.ended = storage.exists(end_marker);
  listing.ended_at = listing.ended ? storage.written_at(end_marker) : std::nullopt;
  if (storage.remote()) {
    return list_remote(storage, std::move(listing), before, since);
  }
  jobs = storage.readers(jobs);
  std::vector<std::string> folders{std::string(index_folder)};
  while (!folders.empty()) {  // one level after the other
    std::vector<std::uint32_t> ids;
    std::vector<std::shared_ptr<const FolderState>> known;
    for (const std::string& folder : folders) {
      ids.push_back(listing.folders.add(folder));
      listing.folder_states.resize(std::max<std::size_t>(listing.folder_states.size(), ids.back() + std::size_t{1}));
      known.push_back(listing.folder_states[ids.back()]);
    }
    const auto unknown = static_cast<std::size_t>(std::ranges::count(known, nullptr));
    std::vector<std::string> below;
    std::optional<Problem> failure;
    parallel_ordered(
        unknown < many_new_folders ? 1 : jobs, folders.size(), std::size_t{jobs} * 2,
        [&](std::size_t i, unsigned) {
          SeenFolder seen = look_at(storage, folders[i], known[i], now);
          if (seen.listed && folders.size() > 1) {
            seen.listed->folder.reset();  // several would be open until their turn
          }
          return seen;
        },
        [&](std::size_t i, SeenFolder&& seen) {
          open = seen.listed ? OpenFolder{ids[i], std::move(seen.listed->folder)} : OpenFolder();
          std::optional<Problem> trouble;
          listing.folder_states[ids[i]] = take_folder(listing, ids[i], std::move(seen), trouble);
          if (const FolderState* const state = listing.folder_states[ids[i]].get()) {
            below.insert(below.end(), state->folders.begin(), state->folders.end());
            for (Problem& note : state->notes.all(folders[i])) {
              listing.notes.add(std::move(note));
            }
          } else if (trouble->kind != ProblemKind::not_found) {  // else no index yet, or a folder that was just removed
            if (folders[i] == index_folder) {
              failure = *std::move(trouble);
              return false;
            }
            listing.notes.add(*std::move(trouble));
          }
          return true;
        });
    if (failure) {
      return *std::move(failure);
    }
    folders = std::move(below);
  }
  listing.take_fresh();
  return listing;
}

DebuggerListing::DebuggerListing(const DebuggerListing* before)
    : DebuggerListing(before == nullptr ? DebuggerListing() : *before) {
  named->fresh.clear();
  replaced.clear();
  notes = ProblemList(limits::problems_per_trial);
}

std::string DebuggerListing::path(const StepPart& file) const {
  std::string path(folders[folder_of(file)]);
  path.push_back('/');
  append_leaf(path, file);
  return path;
}

void DebuggerListing::append_leaf(std::string& text, const StepPart& file) const {
  if (leaf_of(file) == no_id) {
    append_index_leaf(text, file.step, worker_parts[file.worker]);
  } else {
    text.append(leaves[leaf_of(file)]);
  }
}

std::uint32_t DebuggerListing::worker_of(std::string_view worker_part) {
  const std::uint32_t id = worker_parts.add(worker_part);
  if (id == workers.size()) {
    add_worker(worker_name(worker_part));
  }
  return id;
}

void DebuggerListing::take_fresh() {
  rank_workers();
  std::vector<StepPart>& fresh = named->fresh;
  const auto order = [&](const StepPart& a, const StepPart& b) { return before(a, b); };
  sort_each_once(fresh, order);
  named->files.merge(fresh, order);
  newest_step.resize(workers.size(), INT64_MIN);
  for (const StepPart& file : fresh) {
    std::int64_t& newest = newest_step[file.worker];
    newest = std::max(newest, file.step);
  }
}

}  // namespace smd::detail::layout
