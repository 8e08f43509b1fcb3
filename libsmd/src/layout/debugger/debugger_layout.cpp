// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/list_index.hpp"
#include "layout/debugger/load_steps.hpp"
#include "layout/debugger/read_collections.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "layout/layout.hpp"

#include <array>
#include <utility>

namespace smd::detail::layout {

namespace {

class DebuggerLayout final : public Layout {
 public:
  Outcome<Listing> list(storage::Storage& storage, const Listing* before, std::optional<std::int64_t> since,
                        std::chrono::steady_clock::time_point now, unsigned jobs) const override {
    return list_index(storage, before, since, now, jobs);
  }
  LoadedSteps load(storage::Storage& storage, const Listing& listing, std::span<const StepFile> files, unsigned jobs,
                   const ReadProgress& progress) const override {
    return load_steps(storage, listing, files, jobs, progress);
  }
  std::shared_ptr<const CollectionsInfo> collections(storage::Storage& storage,
                                                     std::shared_ptr<const CollectionsInfo> before) const override {
    return read_collections(storage, std::move(before));
  }
  bool ended(storage::Storage& storage) const override { return storage.exists(end_marker); }
  std::span<const std::string_view> folders() const noexcept override {
    static constexpr std::array<std::string_view, 3> all = {events_folder, index_folder, "collections"};
    return all;
  }
  std::string event_path(const Listing& listing, const StepFile& file) const override {
    return layout::event_path(file.step, listing.worker_parts[file.worker]);
  }
};

}  // namespace

std::unique_ptr<Layout> debugger_layout() { return std::make_unique<DebuggerLayout>(); }

}  // namespace smd::detail::layout
