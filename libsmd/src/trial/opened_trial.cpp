// SPDX-License-Identifier: Apache-2.0
#include "trial/opened_trial.hpp"

#include "layout/kinds/kinds.hpp"
#include "storage/s3_module.hpp"
#include "text/escape.hpp"
#include "text/path.hpp"
#include "text/words.hpp"
#include "types/refuse.hpp"
#include "wire/first_bytes.hpp"

#include <smd/find.hpp>
#include <smd/remote.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace smd::detail::trial {

namespace {

// Not Boost's: loading that library would cost each start of a command a fifth of the time of an empty program.
namespace fs = std::filesystem;
using layout::FolderWalk;
using layout::LayoutKind;
using layout::Recognised;

bool is_dots(const fs::path& path) { return path.filename() == "." || path.filename() == ".."; }

/// The folder and name of a single file.
struct FileOperand {
  std::string folder;
  std::string name;
};

/// Splits the path of what is not a folder. Nullopt for a path that does not exist; on a remote store, for one without
/// the name of a checkpoint file.
std::optional<FileOperand> file_operand(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  FileOperand operand{slash == path.npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1)),
                      path.substr(slash + 1)};
  if (is_remote_path(path)) {
    const auto kinds = layout::kinds();
    const bool may_be = std::ranges::any_of(
        kinds, [&](const LayoutKind& kind) { return kind.holds_file != nullptr && kind.reads_file(operand.name); });
    return may_be ? std::optional(std::move(operand)) : std::nullopt;
  }
  std::error_code error;
  const auto type = fs::symlink_status(path, error).type();
  return error || type == fs::file_type::not_found || fs::is_directory(path, error) ? std::nullopt
                                                                                    : std::optional(std::move(operand));
}

/// @throws InvalidArgument if no layout has that name, unless it is empty.
void require_layout(const std::string& name) {
  const auto kinds = layout::kinds();
  if (std::ranges::any_of(kinds, [&](const LayoutKind& kind) { return kind.counts(name); })) {
    return;
  }
  const std::string names = text::joined(kinds, ", ", [](const LayoutKind& kind) { return kind.traits.name; });
  throw InvalidArgument("there is no layout " + in_quotes(name) + "; there are " + names);
}

/// Returns the path of the local trial that reads a folder. `kind`: that of the trial in the folder, of which the trial
/// around it reads more; empty: the folder holds no trial.
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
    // Tries only that layout: others could need a look into each of very many folders.
    const Recognised around = walk.next() ? layout::recognise(walk, kind) : Recognised();
    if (around.kind != nullptr && (!kind.empty() || !around.held.own_folders.empty()) && around.held.reads(below)) {
      return inner.string();
    }
  }
  return std::nullopt;
}

/// Returns a message such as `holds 12 runs: exp1, exp2 …`, with advice. `at_least`: there may be more.
std::string say_several(const std::string& path, std::span<const std::string> runs, bool at_least) {
  constexpr std::size_t shown = 3;
  const std::string names = text::joined(runs.first(std::min(shown, runs.size())), ", ",
                                         [](const std::string& run) { return printable(run); });
  return in_quotes(path) + " holds " + (at_least ? "at least " : "") + text::counted(runs.size(), "run") + ": " +
         names + (runs.size() > shown ? " …" : "") + "; name one, or all of them with `smd-ls --find " +
         printable(path) + "`";
}

/// Returns a message that says of a folder without any trial what it holds instead. `walk`: one that found none.
/// `only`: the only layout that counts; empty: all.
std::string explain_folder(const TrialPath& where, FolderWalk& walk, std::string_view only) {
  if (const auto trial = trial_around(where, {})) {
    return in_quotes(where.path()) + " lies in the trial " + in_quotes(*trial) + ": name that";
  }
  std::string text =
      in_quotes(where.path()) + " has no " + layout::contents_of_kinds(only) + " " + what_lies_in(walk.storage());
  if (text.ends_with("(it holds nothing)")) {
    return text + "; if the job is still starting, wait for it with smd-wait; else check the path";
  }
  const std::vector<Problem> notes = walk.notes().all();
  const auto unsearched =
      std::ranges::find_if(notes, [](const Problem& note) { return note.kind != ProblemKind::remark; });
  return unsearched == notes.end() ? text : text + "; " + to_string(*unsearched);
}

/// Returns the kind of the trial in the file's folder if it reads files of that name; null if none does.
const LayoutKind* kind_that_reads(const FileOperand& file) {
  const auto storage = storage::open_local_with_links(file.folder);
  if (!storage) {
    return nullptr;
  }
  FolderWalk walk(**storage, TrialPath(file.folder).name());
  const Recognised around = walk.next() ? layout::recognise(walk, {}) : Recognised();
  const bool reads = around.kind != nullptr && around.kind->reads_file != nullptr && around.kind->reads_file(file.name);
  return reads ? around.kind : nullptr;
}

