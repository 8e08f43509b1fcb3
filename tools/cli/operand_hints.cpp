// SPDX-License-Identifier: Apache-2.0
#include "cli/operand_hints.hpp"

#include "cli/text.hpp"

#include <algorithm>
#include <array>
#include <boost/filesystem/directory.hpp>
#include <boost/filesystem/operations.hpp>
#include <cstddef>
#include <deque>
#include <optional>
#include <smd/remote.hpp>
#include <smd/trial.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::tool {

namespace {

namespace fs = boost::filesystem;
using boost::system::error_code;

// Not find_trials(): a hint looks at a bounded number of names, so that an error comes at once in any folder.
constexpr std::size_t most_entries = 10'000;  // that are looked at to find trials below a folder
constexpr std::size_t shown_trials = 3;

bool is_folder(const fs::path& path) {
  error_code error;
  return fs::is_directory(path, error);
}

bool has_collections(const fs::path& folder) { return is_folder(folder / "collections"); }

// Makes `./run`, `run/` and `run` the same path.
fs::path trimmed(const std::string& path) {
  fs::path result = fs::path(path).lexically_normal();
  return result.filename_is_dot() && result.has_parent_path() ? result.parent_path() : result;
}

bool is_event_file(std::string_view name) {
  return name.find("tfevents") != name.npos && !name.ends_with(".profile-empty");
}

// Whether an event file of TensorBoard is in the folder or below: such a folder is no part of a trial above, but holds
// several runs. A debugger trial's event files are none.
bool holds_runs(const fs::path& folder) {
  std::size_t entries = most_entries;
  error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator() && entries > 0; entry.increment(error), --entries) {
    error_code unknown;
    const fs::file_type type = entry->status(unknown).type();
    if (type == fs::directory_file && has_collections(entry->path())) {
      entry.disable_recursion_pending();
    } else if (type == fs::regular_file && is_event_file(entry->path().filename().string())) {
      return true;
    }
  }
  return false;
}

// Whether the folder holds a file with a name that is wanted. Looks at `entries` more names at most.
template <class Wanted>
bool holds_file(const fs::path& folder, std::size_t& entries, Wanted wanted) {
  error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator() && entries > 0; entry.increment(error), --entries) {
    error_code unknown;
    if (wanted(entry->path().filename().string()) && entry->status(unknown).type() == fs::regular_file) {
      return true;
    }
  }
  return false;
}

// Whether the folder holds a file that its name marks as a checkpoint or, with `logs`, as an event file of a log
// directory. Looks at `entries` more names at most.
bool holds_files_of_trial(const fs::path& folder, bool logs, std::size_t& entries) {
  return holds_file(folder, entries, [&](const std::string& name) {
    return name.ends_with(".safetensors") || (logs && is_event_file(name));
  });
}

// Whether a folder of that name may be one checkpoint of several: the name has a number, or a label.
bool may_be_step(std::string_view name) {
  constexpr std::array<std::string_view, 4> labels = {"best", "last", "latest", "final"};
  return name.find_first_of("0123456789") != name.npos ||
         std::any_of(labels.begin(), labels.end(), [&](std::string_view label) { return name.ends_with(label); });
}

// Whether it is a folder of checkpoints, which may be in subfolders, or, with `logs`, a log directory.
bool is_trial_of_files(const fs::path& folder, bool logs, std::size_t& entries) {
  if (holds_files_of_trial(folder, logs, entries)) {
    return true;
  }
  error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator() && entries > 0; entry.increment(error)) {
    error_code unknown;
    if (may_be_step(entry->path().filename().string()) && entry->status(unknown).type() == fs::directory_file &&
        holds_files_of_trial(entry->path(), false, entries)) {
      return true;
    }
  }
  return false;
}

// The folder around a path, or the nearest one above it that exists.
fs::path folder_around(const fs::path& path) {
  fs::path folder = path.parent_path();
  while (!folder.empty() && folder != folder.parent_path() && !is_folder(folder)) {
    folder = folder.parent_path();
  }
  return folder.empty() ? fs::path(".") : folder;
}

// The trial that contains a path; nullopt if there is none. The path itself is not considered.
std::optional<fs::path> trial_around(const fs::path& path) {
  for (fs::path folder = path.parent_path(); folder != folder.parent_path(); folder = folder.parent_path()) {
    if (has_collections(folder)) {
      return folder;
    }
  }
  // `index/000000000` within the trial that is the working directory.
  if (path.is_relative() && has_collections(".")) {
    return fs::path(".");
  }
  std::size_t entries = most_entries;
  error_code error;
  const fs::path around = folder_around(path);
  if (fs::exists(path, error)) {
    return !holds_runs(path) && is_trial_of_files(around, true, entries) ? std::optional(around) : std::nullopt;
  }
  // The path may be a folder of files and a tensor's name; a name alone is more likely that of another folder.
  return path.has_parent_path() && holds_files_of_trial(around, true, entries) ? std::optional(around) : std::nullopt;
}

struct Below {
  std::vector<std::string> trials;  // in byte order
  bool all = true;
};

// Which trials lie below a folder; without log directories, which the library reports when it opens the folder above
// them. Level by level, so that a large tree does not hide the trials near its top.
Below trials_below(const fs::path& top) {
  Below below;
  std::deque<fs::path> folders{top};
  std::size_t entries = 0;
  std::size_t names = most_entries;
  while (!folders.empty() && below.all) {
    const fs::path folder = std::move(folders.front());
    folders.pop_front();
    if (folder != top && (has_collections(folder) || is_trial_of_files(folder, false, names))) {
      below.trials.push_back(folder.string());
      continue;
    }
    error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (++entries > most_entries) {
        below.all = false;
        break;
      }
      error_code unknown;
      if (entry->symlink_status(unknown).type() == fs::directory_file) {
        folders.push_back(entry->path());
      }
    }
  }
  below.all = below.all && names > 0;
  std::sort(below.trials.begin(), below.trials.end());
  return below;
}

