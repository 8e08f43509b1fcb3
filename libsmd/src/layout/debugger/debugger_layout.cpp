// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/debugger_layout.hpp"

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
  void check_names(storage::Storage& storage, const Listing& /*listing*/, const std::unordered_set<std::string>& used,
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

std::unique_ptr<Layout> debugger_layout(const Opening& /*what*/) { return std::make_unique<DebuggerLayout>(); }

std::optional<Held> holds_debugger_trial(FolderWalk& folder) {
  static constexpr std::array<std::string_view, 4> own = {"collections", index_folder, events_folder, "tensorboard"};
  // Programs have folders of these names too. In a trial, they hold folders with numbers.
  const auto holds_numbers = [&](std::string_view name, std::size_t digits) {
    const auto is_number = [&](const storage::DirEntry& entry) {
      return entry.name.size() >= digits && entry.name.find_first_not_of("0123456789") == std::string::npos;
    };
    return folder.has_folder(name) && std::any_of(folder.below(name).begin(), folder.below(name).end(), is_number);
  };
  constexpr std::size_t thousands_digits = 9;
  constexpr std::size_t step_digits = 12;
  const bool named = folder.path().empty();  // by the user: a trial that may just begin
  const bool held = folder.has(end_marker) ||
                    (named ? folder.has("collections") : holds_numbers("collections", thousands_digits)) ||
                    (named ? folder.has(index_folder) : holds_numbers(index_folder, thousands_digits)) ||
                    holds_numbers(events_folder, step_digits);
  return held ? std::optional(Held{.own_folders = own}) : std::nullopt;
}

}  // namespace smd::detail::layout
