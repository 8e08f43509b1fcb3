// SPDX-License-Identifier: Apache-2.0
#include "layout/series_rows.hpp"
#include "layout/wandb/look_at_wandb.hpp"
#include "layout/wandb/run_file.hpp"
#include "wire/wandb_record.hpp"

namespace smd::detail::layout {

namespace {

class WandbLayout final : public Layout {
 public:
  explicit WandbLayout(Opening place) : place_(std::move(place)) {}

  [[nodiscard]] wire::ValueKinds value_kinds() const noexcept override { return wire::ValueKinds::wandb; }
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    return look_at_wandb(storage, request, place_, static_cast<const WandbListing*>(before), std::move(collections));
  }
  [[nodiscard]] std::string_view record_name(std::string_view /*file*/,
                                             std::string_view stored) const noexcept override {
    return without_bucket_prefix(stored);
  }

 private:
  Opening place_;
};

}  // namespace

std::unique_ptr<Layout> wandb_layout(const Opening& what) { return std::make_unique<WandbLayout>(what); }

std::optional<Held> holds_runs_of_wandb(FolderWalk& folder) {
  constexpr std::string_view latest = "latest-run";  // a link to one of the folders beside it, or a copy
  const RunFiles runs = find_run_files(folder.entries(), [&](const std::string& name) { return folder.below(name); });
  if (runs.paths.empty() || !runs.one_run) {
    return std::nullopt;
  }
  const std::string& file = runs.paths.front();
  if (file.find('/') != file.npos) {
    return Held{.itself = false, .reads_below = [latest](std::string_view below) {
                  return below == latest || (below.find('/') == below.npos && is_run_folder(below));
                }};
  }
  if (!folder.path().empty() && folder.name() == latest) {
    const RunFiles beside =
        find_run_files(folder.beside({}), [&](const std::string& name) { return folder.beside(name); });
    const std::string copy = "/" + file;
    if (std::ranges::any_of(beside.paths, [&](const std::string& other) { return other.ends_with(copy); })) {
      return std::nullopt;
    }
  }
  return Held{.example = file};
}

bool is_wandb_file(const Opening& what, std::span<const std::byte> first) {
  return what.file.ends_with(".wandb") ||
         (first.size() >= wire::wandb_header_bytes && !wire::wandb_header_problem(first));
}

}  // namespace smd::detail::layout
