// SPDX-License-Identifier: Apache-2.0
#include "layout/folder_walk.hpp"

#include "base/parallel.hpp"
#include "text/mapped.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace smd::detail::layout {

using storage::DirEntry;
using storage::EntryKind;

namespace {

constexpr std::size_t longest_path = 4095;  // PATH_MAX without the NUL at the end

}  // namespace

bool is_name_of_copy(std::string_view leaf) noexcept {
  constexpr std::array<std::string_view, 4> endings = {".tmp", ".part", ".partial", "~"};
  return leaf.starts_with("tmp-checkpoint-") ||
         std::ranges::any_of(endings, [leaf](std::string_view ending) { return leaf.ends_with(ending); });
}

FolderWalk::FolderWalk(storage::Storage& storage, std::string_view name, WalkLimits limits)
    : storage_(storage), place_name_(name), left_(std::move(limits)) {}

std::string_view FolderWalk::name() const noexcept {
  return path_.empty() ? std::string_view(place_name_) : text::leaf_of(path_);
}

std::string FolderWalk::path_of(std::string_view below) const { return text::path_in(path_, below); }

const DirEntry* FolderWalk::find(std::string_view name) const noexcept {
  const auto entry = std::ranges::lower_bound(entries_, name, {}, &DirEntry::name);
  return entry != entries_.end() && entry->name == name ? &*entry : nullptr;
}

/// Counts and sorts what a folder holds.
Outcome<Entries> FolderWalk::counted(Outcome<Entries> entries) {
  if (entries) {
    left_.folders -= std::min<std::size_t>(left_.folders, 1);
    left_.names -= std::min(left_.names, entries->size());
    std::ranges::sort(*entries, [](const auto& a, const auto& b) { return a.name < b.name; });
  }
  return entries;
}

/// Lists the next folders of a remote store side by side: each costs a round trip.
void FolderWalk::list_ahead() {
  const std::size_t count = std::min<std::size_t>({folders_.size(), storage_.parallelism(), left_.folders});
  if (!storage_.remote() || count < 2 || listed_.contains(folders_.front())) {
    return;
  }
  std::vector<Outcome<Entries>> all(count, Entries());
  parallel_for(static_cast<unsigned>(count), count, 1, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      all[i] = storage_.list(folders_[i]);
    }
  });
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i]) {  // else its visit reports the problem
      listed_.emplace(folders_[i], *counted(std::move(all[i])));
    }
  }
}

/// Returns false for a folder that was visited and, with a note, for one that no walk may visit.
bool FolderWalk::may_visit(const std::string& folder, bool link) {
  if (const auto identity = storage_.identity(folder); identity && !visited_.insert(*identity).second) {
    return false;
  }
  const bool of_system = folder == "proc" || folder == "sys" || folder == "dev";  // below `/`
  const std::string_view why = is_name_of_copy(text::leaf_of(folder)) ? name_is_of_copy
                               : link || of_system                    ? storage_.off_limits(folder)
                                                                      : std::string_view();
  if (!why.empty()) {
    notes_.add({ProblemKind::remark, folder, {}, std::string(why)});
  }
  return why.empty();
}

bool FolderWalk::next() {
  while (!folders_.empty() || !links_.empty()) {
    if (left_.stop && left_.stop()) {
      failure_ = make_problem(ProblemKind::stopped, "the search was stopped");
      return false;
    }
    list_ahead();
    const bool link = folders_.empty();
    std::deque<std::string>& from = link ? links_ : folders_;
    std::string folder = std::move(from.front());
    from.pop_front();
    if (!may_visit(folder, link)) {
      continue;
    }
    auto known = listed_.extract(folder);
    if (!known && (left_.folders == 0 || left_.names == 0)) {
      cut_ = true;
      notes_.add(make_problem(ProblemKind::warning,
                              left_.folders == 0
                                  ? "more folders lie below it than the limit (searched_folders): name a folder nearer"
                                  : "more names lie below it than the limit (searched_names): name a folder nearer"));
      return false;
    }
    auto entries =
        known ? Outcome<Entries>(std::move(known.mapped())) : counted(storage_.list_some(folder, left_.names_of_one));
    if (entries) {
      if (entries->size() > left_.names_of_one) {
        cut_ = true;
        return false;
      }
      path_ = std::move(folder);
      entries_ = *std::move(entries);
      return true;
    }
    Problem problem = std::move(entries.problem());
    if (folder.empty()) {
      failure_ = std::move(problem);
      return false;
    }
    if (folder.size() >= longest_path) {
      problem = make_problem(ProblemKind::io,
                             "lies too deep: its path is longer than the system allows; name a folder nearer");
    }
    if (problem.kind != ProblemKind::not_found) {  // else it was just removed
      notes_.add(in_file(std::move(problem), std::move(folder)));
    }
  }
  return false;
}

void FolderWalk::enter_all(std::span<const std::string_view> except) {
  for (const DirEntry& entry : entries_) {
    if (entry.kind == EntryKind::folder && !contains(except, entry.name)) {
      (entry.link ? links_ : folders_).push_back(path_of(entry.name));
    }
  }
}

const Entries& FolderWalk::beside(std::string_view folder) {
  const std::string_view outer = text::folder_of(path_);
  return listed(folder.empty() ? std::string(outer) : text::path_in(outer, folder));
}

const Entries& FolderWalk::listed(std::string path) {
  if (const auto known = listed_.find(path); known != listed_.end()) {
    return known->second;
  }
  auto entries = counted(storage_.list(path));
  if (!entries) {
    static const Entries none;
    return none;  // its visit reports the problem
  }
  return listed_.emplace(std::move(path), *std::move(entries)).first->second;
}

Outcome<std::vector<std::byte>> read_first_bytes(storage::Storage& storage, const std::string& path, std::size_t most) {
  const auto opened = storage.open_at(path, 0, most);
  return opened ? read_first_bytes(**opened, most) : opened.problem();
}

Outcome<std::vector<std::byte>> read_first_bytes(const storage::File& file, std::size_t most) {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(file.size(), most));
  const auto read = file.read_at(0, bytes);
  if (!read) {
    return read.problem();
  }
  bytes.resize(*read);
  return bytes;
}

}  // namespace smd::detail::layout
