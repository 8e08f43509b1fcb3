// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoint_plan.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace smd::detail::layout {

namespace {

bool matters(std::string_view name) noexcept {
  return is_checkpoint_file(name) || name == distributed_name || name == pipeline_name || is_beside_model(name);
}

/// Notes what a file means for its folder.
void take(CheckpointFolder& folder, storage::DirEntry file) {
  if (is_checkpoint_file(file.name) || file.name == distributed_name) {
    folder.files.push_back(std::move(file));
  } else if (file.name == pipeline_name) {
    folder.is_pipeline = true;
  } else if (is_beside_model(file.name)) {
    folder.beside.push_back(std::move(file.name));
  }
}

void sort(CheckpointFolder& folder) {
  std::sort(folder.files.begin(), folder.files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::sort(folder.folders.begin(), folder.folders.end());
}

Outcome<CheckpointFolder> list_one(storage::Storage& storage, const std::string& path) {
  auto entries = storage.list(path);
  if (!entries) {
    return std::move(entries.problem());
  }
  CheckpointFolder folder;
  for (storage::DirEntry& entry : *entries) {
    if (entry.kind == storage::EntryKind::folder && !entry.name.ends_with(safetensors_ending)) {
      folder.folders.push_back(std::move(entry.name));
    } else {
      take(folder, std::move(entry));
    }
  }
  sort(folder);
  return folder;
}

/// Adds the folders in `path` to `found`. If `components`, also adds the folders in those that may have components.
void list_inner(storage::Storage& storage, const std::string& path, bool components, CheckpointFolders& found) {
  const std::vector<std::string> names = found.folders[path].folders;
  for (const std::string& name : names) {
    const std::string inner = joined(path, name);
    auto folder = list_one(storage, inner);
    if (!folder) {
      if (folder.problem().kind != ProblemKind::not_found) {  // else it was just removed
        folder.problem().file = inner;
        found.notes.add(std::move(folder.problem()));
      }
      continue;
    }
    const bool deeper = components && !folder->folders.empty() && may_have_components(name, folder->is_pipeline);
    if (deeper || !folder->files.empty()) {
      found.folders.emplace(inner, *std::move(folder));
    }
    if (deeper) {
      list_inner(storage, inner, false, found);
    }
  }
}

/// Lists a store without folders: one listing has the names of all files.
Status list_objects(storage::Storage& storage, CheckpointFolders& found) {
  constexpr std::ptrdiff_t deepest = 2;  // STEP/COMPONENT/FILE
  std::map<std::string, std::set<std::string>> inner;
  Status listed = storage.list_below({}, {}, [&](std::span<const std::string> names) {
    for (const std::string& name : names) {
      const std::string path(folder_of(name));
      const std::string leaf(last_part_of(name));
      if (std::count(name.begin(), name.end(), '/') > deepest || !matters(leaf)) {
        continue;
      }
      take(found.folders[path], {leaf, storage::EntryKind::file});
      if (const std::string outer(folder_of(path)); !path.empty()) {
        inner[outer].emplace(last_part_of(path));
        if (!outer.empty()) {
          inner[""].insert(outer);
        }
      }
    }
  });
  for (const auto& [path, names] : inner) {
    found.folders[path].folders.assign(names.begin(), names.end());
  }
  for (auto& [path, folder] : found.folders) {
    sort(folder);
  }
  return listed;
}

}  // namespace

bool CheckpointFolder::has_trainer_state() const noexcept {
  return std::any_of(files.begin(), files.end(), [](const auto& file) { return file.name == trainer_state_name; });
}

const CheckpointFolder* CheckpointFolders::find(std::string_view path) const {
  const auto found = folders.find(path);
  return found == folders.end() ? nullptr : &found->second;
}

Outcome<CheckpointFolders> list_checkpoint_folders(storage::Storage& storage) {
  CheckpointFolders found;
  if (storage.remote()) {
    if (Status listed = list_objects(storage, found); !listed) {
      return std::move(listed.problem());
    }
    return found;
  }
  auto root = list_one(storage, {});
  if (!root) {
    return std::move(root.problem());
  }
  found.folders.emplace("", *std::move(root));
  list_inner(storage, {}, true, found);
  return found;
}

}  // namespace smd::detail::layout
