// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/tensorboard_layout.hpp"

#include "layout/tensorboard/event_files.hpp"
#include "layout/tensorboard/histogram_reductions.hpp"
#include "layout/tensorboard/look_at_logs.hpp"

#include <array>
#include <utility>

namespace smd::detail::layout {

namespace {

class TensorboardLayout final : public Layout {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "tensorboard"; }
  [[nodiscard]] bool has_modes() const noexcept override { return false; }
  [[nodiscard]] bool marks_end() const noexcept override { return false; }
  [[nodiscard]] wire::ValueKinds value_kinds() const noexcept override { return wire::ValueKinds::summaries; }
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    return look_at_logs(storage, request, static_cast<const LogListing*>(before), std::move(collections));
  }
  /// Only reading the files shows whether the job is over.
  [[nodiscard]] bool ended(storage::Storage& /*storage*/) const override { return false; }
  [[nodiscard]] storage::WatchScope watched() const override { return {{""}, true}; }
  [[nodiscard]] std::span<const std::string_view> folders() const noexcept override {
    static constexpr std::array<std::string_view, 1> all = {""};
    return all;
  }
  /// Returns the tag: the stored name without the run, and without the prefix of buckets.
  [[nodiscard]] std::string_view record_name(std::string_view file, std::string_view stored) const noexcept override {
    if (const std::string_view buckets = reduction_prefixes.back(); stored.starts_with(buckets)) {
      stored.remove_prefix(buckets.size());
    }
    if (const std::string_view run = run_of(file); !run.empty()) {
      stored.remove_prefix(std::min(run.size() + 1, stored.size()));
    }
    return stored;
  }
};

}  // namespace

std::unique_ptr<Layout> tensorboard_layout() { return std::make_unique<TensorboardLayout>(); }

}  // namespace smd::detail::layout
