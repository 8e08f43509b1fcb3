// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/debugger_layout.hpp"

#include "base/parallel.hpp"
#include "layout/debugger/collections_file.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "layout/debugger/whole_file.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::layout {

namespace {

using ReadFile = Outcome<std::shared_ptr<const KnownCollections>>;

ReadFile read_collections_file(const Outcome<std::unique_ptr<storage::Folder>>& folder, const std::string& leaf,
                               LongFiles& long_files) {
  if (!folder) {
    return folder.problem();
  }
  Buffer buffer;
  const WholeFile whole = read_whole(**folder, leaf, buffer, long_files);
  if (!whole.text) {
    return whole.text.problem();
  }
  return known_collections(*whole.text);
}

/// Passes the entries of the folder of collections to `take`. Sets `folder` if it was opened for this.
template <class Take>
Status list_collections(storage::Storage& storage, Outcome<std::unique_ptr<storage::Folder>>& folder,
                        const Take& take) {
  if (storage.remote()) {
    return storage.list_parts(collections_folder, take);
  }
  auto listed = storage.open_listed(collections_folder);
  if (!listed) {
    return std::move(listed.problem());
  }
  take(listed->entries);
  folder = std::move(listed->folder);
  return ok();
}

/// Collections with the state of their files, which shows whether they must be read again.
struct DebuggerCollections final : CollectionsInfo {
  std::vector<std::string> files;                         ///< Their names within the folder, by worker.
  std::vector<std::optional<storage::FileStamp>> stamps;  ///< Of `files`, before they were read.
};

/// Returns whether the files are those that were read before. Without stamps, equal names mean equal content.
bool same_files(const DebuggerCollections& before, const DebuggerCollections& now) {
  return before.files == now.files &&
         std::equal(before.stamps.begin(), before.stamps.end(), now.stamps.begin(), now.stamps.end(),
                    [](const auto& a, const auto& b) { return !a || !b || a == b; });
}

/// Returns whether all workers that save have their collections, and there were no problems.
bool all_there(const CollectionsInfo& info) {
  return info.found && info.problems.empty() &&
         static_cast<std::int64_t>(info.workers.size()) >= info.num_workers.value_or(1);
}

}  // namespace

std::shared_ptr<const CollectionsInfo> read_collections(storage::Storage& storage,
                                                        std::shared_ptr<const CollectionsInfo> before) {
  if (before && storage.remote() && all_there(*before)) {
    return before;  // each file is written once, so it cannot have changed
  }
  auto result = std::make_shared<DebuggerCollections>();
  DebuggerCollections& info = *result;
  std::vector<std::pair<std::string, std::string>> files;  // worker, leaf
  ProblemList strays(limits::problems_per_trial);
  Outcome<std::unique_ptr<storage::Folder>> folder(nullptr);
  const auto take_entries = [&](const std::vector<storage::DirEntry>& entries) {
    for (const storage::DirEntry& entry : entries) {
      std::string_view part = entry.name;
      if (entry.kind == storage::EntryKind::folder || part.ends_with(".tmp")) {
        continue;
      }
      if (!part.ends_with(collections_suffix) || part.size() == collections_suffix.size()) {
        strays.add({ProblemKind::note,
                    std::string(collections_folder) + "/" + entry.name,
                    {},
                    "ignored: the name is not that of a collections file"});
        continue;
      }
      part.remove_suffix(collections_suffix.size());
      files.emplace_back(worker_name(part), entry.name);
    }
  };
  const Status listed = list_collections(storage, folder, take_entries);
  info.problems = strays.all(std::string(collections_folder));
  if (!listed) {
    if (listed.problem().kind != ProblemKind::not_found) {
      info.problems.push_back(listed.problem());
    }
    return result;
  }
  std::sort(files.begin(), files.end());
  for (const auto& [worker, leaf] : files) {
    info.files.push_back(leaf);
    info.stamps.push_back(*folder ? (*folder)->stamp(leaf)
                                  : storage.file_stamp(std::string(collections_folder) + "/" + leaf));
  }
  if (before && before->problems.empty() && info.problems.empty() &&
      same_files(static_cast<const DebuggerCollections&>(*before), info)) {
    return before;
  }
  info.found = !files.empty();
  if (!*folder) {
    folder = storage.open_folder(collections_folder);
  }
  std::string first_worker;  // that says how many save
  // Most files repeat the one before, and are not looked at again.
  CollectionMap last;
  std::optional<CollectionsUnion> united;
  LongFiles long_files;
  const auto read = [&](std::size_t i, unsigned) { return read_collections_file(folder, files[i].second, long_files); };
  const unsigned jobs = storage.remote() ? storage.parallelism() : 1;
  parallel_ordered(jobs, files.size(), jobs, read, [&](std::size_t i, ReadFile&& one) {
    const auto& [worker, leaf] = files[i];
    if (info.workers.empty() || info.workers.back() != worker) {
      info.workers.push_back(worker);
    }
    const auto add = [&info, path = std::string(collections_folder) + "/" + leaf](Problem problem) {
      problem.file = path;
      info.problems.push_back(std::move(problem));
    };
    if (!one) {
      add(std::move(one.problem()));
      return true;
    }
    const KnownCollections& file = **one;
    std::for_each(file.notes.begin(), file.notes.end(), add);
    const std::int64_t workers = file.num_workers.value_or(1);
    if (!info.num_workers) {
      info.num_workers = workers;
      first_worker = worker;
      last = file.collections;
    } else if (*info.num_workers != workers) {
      add({ProblemKind::warning,
           {},
           {},
           "says that " + std::to_string(workers) + " workers save, that of " + printable(first_worker) + " says " +
               std::to_string(*info.num_workers)});
    }
    if (!file.collections.is(last)) {
      if (!united) {
        united.emplace().add(CollectionMap::Map(*last));
      }
      united->add(CollectionMap::Map(*file.collections));
      last = file.collections;
    }
    return true;
  });
  info.collections = united ? CollectionMap(united->take()) : last;
  return result;
}

}  // namespace smd::detail::layout
