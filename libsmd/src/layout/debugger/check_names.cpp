// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/check_names.hpp"

#include "layout/debugger/trial_paths.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace smd::detail::layout {

namespace {

/// Reports names that are no part of a trial, and event files that no index file names.
class NameCheck {
 public:
  NameCheck(storage::Storage& storage, const std::unordered_set<std::string>& event_files,
            const std::function<void(Problem)>& report)
      : storage_(storage), event_files_(event_files), report_(report) {}

  void folder(const std::string& path, int depth) {
    const auto listed = storage_.list_parts(path, [&](Entries entries) { part(path, depth, std::move(entries)); });
    if (!listed) {
      report_(listed.problem());
    }
  }

 private:
  using Entries = std::vector<storage::DirEntry>;
  static constexpr int deepest = 8;

  void part(const std::string& path, int depth, Entries entries) {
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const auto& entry : entries) {
      const std::string name = path.empty() ? entry.name : path + "/" + entry.name;
      if (entry.kind == storage::EntryKind::folder) {
        if (path.empty() && !is_part(entry.name)) {
          report_(note(name, "this folder is no part of a trial"));
        } else if (depth < deepest && name != "tensorboard") {
          folder(name, depth + 1);
        }
      } else {
        file(name, entry.name, path.empty());
      }
    }
  }

  static Problem note(const std::string& file, const char* text) { return {ProblemKind::note, file, {}, text}; }
  static bool is_part(const std::string& folder) {
    return folder == "collections" || folder == index_folder || folder == events_folder || folder == "tensorboard" ||
           folder == end_marker;
  }

  void file(const std::string& name, const std::string& leaf, bool in_root) {
    if (leaf.ends_with(".tmp")) {
      report_(note(name, "temporary file: being written, or left over by a writer that died"));
    } else if (in_root && leaf != end_marker && leaf != lock_file && leaf != "claim.smd") {
      report_(note(name, "this file is no part of a trial"));
    } else if (name.starts_with("events/") && !event_files_.contains(name)) {
      report_(note(name, "no readable index file names this file"));
    }
  }

  storage::Storage& storage_;
  const std::unordered_set<std::string>& event_files_;
  const std::function<void(Problem)>& report_;
};

}  // namespace

void check_trial_names(storage::Storage& storage, const std::unordered_set<std::string>& event_files,
                       const std::function<void(Problem)>& report) {
  NameCheck(storage, event_files, report).folder("", 0);
}

}  // namespace smd::detail::layout
