// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoints_layout.hpp"

#include "layout/checkpoints/look_at_checkpoints.hpp"

#include <array>
#include <utility>

namespace smd::detail::layout {

namespace {

class CheckpointsLayout final : public Layout {
 public:
  CheckpointsLayout(std::string place, std::string file) : place_(std::move(place)), file_(std::move(file)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "checkpoints"; }
  [[nodiscard]] bool has_modes() const noexcept override { return false; }
  [[nodiscard]] bool marks_end() const noexcept override { return false; }
  [[nodiscard]] bool rows_name_seen_files() const noexcept override { return true; }
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    return look_at_checkpoints(storage, request, {place_, file_}, static_cast<const CheckpointListing*>(before),
                               std::move(collections));
  }
  [[nodiscard]] bool ended(storage::Storage& /*storage*/) const override { return false; }
  [[nodiscard]] storage::WatchScope watched() const override { return {{""}, false}; }
  [[nodiscard]] std::span<const std::string_view> folders() const noexcept override {
    static constexpr std::array<std::string_view, 1> all = {""};
    return all;
  }

 private:
  std::string place_;
  std::string file_;
};

}  // namespace

std::unique_ptr<Layout> checkpoints_layout(std::string place, std::string file) {
  return std::make_unique<CheckpointsLayout>(std::move(place), std::move(file));
}

}  // namespace smd::detail::layout