/// Returns what a file is that is no trial: a clause that leaves out its path. `first`: its first bytes.
std::string explain_file(const TrialPath& where, const layout::Opening& file, const std::string& folder,
                         const std::vector<std::byte>& first) {
  const wire::KnownFile* const known = wire::known_file(first, file.file);
  const auto kinds = layout::kinds();
  const auto tells = std::ranges::find_if(kinds, [](const LayoutKind& kind) { return kind.why_not; });
  bool is_text = wire::may_be_text(first, file.file) && tells != kinds.end();
  if (!is_remote_path(where.path())) {
    const LayoutKind* const reads = kind_that_reads({folder, file.file});
    const bool says_more = known != nullptr && reads != nullptr && reads->holds_file != nullptr;
    const auto trial = reads != nullptr ? std::optional(folder) : trial_around(where, {});
    if (trial && !says_more) {
      return "lies in the trial " + in_quotes(*trial) + ": name that";
    }
    is_text = is_text && (reads == nullptr || reads->why_not != nullptr);
  }
  return is_text            ? tells->why_not(file, first).text
         : known != nullptr ? say(*known)
                            : "is no log or checkpoint of a known kind; name the directory of the trial";
}

std::unique_ptr<storage::Storage> or_throw(Outcome<std::unique_ptr<storage::Storage>> opened, const std::string& path) {
  if (!opened) {
    throw ReadError(in_file(std::move(opened.problem()), path));
  }
  return *std::move(opened);
}

void remark(OpenedTrial& trial, std::string text, ProblemKind kind = ProblemKind::remark) {
  trial.notes.push_back({kind, {}, {}, std::move(text)});
}

class Opener {
 public:
  Opener(const std::string& path, const TrialOptions& options, const Environment& environment)
      : where_(path),
        options_(options),
        environment_(environment),
        stop_(is_remote_path(path) ? options.remote.stop : unless_short(options.remote.stop)) {
    detail::refuse_if(path.empty(), "the path of a trial is empty");
    require_layout(options.layout);
  }

  OpenedTrial open() {
    if (!environment_.layout && open_file()) {
      return std::move(trial_);
    }
    trial_.storage = open_storage(where_.path());
    if (environment_.layout) {
      trial_.traits = environment_.traits;
      trial_.layout = environment_.layout();
      return std::move(trial_);
    }
    const Recognised found = recognise();
    if (found.kind == nullptr) {
      return open_below();
    }
    trial_.traits = found.kind->traits;
    trial_.layout = open_as(*found.kind, {where_.name(), {}, {}});
    for (const auto& [kind, held] : found.left_out) {
      remark(trial_, in_quotes(where_.path()) + " also holds " + std::string(kind->contents) +
                         (held.example.empty() ? "" : " (" + in_quotes(held.example) + ")") +
                         ", which are left out; `--layout " + std::string(kind->traits.name) + "` reads them");
    }
    note_others(found.held);
    return std::move(trial_);
  }

  [[nodiscard]] bool is_trial_folder() {
    trial_.storage = open_storage(where_.path());
    return recognise().kind != nullptr;
  }

 private:
  [[nodiscard]] std::unique_ptr<storage::Storage> open_storage(const std::string& path) const {
    return or_throw(environment_.open      ? environment_.open(path)
                    : is_remote_path(path) ? storage::open_remote(path, options_.remote, options_.jobs)
                                           : storage::open_local(path),
                    path);
  }
  [[nodiscard]] std::unique_ptr<layout::Layout> open_as(const LayoutKind& kind, layout::Opening what) {
    if (!options_.step_name.empty() && !kind.takes_step_name) {
      remark(trial_, "the name of a step (" + in_quotes(options_.step_name) + ") means nothing in the layout " +
                         std::string(kind.traits.name));
    }
    what.step_name = options_.step_name;
    return kind.open(what);
  }

