// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/tensorboard_layout.hpp"

#include "layout/name_collections.hpp"
#include "wire/first_bytes.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::layout {

namespace {

/// Returns a cursor for reading from the start, which keeps the next row id and the number of workers.
LogCursor emptied(const LogCursor& cursor) {
  LogCursor empty;
  empty.next_row = cursor.next_row;
  empty.workers = cursor.workers;
  empty.checked = cursor.checked;
  return empty;
}

/// Returns whether the job is over: whether the last file of each run ends with a stop.
bool says_end(const LogCursor& cursor) {
  return !cursor.runs.empty() && std::all_of(cursor.runs.begin(), cursor.runs.end(), [&](const LogRun& run) {
    const auto last = std::find_if(run.files.rbegin(), run.files.rend(),
                                   [&](std::uint32_t file) { return cursor.files[file].has_events; });
    return last != run.files.rend() && cursor.files[*last].stopped;
  });
}

Problem placed(Problem problem, const LogFile& file) {
  problem.file = file.path;
  if (file.compressed) {
    problem.text += wire::in_inflated_stream;
  }
  return problem;
}

/// Adds the problem of a file's rest. A file that ends within a record may still be written to, for a time.
void add_rest(const LogFile& file, const LookRequest& request, Found& found, ProblemList& notes) {
  if (!file.rest) {
    return;
  }
  Problem problem = placed(*file.rest, file);
  if (file.cut) {
    const auto given_up = file.cut_since + request.half_written;
    if (!request.as_it_stands && request.now < given_up) {
      problem.kind = ProblemKind::not_yet;
      found.due = std::min(found.due.value_or(given_up), given_up);
    } else {
      problem.text += ": its values are left out; the writer was interrupted, or the file was not copied whole";
    }
  }
  notes.add(std::move(problem));
}

/// Sets the hyperparameters by name; if several runs have some, with the run's name as a prefix.
void name_hyperparameters(LogCursor& cursor) {
  auto& values = cursor.extras.hyperparameters.values;
  values.clear();
  const auto runs = std::count_if(cursor.runs.begin(), cursor.runs.end(),
                                  [](const LogRun& run) { return !run.hyperparameters.empty(); });
  for (const LogRun& run : cursor.runs) {
    for (const auto& [name, json] : run.hyperparameters) {
      values.insert_or_assign(runs > 1 && !run.name.empty() ? run.name + "/" + name : name, json);
    }
  }
}

std::shared_ptr<LogListing> listing_of(std::shared_ptr<const LogCursor> cursor, const LogListing* before,
                                       ProblemList notes, const LookRequest& request, Found& found) {
  auto listing = before == nullptr ? std::make_shared<LogListing>() : std::make_shared<LogListing>(*before);
  listing->notes = ProblemList(limits::problems_per_trial);
  for (const LogFile& file : cursor->files) {
    for (Problem& problem : file.problems.all()) {
      listing->notes.add(placed(std::move(problem), file));
    }
    add_rest(file, request, found, listing->notes);
  }
  listing->notes.add(std::move(notes));
  listing->ended = says_end(*cursor);
  listing->add_workers(cursor->workers);
  if (before == nullptr || cursor != before->cursor) {
    listing->extras = std::make_shared<const Extras>(cursor->extras);
  }
  listing->cursor = std::move(cursor);
  return listing;
}

class TensorboardLayout final : public Layout {
 public:
  [[nodiscard]] wire::ValueKinds value_kinds() const noexcept override { return wire::ValueKinds::summaries; }
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    const auto* const earlier = static_cast<const LogListing*>(before);
    Found found;
    auto cursor = earlier == nullptr   ? std::make_shared<LogCursor>()
                  : request.everything ? std::make_shared<LogCursor>(emptied(*earlier->cursor))
                                       : std::make_shared<LogCursor>(*earlier->cursor);
    auto files = find_event_files(storage, cursor->checked);
    if (!files) {
      return std::move(files.problem());
    }
    found.afresh = earlier != nullptr && request.everything;
    const LogCursor* seen = nullptr;
    while (true) {
      found.loaded = LoadedSteps();
      const LogNews news =
          read_logs(storage, request, *files, *cursor, seen, found, collections, earlier != nullptr && !found.afresh);
      if (news.unchanged) {
        found.collections = std::move(collections);
        found.listing = listing_of(earlier->cursor, earlier, std::move(files->notes), request, found);
        return found;
      }
      if (news.in_order) {
        break;
      }
      cursor = std::make_shared<LogCursor>(emptied(earlier == nullptr ? LogCursor() : *earlier->cursor));
      found.afresh = earlier != nullptr;
      // Events of the same files are not reported as new, although their order or workers changed. If files were
      // replaced, or all rows were requested, all events are new.
      seen = news.intact && earlier != nullptr && !request.everything ? earlier->cursor.get() : nullptr;
    }
    name_hyperparameters(*cursor);
    found.listing = listing_of(std::move(cursor), earlier, std::move(files->notes), request, found);
    return found;
  }
  [[nodiscard]] storage::WatchScope watched() const override { return {{""}, true}; }
  /// Returns the tag: the stored name without the run, and without the prefix of buckets.
  [[nodiscard]] std::string_view record_name(std::string_view file, std::string_view stored) const noexcept override {
    stored = without_bucket_prefix(stored);
    if (const std::string_view run = run_of(file); !run.empty()) {
      stored.remove_prefix(std::min(run.size() + 1, stored.size()));
    }
    return stored;
  }
};

}  // namespace

std::unique_ptr<Layout> tensorboard_layout(const Opening& /*what*/) { return std::make_unique<TensorboardLayout>(); }

std::optional<Held> holds_log_directory(FolderWalk& folder) {
  const auto holds_events = [&](const std::string& below) {
    const Entries& entries = folder.below(below);
    return std::any_of(entries.begin(), entries.end(), [&](const storage::DirEntry& entry) {
      return entry.kind == storage::EntryKind::file && is_event_file(entry.name) &&
             !is_foreign(known_event_file(folder.storage(),
                                          folder.path_of(below.empty() ? entry.name : below + "/" + entry.name)));
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
                                    return std::find(sides.begin(), sides.end(), below.substr(0, below.find('/'))) !=
                                           sides.end();
                                  }});
}

}  // namespace smd::detail::layout
