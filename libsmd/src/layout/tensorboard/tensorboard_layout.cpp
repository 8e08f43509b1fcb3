// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/tensorboard_layout.hpp"

#include "layout/series_rows.hpp"
#include "layout/tensorboard/event_files.hpp"
#include "layout/tensorboard/look_at_logs.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace smd::detail::layout {

namespace {

class TensorboardLayout final : public Layout {
 public:
  [[nodiscard]] wire::ValueKinds value_kinds() const noexcept override { return wire::ValueKinds::summaries; }
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    return look_at_logs(storage, request, static_cast<const LogListing*>(before), std::move(collections));
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
