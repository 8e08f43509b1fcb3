// SPDX-License-Identifier: Apache-2.0
#include "trial/trial_path.hpp"

#include "layout/kinds/kinds.hpp"
#include "text/escape.hpp"
#include "trial/opened_trial.hpp"
#include "wire/first_bytes.hpp"

#include <smd/error.hpp>
#include <smd/remote.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

namespace smd::detail::trial {

namespace {

// Not Boost's: loading that library would cost each start of a command a fifth of the time of an empty program.
namespace fs = std::filesystem;
using layout::FolderWalk;
using layout::LayoutKind;

std::string quoted_path(std::string_view text) { return "'" + printable(text) + "'"; }

bool is_dots(const fs::path& path) { return path.filename() == "." || path.filename() == ".."; }

}  // namespace

TrialPath::TrialPath(std::string_view path) : path_(path) {
  while (path_.size() > 1 && path_.ends_with('/') && !path_.ends_with("://")) {
    path_.pop_back();
  }
}

std::string TrialPath::name() const {
  std::error_code error;
  const bool dots = !is_remote_path(path_) && is_dots(path_);
  return last_part(dots ? fs::canonical(path_, error).string() : path_);
}

std::string TrialPath::path_of(std::string_view below) const {
  return below.empty() ? path_ : path_ + (path_.ends_with('/') ? "" : "/") + std::string(below);
}

std::optional<FileOperand> file_operand(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  FileOperand operand{slash == path.npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1)),
                      path.substr(slash + 1)};
  if (is_remote_path(path)) {
    const auto kinds = layout::kinds();
    const bool may_be = std::any_of(kinds.begin(), kinds.end(), [&](const LayoutKind& kind) {
      return kind.holds_file != nullptr && kind.reads_file(operand.name);
    });
    return may_be ? std::optional(std::move(operand)) : std::nullopt;
  }
  std::error_code error;
  const auto type = fs::symlink_status(path, error).type();
  return error || type == fs::file_type::not_found || fs::is_directory(path, error) ? std::nullopt
                                                                                    : std::optional(std::move(operand));
}

void require_layout(const std::string& name) {
  const auto kinds = layout::kinds();
  if (name.empty() ||
      std::any_of(kinds.begin(), kinds.end(), [&](const LayoutKind& kind) { return kind.traits.name == name; })) {
    return;
  }
  std::string names;
  for (const LayoutKind& kind : kinds) {
    names.append(names.empty() ? "" : ", ").append(kind.traits.name);
  }
  throw InvalidArgument("there is no layout " + quoted_path(name) + "; there are " + names);
}

std::optional<std::string> trial_around(const TrialPath& where, std::string_view kind) {
  if (is_remote_path(where.path())) {
    return std::nullopt;  // seldom useful enough for requests
  }
  std::error_code error;
  fs::path inner = fs::path(where.path()).lexically_normal();
  inner = is_dots(inner) ? fs::canonical(inner, error) : inner;
  std::string below;
  const int levels = kind.empty() ? 4 : 1;  // `index/000000000/FILE` in a trial
  for (int level = 0; level < levels && !error && inner.has_filename() && !is_dots(inner); ++level) {
    below.insert(0, below.empty() ? "" : "/").insert(0, inner.filename().string());
    inner = inner.has_parent_path() ? inner.parent_path() : fs::path(".");
    const auto storage = storage::open_local_with_links(inner.string());
    if (!storage) {
      return std::nullopt;
    }
    // The look around a trial must not cost more than the trial: thousands of runs lie side by side.
    FolderWalk walk(**storage, TrialPath(inner.string()).name(),
                    {.names_of_one = kind.empty() ? storage::all_names : 1'000});
    // Of that layout alone: to ask for others could mean to look into each of very many folders.
    const layout::Recognised around = walk.next() ? layout::recognise(walk, kind) : layout::Recognised();
    if (around.kind != nullptr && (!kind.empty() || !around.held.own_folders.empty()) && around.held.reads(below)) {
      return inner.string();
    }
  }
  return std::nullopt;
}

std::string name_some(std::span<const std::string> names, std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + quoted_path(names[i]);
  }
  return names.size() > shown ? text + " and " + std::to_string(names.size() - shown) + " more" : text;
}

std::string say_several(const std::string& path, std::span<const std::string> runs, bool at_least) {
  constexpr std::size_t shown = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(shown, runs.size()); ++i) {
    names += (i == 0 ? "" : ", ") + printable(runs[i]);
  }
  return quoted_path(path) + " holds " + (at_least ? "at least " : "") + std::to_string(runs.size()) +
         (runs.size() == 1 ? " run: " : " runs: ") + names + (runs.size() > shown ? " …" : "") +
         "; name one, or all of them with `smd-ls --find " + printable(path) + "`";
}