// Whether all files of a trial's collections folder are compressed copies.
bool holds_compressed_copies(const fs::path& folder) {
  bool compressed = false;
  std::size_t entries = 0;
  error_code error;
  fs::recursive_directory_iterator entry(folder / "collections", error);
  for (; !error && entry != fs::recursive_directory_iterator() && entries < most_entries; entry.increment(error)) {
    error_code unknown;
    if (entry->status(unknown).type() == fs::regular_file) {
      if (entry->path().extension() != ".gz") {
        return false;
      }
      compressed = true;
      ++entries;
    }
  }
  return compressed;
}

std::string archive_hint(const std::string& path) {
  struct Archive {
    std::string_view ending;
    std::string_view program;
  };
  constexpr std::array<Archive, 9> archives = {{{".tar", "tar -xf"},
                                                {".tar.gz", "tar -xf"},
                                                {".tgz", "tar -xf"},
                                                {".tar.xz", "tar -xf"},
                                                {".tar.bz2", "tar -xf"},
                                                {".tar.zst", "tar -xf"},
                                                {".zip", "unzip"},
                                                {".7z", "7z x"},
                                                {".gz", "gunzip -k"}}};
  for (const Archive& archive : archives) {
    if (path.ends_with(archive.ending)) {
      return "is " + std::string(archive.ending == ".gz" ? "a compressed file" : "an archive") + ": unpack it (" +
             std::string(archive.program) + " " + path + ") and name the folder of the trial";
    }
  }
  return {};
}

bool is_pickled_checkpoint(std::string_view name) {
  constexpr std::array<std::string_view, 5> endings = {".pt", ".pth", ".ckpt", ".pkl", "_model.bin"};
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

constexpr const char* not_unpickled =
    " in Python's pickle format, which can run any program when it is read: only safetensors is read here; convert it "
    "(safetensors.torch.save_file)";

bool holds_pickled_checkpoint(const fs::path& folder) {
  std::size_t entries = most_entries;
  return holds_file(folder, entries, is_pickled_checkpoint);
}

// The hint for an operand that joins the names of a trial and of a tensor.
std::string tensor_hint(const fs::path& path, const fs::path& trial) {
  const std::string name = path.lexically_relative(trial).string();
  std::string text = "is not there, but " + single_quoted(trial.string()) + " is a trial";
  try {
    const Trial opened = Trial::open(trial.string());
    if (opened.has_tensor(name)) {
      return text + ": name the trial alone, and the tensor with -n " + single_quoted(name);
    }
    return text + ", which has no tensor " + single_quoted(name) +
           did_you_mean(nearest_names(name, opened.tensor_names()));
  } catch (const Error&) {
    return text;  // opening it reports what is wrong
  }
}

// "2 trials below it: 'run/a', 'run/b'". `what`: `trial`, in some words.
std::string say_below(const fs::path& path, const Below& below, std::string_view what) {
  const std::size_t count = below.trials.size();
  return std::string(count == 1 ? "is " : "are ") + (below.all ? "" : "at least ") + counted(count, what) +
         " below it: " + quoted_list(below.trials, shown_trials) +
         (count > shown_trials ? "; smd-ls --find " + path.string() + " lists them" : "");
}

std::string below_hint(const fs::path& path) {
  const Below below = trials_below(path);
  return below.trials.empty() ? std::string() : "is not a trial, but there " + say_below(path, below, "trial");
}

}  // namespace

bool is_trial_folder(const std::string& path) {
  return has_collections(path) || has_collections(fs::path(path) / "debug-output");
}

std::string beside_runs(const std::string& operand) {
  const fs::path path = trimmed(operand);
  if (operand.empty() || is_remote_path(operand) || !is_folder(path) || !holds_runs(path)) {
    return {};
  }
  const Below below = trials_below(path);
  if (below.trials.empty()) {
    return {};
  }
  const bool steps = std::count_if(below.trials.begin(), below.trials.end(), [&](const std::string& trial) {
                       return fs::path(trial).parent_path() == path && !has_collections(trial) &&
                              may_be_step(fs::path(trial).filename().string());
                     }) > 1;
  return "; there " + say_below(path, below, "other trial") +
         (steps ? " (to read checkpoints as the steps of one trial, link them into a folder without logs)" : "");
}

std::string instead_of_trial(const std::string& operand) {
  if (operand.empty() || operand.starts_with("s3://")) {
    return {};
  }
  const fs::path path = trimmed(operand);
  error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool folder = status.type() == fs::directory_file;
  if (status.type() == fs::regular_file) {
    if (std::string hint = archive_hint(path.string()); !hint.empty()) {
      return hint;
    }
    if (is_pickled_checkpoint(path.string())) {
      return std::string("is a checkpoint") + not_unpickled;
    }
  }
  if (folder && holds_compressed_copies(path)) {
    return "holds compressed copies of a trial's files: uncompress them (gunzip -r " + path.string() + ")";
  }
  if (const std::optional<fs::path> trial = trial_around(path)) {
    return status.type() == fs::file_not_found ? tensor_hint(path, *trial)
                                               : "lies in the trial " + single_quoted(trial->string()) + ": name that";
  }
  if (!folder) {
    return {};
  }
  const std::string below = below_hint(path);
  return below.empty() && holds_pickled_checkpoint(path)
             ? std::string("holds no more than a checkpoint") + not_unpickled
             : below;
}

}  // namespace smd::tool
