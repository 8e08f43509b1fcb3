// SPDX-License-Identifier: Apache-2.0
#include "layout/metrics/look_at_metrics.hpp"
#include "text/mapped.hpp"
#include "wire/first_bytes.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::layout {

namespace {

class MetricsLayout final : public Layout {
 public:
  explicit MetricsLayout(Opening place) : place_(std::move(place)) {}

  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    return look_at_metrics(storage, request, place_, static_cast<const MetricListing*>(before), std::move(collections));
  }

 private:
  Opening place_;
};

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_text(std::string_view name, std::span<const std::byte> first) noexcept {
  return wire::may_be_text(first.first(std::min(first.size(), wire::telling_bytes)), name);
}

}  // namespace

std::unique_ptr<Layout> metrics_layout(const Opening& what) { return std::make_unique<MetricsLayout>(what); }

std::optional<Held> holds_metric_log(FolderWalk& folder) {
  const auto name = std::find_if(metric_log_names.begin(), metric_log_names.end(),
                                 [&](std::string_view one) { return folder.has(one) && !folder.has_folder(one); });
  return name == metric_log_names.end() ? std::nullopt : std::optional(Held{.example = std::string(*name)});
}

bool is_metric_log_name(std::string_view name) noexcept { return contains(metric_log_names, name); }

Outcome<std::vector<std::byte>> read_beginning(storage::Storage& storage, const std::string& path) {
  auto first = read_first_bytes(storage, path, first_bytes_of_file);
  if (!first || first->size() < first_bytes_of_file || !is_text(path, *first)) {
    return first;
  }
  const auto problem = metric_log_problem(text_of(*first), true);
  return problem && problem->kind == ProblemKind::not_yet ? read_first_bytes(storage, path, limits::row_bytes)
                                                          : std::move(first);
}

bool is_metric_log(const Opening& what, std::span<const std::byte> first) {
  return first.empty() ? is_metric_log_name(what.file)  // nothing is written yet
                       : is_text(what.file, first) && !metric_log_problem(text_of(first), what.step_name.empty());
}

Problem why_no_metric_log(const Opening& what, std::span<const std::byte> first) {
  constexpr std::array<std::string_view, 4> endings = {".csv", ".tsv", ".json", ".jsonl"};
  Problem problem = metric_log_problem(text_of(first), what.step_name.empty()).value_or(Problem());
  // Nobody waits for other files: their names say that they are something else.
  const bool named =
      std::any_of(endings.begin(), endings.end(), [&](auto ending) { return what.file.ends_with(ending); });
  if (!named || !(first.empty() || is_text(what.file, first))) {
    problem.kind = ProblemKind::not_found;
  }
  return problem;
}

}  // namespace smd::detail::layout
