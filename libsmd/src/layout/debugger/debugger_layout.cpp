// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/debugger_layout.hpp"

#include "layout/debugger/check_names.hpp"
#include "layout/debugger/load_steps.hpp"
#include "layout/debugger/look.hpp"
#include "layout/debugger/trial_paths.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace smd::detail::layout {

namespace {

/// Casts a listing of this layout, which makes no other type.
const DebuggerListing& own(const Listing& listing) { return static_cast<const DebuggerListing&>(listing); }

class DebuggerLayout final : public Layout {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "debugger"; }
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    return look_at_trial(storage, request, before == nullptr ? nullptr : &own(*before), std::move(collections));
  }
  bool ended(storage::Storage& storage) const override { return storage.exists(end_marker); }
  std::string_view collections_place() const noexcept override { return collections_folder; }
  std::span<const std::string_view> folders() const noexcept override {
    static constexpr std::array<std::string_view, 3> all = {index_folder, events_folder, "collections"};
    return all;
  }
  storage::WatchScope watched() const override { return {{index_folder, "collections"}}; }
  void check_names(storage::Storage& storage, const std::unordered_set<std::string>& used,
                   const std::function<void(Problem)>& report) const override {
    check_trial_names(storage, used, report);
  }
  LoadedSteps load(storage::Storage& storage, const Listing& listing, std::span<const StepPart> files,
                   unsigned jobs) const override {
    return load_steps(storage, own(listing), files, jobs, nullptr, {});
  }
  std::string event_path(const Listing& listing, const StepPart& file) const override {
    return layout::event_path(file.step, own(listing).worker_parts[file.worker]);
  }
  std::optional<std::pair<std::int64_t, std::uint32_t>> step_of_path(const Listing& listing,
                                                                     std::string_view path) const override {
    const std::optional<std::int64_t> step = event_file_step(path);
    if (!step) {
      return std::nullopt;
    }
    std::string_view part = path.substr(path.rfind('/') + 1);
    part.remove_prefix(part.find('_') + 1);
    part = part.substr(0, part.rfind('.'));
    const std::uint32_t worker = own(listing).worker_parts.find(part);
    return worker == no_id ? std::nullopt : std::optional(std::pair(*step, worker));
  }
};

}  // namespace

std::unique_ptr<Layout> debugger_layout() { return std::make_unique<DebuggerLayout>(); }

bool holds_index_files(storage::Storage& storage) { return storage.exists(index_folder); }

bool holds_debugger_trial(storage::Storage& storage) {
  if (storage.exists("collections") || holds_index_files(storage) || storage.exists(end_marker)) {
    return true;
  }
  // A run of a log directory may have the same name. In a trial, the folder has a folder for each step.
  if (!storage.exists(events_folder)) {
    return false;
  }
  const auto entries = storage.list(events_folder);
  return !entries || entries->empty() ||
         std::any_of(entries->begin(), entries->end(), [](const storage::DirEntry& entry) {
           constexpr std::size_t step_digits = 12;
           return entry.name.size() >= step_digits && entry.name.find_first_not_of("0123456789") == std::string::npos;
         });
}

}  // namespace smd::detail::layout