std::string what_lies_in(storage::Storage& storage) {
  constexpr std::size_t most_names = 8;
  constexpr std::size_t most_told = 3;
  const std::size_t most_opened = storage.remote() ? 8 : 64;
  std::string names;
  std::string told;
  std::size_t files_told = 0;
  std::size_t files_opened = 0;
  FolderWalk walk(storage, {}, {.folders = 100, .names = 1'000});
  while (walk.next()) {
    for (const storage::DirEntry& entry : walk.entries()) {
      if (entry.kind != storage::EntryKind::file || files_told >= most_told || ++files_opened > most_opened) {
        continue;
      }
      const std::string path = walk.path_of(entry.name);
      const auto first = layout::read_first_bytes(storage, path);
      const wire::KnownFile* const known = first ? wire::known_file(*first, path) : nullptr;
      if (known != nullptr && known->kind != wire::FileKind::text && known->kind != wire::FileKind::empty) {
        told += "; " + quoted_path(path) + " " + say(*known);
        ++files_told;
      }
    }
    if (walk.path().empty()) {
      std::vector<std::string> all;
      std::transform(walk.entries().begin(), walk.entries().end(), std::back_inserter(all),
                     [](const storage::DirEntry& entry) { return entry.name; });
      names = name_some(all, most_names);
    }
    walk.enter_all();
  }
  return "(it holds " + (names.empty() ? "nothing" : names) + ")" + told;
}

std::string explain_folder(const TrialPath& where, FolderWalk& walk, std::string_view only) {
  if (const auto trial = trial_around(where, {})) {
    return quoted_path(where.path()) + " lies in the trial " + quoted_path(*trial) + ": name that";
  }
  std::string text =
      quoted_path(where.path()) + " has no " + layout::contents_of_kinds(only) + " " + what_lies_in(walk.storage());
  if (text.ends_with("(it holds nothing)")) {
    return text + "; if the job is still starting, wait for it with smd-wait; else check the path";
  }
  const std::vector<Problem> notes = walk.notes().all();
  const auto unsearched =
      std::find_if(notes.begin(), notes.end(), [](const Problem& note) { return note.kind != ProblemKind::remark; });
  return unsearched == notes.end() ? text : text + "; " + to_string(*unsearched);
}

namespace {

/// Returns the kind of the trial in the file's folder if it reads files of that name; null if none does.
const LayoutKind* kind_that_reads(const FileOperand& file) {
  const auto storage = storage::open_local_with_links(file.folder);
  if (!storage) {
    return nullptr;
  }
  FolderWalk walk(**storage, TrialPath(file.folder).name());
  const layout::Recognised around = walk.next() ? layout::recognise(walk, {}) : layout::Recognised();
  const bool reads = around.kind != nullptr && around.kind->reads_file != nullptr && around.kind->reads_file(file.name);
  return reads ? around.kind : nullptr;
}

}  // namespace

std::optional<std::string> trial_with_file(const TrialPath& where, const FileOperand& file) {
  return kind_that_reads(file) != nullptr ? file.folder : trial_around(where, {});
}

std::string explain_file(const TrialPath& where, const layout::Opening& file, const std::string& folder,
                         const std::optional<std::vector<std::byte>>& first) {
  const wire::KnownFile* const known = first ? wire::known_file(*first, file.file) : nullptr;
  const bool is_text = known != nullptr && known->kind == wire::FileKind::text;
  const bool is_known = known != nullptr && !is_text && known->kind != wire::FileKind::empty;
  const auto kinds = layout::kinds();
  const auto tells = std::find_if(kinds.begin(), kinds.end(), [](const LayoutKind& kind) { return kind.why_not; });
  if (!is_remote_path(where.path())) {
    const LayoutKind* reads = kind_that_reads({folder, file.file});
    reads = is_known && reads != nullptr && reads->holds_file != nullptr ? nullptr : reads;
    const auto trial = reads != nullptr ? std::optional(folder) : trial_around(where, {});
    if (trial && !(is_text && reads != nullptr && reads->why_not != nullptr)) {
      return "lies in the trial " + quoted_path(*trial) + ": name that";
    }
  }
  if (is_text && tells != kinds.end()) {
    return tells->why_not(file, *first);
  }
  return is_known || is_text ? say(*known) : "is not a directory; name the directory of the trial";
}

}  // namespace smd::detail::trial