  /// Opens the trial that a single file is. Returns false if the path does not name a file.
  bool open_file() {
    const std::optional<FileOperand> file = file_operand(where_.path());
    if (!file) {
      return false;
    }
    const bool follow = !environment_.open && !is_remote_path(file->folder);
    auto storage =
        follow ? or_throw(storage::open_local_with_links(file->folder), file->folder) : open_storage(file->folder);
    const auto first = layout::read_beginning(*storage, file->name);
    const layout::Opening what{{}, file->name, options_.step_name};
    if (!first && storage->remote()) {
      return false;  // a prefix
    }
    for (const LayoutKind& kind : layout::kinds()) {
      if (kind.holds_file != nullptr && kind.counts(options_.layout) &&
          (first ? kind.holds_file(what, *first) : kind.reads_file(file->name))) {
        trial_.traits = kind.traits;
        trial_.storage = std::move(storage);
        trial_.layout = open_as(kind, what);
        trial_.file = file->name;
        return true;
      }
    }
    if (!first) {
      throw ReadError(in_file(first.problem(), where_.path()));
    }
    const auto begun = [&](const LayoutKind& kind) {
      return kind.why_not != nullptr && kind.counts(options_.layout) &&
             kind.why_not(what, *first).kind == ProblemKind::not_yet;
    };
    const auto named = [&](const LayoutKind& kind) {  // as a part of such a trial, whatever it holds
      return kind.why_not == nullptr && kind.reads_file != nullptr && kind.reads_file(file->name);
    };
    if (!options_.as_it_stands && std::ranges::any_of(layout::kinds(), begun) &&
        std::ranges::none_of(layout::kinds(), named)) {
      throw ReadError({ProblemKind::not_yet, where_.path(), {}, "has only begun: it has no data yet"});
    }
    throw ReadError({ProblemKind::not_found, where_.path(), {}, explain_file(where_, what, file->folder, *first)});
  }

  /// Lists the place, with links to elsewhere only if no layout that refuses them is there.
  Recognised recognise() {
    list();
    const auto kinds = layout::kinds();
    const bool beneath = std::ranges::any_of(kinds, [&](const LayoutKind& kind) {
      return !kind.follows_links && kind.counts(options_.layout) && kind.holds(*walk_);
    });
    if (!beneath && !environment_.open && !trial_.storage->remote()) {
      trial_.storage = or_throw(storage::open_local_with_links(where_.path()), where_.path());
      list();
    }
    return layout::recognise(*walk_, options_.layout);
  }

  void list() {
    walk_.emplace(*trial_.storage, where_.name(), layout::WalkLimits{.stop = stop_});
    if (!walk_->next()) {
      throw ReadError(in_file(walk_->failure().value_or(Problem()), where_.path()));
    }
  }

  /// Opens the only trial below the place.
  OpenedTrial open_below() {
    std::string below;
    for (const LayoutKind& kind : layout::kinds()) {
      if (kind.counts(options_.layout) && !kind.usual_folder.empty() && walk_->has_folder(kind.usual_folder)) {
        below = kind.usual_folder;
      }
    }
    const bool usual = !below.empty();
    if (!usual) {
      std::vector<std::string> trials = layout::find_trials(*walk_, options_.layout);
      if (walk_->failure()) {
        throw ReadError(*walk_->failure());
      }
      if (trials.size() > 1 || (trials.size() == 1 && walk_->cut())) {
        throw MissingCollectionFiles(say_several(where_.path(), trials, walk_->cut()), where_.path(), true);
      }
      if (trials.empty()) {
        throw MissingCollectionFiles(explain_folder(where_, *walk_, options_.layout), where_.path(), false);
      }
      below = std::move(trials.front());
    }
    OpenedTrial trial = Opener(where_.path_of(below), options_, environment_).open();
    trial.alone_in = usual || trial.storage->remote() ? "" : where_.path();
    remark(trial, in_quotes(where_.path()) + " is no trial itself; its folder " + in_quotes(below) + " is read");
    return trial;
  }

  /// Notes of which trial the place is a part, and which trials below it are left out.
  void note_others(const layout::Held& held) {
    if (!held.own_folders.empty()) {
      return;  // such trials do not lie in each other, and there may be very many side by side
    }
    if (const auto around = trial_around(where_, trial_.traits.name)) {
      remark(trial_, in_quotes(where_.path()) + " is a folder of the trial " + in_quotes(*around), ProblemKind::note);
    }
    if (held.reads_all_below) {
      return;
    }
    // A look at the near ones: it must not take longer than reading the trial.
    FolderWalk walk(*trial_.storage, where_.name(),
                    {.folders = trial_.storage->remote() ? 30U : 1'000U, .names = 10'000, .stop = stop_});
    std::vector<std::string_view> own;
    if (walk.next()) {
      for (const storage::DirEntry& entry : walk.entries()) {
        if (held.reads(entry.name)) {
          own.emplace_back(entry.name);
        }
      }
      walk.enter_all(own);
    }
    constexpr std::size_t most_named = 3;
    const std::vector<std::string>& others = trial_.others =
        walk.next() ? layout::find_trials(walk, {}) : std::vector<std::string>();
    for (std::size_t i = 0; i < std::min(others.size(), most_named); ++i) {
      remark(trial_, in_quotes(others[i]) + " is left out: it is a trial of its own", ProblemKind::other_trial);
    }
    if (others.size() > most_named) {
      remark(trial_,
             std::to_string(others.size() - most_named) + " more trials below " + in_quotes(where_.path()) +
                 " are left out; `smd-ls --find " + printable(where_.path()) + "` lists them",
             ProblemKind::other_trial);
    }
  }

