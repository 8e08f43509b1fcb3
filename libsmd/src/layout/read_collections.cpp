// SPDX-License-Identifier: Apache-2.0
#include "layout/read_collections.hpp"

#include "base/escape.hpp"
#include "base/parallel.hpp"
#include "layout/collections_file.hpp"
#include "layout/trial_paths.hpp"

#include <smd/limits.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace smd::detail::layout {

namespace {

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

}  // namespace

std::shared_ptr<const CollectionsInfo> read_collections(storage::Storage& storage,
                                                        std::shared_ptr<const CollectionsInfo> before) {
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

}  // namespace smd::detail::layout
