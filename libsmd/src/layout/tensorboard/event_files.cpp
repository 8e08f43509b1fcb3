// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/event_files.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <span>
#include <utility>

namespace smd::detail::layout {

namespace {

constexpr std::string_view event_word = "tfevents";

std::string_view leaf_of(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns whether the file is of a debugger trial: `000000000010_worker_0.tfevents`.
bool is_of_debugger(std::string_view leaf) noexcept {
  constexpr std::size_t step_digits = 12;
  const std::size_t end = leaf.find('_');
  return end != std::string_view::npos && end >= step_digits && all_digits(leaf.substr(0, end)) &&
         leaf.ends_with(".tfevents");
}

void sort_by_run(std::vector<std::string>& paths) {
  std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    return std::pair(run_of(a), leaf_of(a)) < std::pair(run_of(b), leaf_of(b));
  });
}

/// Folders that are still to be listed, links after all others.
class ToList {
 public:
  explicit ToList(storage::Storage& storage) : storage_(storage) { add({}, false); }

  void add(std::string folder, bool link) { (link ? links_ : folders_).push_back(std::move(folder)); }

  /// Sets `folder` to the next one that was not visited under another name. Returns false if there is none.
  bool next(std::string& folder) {
    while (!folders_.empty() || !links_.empty()) {
      std::deque<std::string>& from = folders_.empty() ? links_ : folders_;
      folder = std::move(from.front());
      from.pop_front();
      const auto identity = storage_.identity(folder);
      if (!identity || taken_.insert(*identity).second) {
        return true;
      }
    }
    return false;
  }

 private:
  storage::Storage& storage_;
  std::deque<std::string> folders_;
  std::deque<std::string> links_;
  std::set<storage::FolderIdentity> taken_;
};

/// The collections folder of a debugger trial. No folder in such a trial is a run, not even its `tensorboard` folder.
constexpr std::string_view debugger_collections = "/collections/000000000";

/// Removes paths in debugger trials below the folder, for stores without folders.
void leave_out_debugger_trials(std::vector<std::string>& paths, const std::set<std::string>& trials) {
  std::erase_if(paths, [&](const std::string& path) {
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      if (trials.contains(path.substr(0, slash))) {
        return true;
      }
    }
    return false;
  });
}

Status list_objects(storage::Storage& storage, EventFiles& files) {
  std::set<std::string> trials;
  Status listed = storage.list_below({}, {}, [&](std::span<const std::string> names) {
    for (const std::string& name : names) {
      if (is_event_file(name)) {
        files.paths.push_back(name);
      } else if (const std::size_t end = name.find(std::string(debugger_collections) + "/"); end != std::string::npos) {
        trials.insert(name.substr(0, end));
      }
    }
  });
  leave_out_debugger_trials(files.paths, trials);
  return listed;
}

Status list_folders(storage::Storage& storage, EventFiles& files) {
  ToList left(storage);
  for (std::string folder; left.next(folder);) {
    if (!folder.empty() && storage.exists(folder + std::string(debugger_collections))) {
      continue;
    }
    auto entries = storage.list(folder);
    if (!entries) {
      Problem problem = std::move(entries.problem());
      if (folder.empty()) {
        return problem;
      }
      if (problem.kind != ProblemKind::not_found) {  // else it was just removed
        problem.file = std::move(folder);
        files.notes.add(std::move(problem));
      }
      continue;
    }
    std::sort(entries->begin(), entries->end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (storage::DirEntry& entry : *entries) {
      std::string path = folder.empty() ? std::move(entry.name) : folder + "/" + entry.name;
      if (entry.kind == storage::EntryKind::folder) {
        left.add(std::move(path), entry.link);
      } else if (entry.kind == storage::EntryKind::file && is_event_file(path)) {
        files.paths.push_back(std::move(path));
      }
    }
  }
  return ok();
}

}  // namespace

bool is_event_file(std::string_view path) noexcept {
  const std::string_view leaf = leaf_of(path);
  return leaf.find(event_word) != std::string_view::npos && !leaf.ends_with(".profile-empty") && !is_of_debugger(leaf);
}

std::string_view run_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// `events.out.tfevents.TIME.HOST.PID.COUNT`, and any suffix that was configured. The host may contain dots and numbers
// too: process and count are the last two adjacent numbers.
std::string_view writer_of(std::string_view path) noexcept {
  const std::string_view leaf = leaf_of(path);
  const std::size_t word = leaf.find(event_word);
  if (word == std::string_view::npos) {
    return leaf;
  }
  const std::size_t time = word + event_word.size() + 1;
  const std::size_t host = leaf.find('.', std::min(time, leaf.size()));
  if (host == std::string_view::npos || !all_digits(leaf.substr(time, host - time))) {
    return leaf;
  }
  std::string_view rest = leaf.substr(host + 1);
  std::string_view behind;  // the part after the last dot of `rest` that was cut off
  while (true) {
    const std::size_t dot = rest.rfind('.');
    if (dot == std::string_view::npos) {
      return leaf;
    }
    const std::string_view part = rest.substr(dot + 1);
    if (all_digits(part) && all_digits(behind)) {
      return rest;
    }
    behind = part;
    rest = rest.substr(0, dot);
  }
}

Outcome<EventFiles> find_event_files(storage::Storage& storage) {
  EventFiles files;
  const Status listed = storage.remote() ? list_objects(storage, files) : list_folders(storage, files);
  if (!listed) {
    return listed.problem();
  }
  sort_by_run(files.paths);
  return files;
}

}  // namespace smd::detail::layout
