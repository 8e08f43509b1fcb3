// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/debugger_layout.hpp"

#include "base/parallel.hpp"
#include "layout/debugger/index_parser.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "layout/debugger/whole_file.hpp"
#include "text/mapped.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace smd::detail::layout {

namespace {

/// Reads step files, one after the other. Each thread needs its own loader.
class StepLoader {
 public:
  StepLoader(storage::Storage& storage, const DebuggerListing& listing, LongFiles& long_files, const OpenFolder& open)
      : storage_(storage), listing_(listing), long_files_(long_files), open_(open) {}

  struct Result {
    std::size_t index = 0;  ///< Of the file.
    StepRow row;
    std::optional<Problem> failure;
    ProblemList refused{limits::problems_per_file};
  };

  /// Reads `files`; calls `take(Result)` for each.
  template <class Take>
  void load(std::span<const StepPart> files, Take&& take) {
    leaves_.resize(std::max(leaves_.size(), files.size()));
    views_.clear();
    for (std::size_t i = 0; i < files.size(); ++i) {
      leaves_[i].clear();
      listing_.append_leaf(leaves_[i], files[i]);
      views_.emplace_back(leaves_[i]);
    }
    for (std::size_t first = 0; first < files.size();) {
      std::size_t last = first;
      while (last < files.size() &&
             DebuggerListing::folder_of(files[last]) == DebuggerListing::folder_of(files[first])) {
        ++last;
      }
      load_folder(files.subspan(first, last - first), {views_.data() + first, last - first}, first, take);
      first = last;
    }
  }

  [[nodiscard]] Tables take_tables() { return std::move(parser_.tables()); }

 private:
  template <class Take>
  void load_folder(std::span<const StepPart> files, std::span<const std::string_view> leaves, std::size_t first,
                   Take& take) {
    const std::uint32_t id = DebuggerListing::folder_of(files[0]);
    const bool is_open = open_.folder != nullptr && open_.id == id;
    const Outcome<std::unique_ptr<storage::Folder>> opened =
        is_open ? std::unique_ptr<storage::Folder>() : storage_.open_folder(listing_.folders[id]);
    storage::Folder* const folder = is_open ? open_.folder.get() : opened ? opened->get() : nullptr;
    if (folder != nullptr) {
      folder->announce(leaves);
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      Result result;
      result.index = first + i;
      result.row.file = files[i];
      if (folder != nullptr) {
        load_one(*folder, leaves[i], result);
      } else {
        result.failure = opened.problem();
      }
      take(std::move(result));
    }
  }

  void load_one(storage::Folder& folder, std::string_view leaf, Result& result) {
    const StepPart& file = result.row.file;
    const WholeFile whole = read_whole(folder, leaf, buffer_, long_files_);
    if (!whole.text) {
      result.failure = whole.text.problem();
    } else {
      expected_ = layout::event_path(file.step, listing_.worker_parts[file.worker]);
      Outcome<ParsedIndex> index = parser_.parse(*whole.text, expected_, result.refused);
      if (index) {
        result.row.mode = index->mode;
        result.row.mode_step = index->mode_step;
        result.row.payload = index->payload;
        result.row.event_file = index->event_file;
      } else {
        result.failure = std::move(index.problem());
      }
    }
    if (whole.share) {
      buffer_ = Buffer();
      parser_.trim();
    }
    if (result.failure) {
      result.failure->file = listing_.path(file);
      if (leaf.ends_with(".csv") && result.failure->kind == ProblemKind::damaged) {
        // The reference lists such files but does not write them: most likely it is another program's table.
        result.failure->kind = ProblemKind::note;
        result.failure->text = "ignored: not an index file";
        result.failure->offset.reset();
      }
    }
    if (!result.refused.empty()) {
      result.refused.set_file(listing_.path(file));
    }
  }

  storage::Storage& storage_;
  const DebuggerListing& listing_;
  LongFiles& long_files_;
  const OpenFolder& open_;
  IndexParser parser_;
  Buffer buffer_;
  std::string expected_;
  std::vector<std::string> leaves_;
  std::vector<std::string_view> views_;
};

}  // namespace

LoadedSteps load_steps(storage::Storage& storage, const DebuggerListing& listing, std::span<const StepPart> files,
                       unsigned jobs, const LookRequest* look, const OpenFolder& open) {
  LoadedSteps loaded;
  if (files.empty()) {
    return loaded;
  }
  jobs = storage.readers(jobs);
  // If each file costs a round trip, none may wait behind others while a thread is idle.
  const std::size_t least = storage.remote() ? 1 : 32;
  const std::size_t grain = std::clamp<std::size_t>(files.size() / (std::size_t{jobs} * 8), least, 256);
  LongFiles long_files;
  std::vector<std::unique_ptr<StepLoader>> loaders(jobs);
  // What is not read, or not well, stays without a row.
  std::vector<LoadedSteps::Row> rows(files.size(), LoadedSteps::Row{.row = {}, .count = 0});
  std::vector<StepLoader::Result> odd;  // with a failure, or refused entries
  std::mutex mutex;
  const auto load_piece = [&](std::size_t begin, std::size_t end, unsigned worker) {
    if (!loaders[worker]) {
      loaders[worker] = std::make_unique<StepLoader>(storage, listing, long_files, open);
    }
    loaders[worker]->load(files.subspan(begin, end - begin), [&](StepLoader::Result&& result) {
      result.index += begin;
      rows[result.index] = {.row = result.row, .tables = worker, .count = result.failure ? 0U : 1U};
      if (result.failure || !result.refused.empty()) {
        const std::lock_guard lock(mutex);
        odd.push_back(std::move(result));
      }
    });
  };
  std::atomic<std::uint64_t> done{0};
  parallel_for(jobs, files.size(), grain, [&](std::size_t begin, std::size_t end, unsigned worker) {
    if (look != nullptr && look->stopped()) {
      return;
    }
    load_piece(begin, end, worker);
    const std::uint64_t so_far = done.fetch_add(end - begin, std::memory_order_relaxed) + (end - begin);
    if (worker == 0 && look != nullptr && look->progress != nullptr && *look->progress) {  // the caller's own thread
      (*look->progress)(so_far, files.size());
    }
  });

  // Files that failed for lack of descriptors or memory are read once more, by one thread alone; so are missing ones,
  // which may have been put back.
  for (StepLoader::Result& item : std::exchange(odd, {})) {
    if (item.failure && (item.failure->kind == ProblemKind::io || item.failure->kind == ProblemKind::not_found)) {
      load_piece(item.index, item.index + 1, 0);
    } else {
      odd.push_back(std::move(item));
    }
  }
  std::ranges::sort(odd, {}, &StepLoader::Result::index);
  for (StepLoader::Result& item : odd) {
    const StepPart& file = files[item.index];
    if (item.failure) {
      const bool removed = item.failure->kind == ProblemKind::not_found && !item.failure->dangling;
      loaded.failures.push_back({file, std::move(*item.failure), removed});
    }
    for (Problem& problem : item.refused.all(listing.path(file))) {
      problem.step = GlobalStep(file.step);
      loaded.notes.add(std::move(problem));
    }
  }
  std::erase_if(rows, [](const LoadedSteps::Row& row) { return row.count == 0; });
  loaded.rows = std::move(rows);
  loaded.tables = mapped(loaders, [](const auto& loader) { return loader ? loader->take_tables() : Tables{}; });
  return loaded;
}

}  // namespace smd::detail::layout