  const TrialPath where_;
  const TrialOptions& options_;
  const Environment& environment_;
  const std::function<bool()> stop_;
  OpenedTrial trial_;
  std::optional<FolderWalk> walk_;
};

}  // namespace

std::string last_part(std::string_view path) {
  const std::size_t end = path.find_last_not_of('/');
  return std::string(end == path.npos ? path : text::leaf_of(path.substr(0, end + 1)));
}

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

std::string what_lies_in(storage::Storage& storage) {
  constexpr std::size_t most_names = 8;
  constexpr std::size_t most_described = 3;
  const std::size_t most_opened = storage.remote() ? 8 : 64;
  std::string names;
  std::string described;
  std::size_t files_described = 0;
  std::size_t files_opened = 0;
  FolderWalk walk(storage, {}, {.folders = 100, .names = 1'000});
  while (walk.next()) {
    for (const storage::DirEntry& entry : walk.entries()) {
      if (entry.kind != storage::EntryKind::file || files_described >= most_described || ++files_opened > most_opened) {
        continue;
      }
      const std::string path = walk.path_of(entry.name);
      const auto first = layout::read_beginning(storage, path);
      const wire::KnownFile* const known = first ? wire::known_file(*first, path) : nullptr;
      const bool is_trial = first && std::ranges::any_of(layout::kinds(), [&](const LayoutKind& kind) {
                              return kind.why_not != nullptr && kind.holds_file({{}, path, {}}, *first);
                            });
      if (is_trial || wire::is_no_text(known)) {
        described += "; " + in_quotes(path) + " " + (is_trial ? "is a trial if you name it" : say(*known));
        ++files_described;
      }
    }
    if (walk.path().empty()) {
      names = text::listed(walk.entries(), most_names,
                           [](const storage::DirEntry& entry) { return in_quotes(entry.name); });
    }
    walk.enter_all();
  }
  return "(it holds " + (names.empty() ? "nothing" : names) + ")" + described;
}

OpenedTrial open_trial(const std::string& path, const TrialOptions& options, const Environment& environment) {
  return Opener(path, options, environment).open();
}

}  // namespace smd::detail::trial

namespace smd {

bool is_remote_path(std::string_view path) noexcept { return path.starts_with("s3://"); }

std::optional<FoundTrial> find_trial(const std::string& path, const TrialOptions& options) {
  try {
    const detail::trial::OpenedTrial trial = detail::trial::open_trial(path, options, {});
    return FoundTrial{trial.storage->root(), trial.traits};
  } catch (const MissingCollectionFiles& error) {
    if (error.ended) {
      throw;
    }
  } catch (const ReadError& error) {
    // Else nothing is there, or only the beginning of a trial.
    if (error.problem.kind != ProblemKind::not_found && error.problem.kind != ProblemKind::not_yet) {
      throw;
    }
  }
  return std::nullopt;
}

std::optional<std::string> trial_at(const std::string& path) {
  if (is_remote_path(path)) {
    return std::nullopt;
  }
  const detail::trial::TrialPath where(path);
  if (const auto file = detail::trial::file_operand(path)) {
    return detail::trial::kind_that_reads(*file) != nullptr ? file->folder : detail::trial::trial_around(where, {});
  }
  try {
    return detail::trial::Opener(path, {}, {}).is_trial_folder() ? std::optional(where.path()) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::string> find_trials(const std::string& path, std::vector<Problem>* problems,
                                     const TrialOptions& options) {
  detail::trial::require_layout(options.layout);
  if (!is_remote_path(path) && detail::trial::file_operand(path)) {
    (void)detail::trial::open_trial(path, options, {});
    return {path};
  }
  const detail::trial::TrialPath where(path);
  const auto in_place = [&](Problem problem) {
    problem.file = where.path_of(problem.file);
    return problem;
  };
  const auto storage = is_remote_path(path) ? detail::storage::open_remote(where.path(), options.remote, options.jobs)
                                            : detail::storage::open_local_with_links(where.path());
  if (!storage) {
    throw ReadError(in_place(storage.problem()));
  }
  detail::layout::FolderWalk walk(**storage, where.name(), {.stop = options.remote.stop});
  if (!walk.next()) {
    throw ReadError(in_place(walk.failure().value_or(Problem())));
  }
  std::vector<std::string> trials = detail::layout::find_trials(walk, options.layout);
  if (walk.failure()) {
    throw ReadError(in_place(*walk.failure()));
  }
  for (std::string& trial : trials) {
    trial = where.path_of(trial);
  }
  if (problems != nullptr) {
    *problems = walk.notes().all();
    std::ranges::for_each(*problems, [&](Problem& problem) { problem = in_place(std::move(problem)); });
    std::ranges::stable_sort(*problems, {}, &Problem::file);
  }
  return trials;
}

}  // namespace smd
