// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/event_files.hpp"

#include "layout/folder_walk.hpp"
#include "layout/layout_kind.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/path.hpp"
#include "text/words.hpp"
#include "wire/framing.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

namespace smd::detail::layout {

namespace {

constexpr std::string_view event_word = "tfevents";

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns the part after the step in a name that begins with one, as the debugger writes: `worker_0` of
/// `000000000010_worker_0.tfevents`. Nullopt for other names.
std::optional<std::string_view> after_step(std::string_view leaf) noexcept {
  constexpr std::size_t step_digits = 12;
  constexpr std::string_view ending = ".tfevents";
  const std::size_t end = leaf.find('_');
  if (end == leaf.npos || end < step_digits || !all_digits(leaf.substr(0, end)) || !leaf.ends_with(ending)) {
    return std::nullopt;
  }
  leaf.remove_suffix(ending.size());
  return leaf.substr(end + 1);
}

/// Returns whether such a part is a process and a host: then the hook wrote the file for TensorBoard.
bool is_process_and_host(std::string_view part) noexcept {
  const std::size_t end = part.find('_');
  return end != part.npos && end + 1 < part.size() && all_digits(part.substr(0, end)) && part.find('.') == part.npos;
}

/// Returns whether writers give such names: `events.out.tfevents.TIME…`, with a number or `v2` at the end.
bool has_usual_name(std::string_view leaf) noexcept {
  constexpr std::string_view beginning = "events.out.tfevents.";
  const std::string_view last = leaf.substr(leaf.rfind('.') + 1);
  return after_step(leaf) || (leaf.starts_with(beginning) && (all_digits(last) || last == "v2"));
}

/// Also rsync's `.NAME.XXXXXX`.
bool is_of_copy(std::string_view leaf) noexcept { return leaf.starts_with('.') || is_name_of_copy(leaf); }

/// Takes a file if its name is that of an event file. Adds a note if it is that of a copy or a backup of one.
void take_event_file(const std::string& path, EventFiles& files) {
  const std::string_view leaf = text::leaf_of(path);
  if (is_event_file(leaf)) {
    files.paths.push_back(path);
  } else if (leaf.find(event_word) != leaf.npos && is_of_copy(leaf) && !is_apple_double(leaf)) {
    files.notes.add(make_problem(ProblemKind::remark,
                                 in_quotes(path) + " is left out: its name is that of an unfinished copy or a backup"));
  }
}

/// The collections folder of a debugger trial. No folder in such a trial is a run, not even its `tensorboard` folder.
constexpr std::string_view debugger_collections = "collections/000000000";

/// Removes paths in folders that a walk does not visit, for stores without folders: in debugger trials below the
/// folder, and in unfinished copies, with a note.
void leave_out_folders(EventFiles& files, const std::set<std::string>& trials) {
  std::set<std::string> copies;
  std::erase_if(files.paths, [&](const std::string& path) {
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const std::string folder = path.substr(0, slash);
      const bool copy = is_name_of_copy(text::leaf_of(folder));
      if (copy && copies.insert(folder).second) {
        files.notes.add({ProblemKind::remark, folder, {}, std::string(name_is_of_copy)});
      }
      if (copy || trials.contains(folder)) {
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
      take_event_file(name, files);
      if (const std::size_t end = name.find("/" + std::string(debugger_collections) + "/"); end != std::string::npos) {
        trials.insert(name.substr(0, end));
      }
    }
  });
  leave_out_folders(files, trials);
  return listed;
}

Status list_folders(storage::Storage& storage, EventFiles& files) {
  FolderWalk walk(storage, {});
  while (walk.next()) {
    if (!walk.path().empty() && walk.has_folder("collections") && !walk.below(debugger_collections).empty()) {
      continue;
    }
    for (const storage::DirEntry& entry : walk.entries()) {
      if (entry.kind == storage::EntryKind::folder || entry.name.find(event_word) == std::string::npos) {
        continue;
      }
      const std::string path = walk.path_of(entry.name);
      if ((entry.link || entry.kind == storage::EntryKind::other) && is_event_file(path)) {
        if (const auto opened = storage.open(path); !opened) {  // a link to nothing, a FIFO
          files.notes.add(opened.problem());
          continue;
        }
      }
      take_event_file(path, files);
    }
    walk.enter_all();
  }
  files.notes.add(std::move(walk.notes()));
  return walk.failure() ? Status(*walk.failure()) : ok();
}

/// Removes files that are none by their first bytes, with a note.
void leave_out_foreign(storage::Storage& storage, EventFiles& files, CheckedFiles& checked) {
  std::erase_if(files.paths, [&](const std::string& path) {
    const auto [known, added] = checked.try_emplace(path);
    CheckedFile& file = known->second;
    if (added || file.known != nullptr) {
      if (const auto stamp = storage.file_stamp(path); added || !stamp || stamp != file.stamp) {
        file = {stamp, known_event_file(storage, path)};
      }
    }
    if (is_foreign(file.known)) {
      files.notes.add(make_problem(ProblemKind::remark, in_quotes(path) + " is left out: it " + say(*file.known)));
      return true;
    }
    return false;
  });
}

/// Removes what is of other runs beside the sides of one, unless the folder itself has event files.
void keep_own(std::vector<std::string>& paths) {
  if (paths.empty() || run_of(paths.front()).empty()) {
    return;
  }
  std::vector<std::string> runs;
  for (const std::string& path : paths) {
    const std::string_view run = run_of(path);
    if (run.find('/') == run.npos && ends_in_side(run) && (runs.empty() || runs.back() != run)) {
      runs.emplace_back(run);
    }
  }
  const std::vector<std::string> sides = sides_of_one(runs);
  std::erase_if(paths, [&](const std::string& path) { return !contains(sides, path.substr(0, path.find('/'))); });
}

}  // namespace

bool is_event_file(std::string_view path) noexcept {
  const std::string_view leaf = text::leaf_of(path);
  const auto part = after_step(leaf);
  return part ? is_process_and_host(*part)
              : leaf.find(event_word) != leaf.npos && !leaf.ends_with(".profile-empty") && !is_of_copy(leaf);
}

const wire::KnownFile* known_event_file(storage::Storage& storage, const std::string& path) {
  if (storage.remote() && has_usual_name(text::leaf_of(path))) {
    return nullptr;
  }
  const auto first = read_first_bytes(storage, path);
  if (!first ||
      (first->size() >= wire::header_bytes && wire::parse_header(std::span(*first).first<wire::header_bytes>()))) {
    return nullptr;
  }
  const wire::KnownFile* const known = wire::known_file(*first, path);
  // So few bytes may still become anything: as good as none.
  return known == nullptr && first->size() < wire::header_bytes ? wire::known_file({}, path) : known;
}

bool is_foreign(const wire::KnownFile* known) noexcept {
  // An empty file is a job that starts, zeros are what a crash left, and gzip is read.
  constexpr std::array own = {wire::FileKind::empty, wire::FileKind::zeros, wire::FileKind::gzip};
  return known != nullptr && !contains(own, known->kind);
}

std::string_view run_of(std::string_view path) noexcept { return text::folder_of(path); }

// `events.out.tfevents.TIME.HOST.PID.COUNT`, and any suffix that was configured. The host may contain dots and numbers
// too: process and count are the last two adjacent numbers.
std::string_view writer_of(std::string_view path) noexcept {
  const std::string_view leaf = text::leaf_of(path);
  if (const auto part = after_step(leaf)) {
    return *part;
  }
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
  for (std::size_t dot = rest.rfind('.'); dot != rest.npos; dot = rest.rfind('.')) {
    const std::string_view part = rest.substr(dot + 1);
    if (all_digits(part) && all_digits(behind)) {
      return rest;
    }
    behind = part;
    rest = rest.substr(0, dot);
  }
  return leaf;
}

Outcome<EventFiles> find_event_files(storage::Storage& storage, CheckedFiles& checked) {
  EventFiles files;
  const Status listed = storage.remote() ? list_objects(storage, files) : list_folders(storage, files);
  if (!listed) {
    return listed.problem();
  }
  std::ranges::sort(files.paths, {},
                    [](const std::string& path) { return std::pair(run_of(path), text::leaf_of(path)); });
  leave_out_foreign(storage, files, checked);
  keep_own(files.paths);
  return files;
}

bool ends_in_side(std::string_view name) {
  const std::vector<std::string> words = text::split_words(name);
  return !words.empty() && text::side_of_word(words.back(), words.size() == 1) != text::Side::none;
}

std::vector<std::string> sides_of_one(std::span<const std::string> runs) {
  using Words = std::vector<std::string>;
  std::map<Words, std::vector<std::string>> by_rest;  // by the words before the side
  for (const std::string& run : runs) {
    Words rest = text::split_words(run);
    rest.pop_back();
    by_rest[std::move(rest)].push_back(run);
  }
  if (const auto alone = by_rest.find(Words()); alone != by_rest.end()) {
    return alone->second;
  }
  std::erase_if(by_rest, [](const auto& one) { return one.second.size() < 2; });
  return by_rest.size() == 1 ? by_rest.begin()->second : std::vector<std::string>();
}

std::uint32_t WorkersOfRun::begin_file(std::string_view writer, double first_time) {
  if (const auto known = worker_of_.find(writer); known != worker_of_.end()) {
    return known->second;
  }
  const auto free =
      std::find_if(last_times_.begin(), last_times_.end(), [&](double last_time) { return !(first_time < last_time); });
  const auto worker = static_cast<std::uint32_t>(free - last_times_.begin());
  if (free == last_times_.end()) {
    last_times_.push_back(-std::numeric_limits<double>::infinity());
  }
  worker_of_.emplace(writer, worker);
  return worker;
}

void WorkersOfRun::end_file(std::uint32_t worker, double last_time) {
  last_times_[worker] = std::max(last_times_[worker], last_time);
}

std::optional<Held> holds_log_directory(FolderWalk& folder) {
  const auto holds_events = [&](const std::string& below) {
    const Entries& entries = folder.below(below);
    return std::any_of(entries.begin(), entries.end(), [&](const storage::DirEntry& entry) {
      return entry.kind != storage::EntryKind::folder && is_event_file(entry.name) &&
             !is_foreign(known_event_file(folder.storage(), folder.path_of(text::path_in(below, entry.name))));
    });
  };
  if (holds_events({})) {
    return Held{.reads_all_below = true};
  }
  std::vector<std::string> runs;
  for (const storage::DirEntry& entry : folder.entries()) {
    if (entry.kind == storage::EntryKind::folder && ends_in_side(entry.name) && holds_events(entry.name)) {
      runs.push_back(entry.name);
    }
  }
  std::vector<std::string> sides = sides_of_one(runs);
  return sides.empty()
             ? std::nullopt
             : std::optional(Held{.itself = false, .reads_below = [sides = std::move(sides)](std::string_view below) {
                                    return contains(sides, below.substr(0, below.find('/')));
                                  }});
}

}  // namespace smd::detail::layout
