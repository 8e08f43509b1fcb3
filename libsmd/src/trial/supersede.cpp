// SPDX-License-Identifier: Apache-2.0
#include "trial/supersede.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::trial {

using layout::StepRow;

Superseder::Superseder(std::span<const Superseding> later) {
  for (const Superseding& one : later) {
    by_series_[{one.worker, one.tensor}].push_back({one.before, one.from_step});
    tensors_.resize(std::max<std::size_t>(tensors_.size(), one.tensor + std::size_t{1}));
    tensors_[one.tensor] = true;
    first_step_ = std::min(first_step_, one.from_step);
  }
  for (auto& [series, events] : by_series_) {
    std::sort(events.begin(), events.end(), [](const Later& a, const Later& b) { return a.before < b.before; });
    for (std::size_t i = events.size(); i-- > 1;) {
      events[i - 1].from_step = std::min(events[i - 1].from_step, events[i].from_step);
    }
  }
}

bool Superseder::is_superseded(const StepRow& row, std::uint32_t tensor) const noexcept {
  if (tensor >= tensors_.size() || !tensors_[tensor]) {
    return false;
  }
  const auto series = by_series_.find({row.file.worker, tensor});
  if (series == by_series_.end()) {
    return false;
  }
  const auto later = std::partition_point(series->second.begin(), series->second.end(),
                                          [&](const Later& event) { return event.before <= row.file.id; });
  return later != series->second.end() && later->from_step <= row.file.step;
}

bool Superseder::apply(Catalog& catalog, std::vector<StepRow>& rows) {
  bool changed = false;
  std::vector<std::uint32_t> stay;
  std::vector<std::uint32_t> go;
  std::erase_if(rows, [&](StepRow& row) {
    if (!reaches(row.file.step)) {
      return false;
    }
    stay.clear();
    go.clear();
    std::uint32_t last = no_id;
    bool last_goes = false;
    for (const Item& item : catalog.items(row).items) {
      if (item.tensor != last) {
        last = item.tensor;
        last_goes = is_superseded(row, last);
        if (last_goes) {
          ++counts[last];
        }
      }
      (last_goes ? go : stay).push_back(item.position);
    }
    if (go.empty()) {
      return false;
    }
    changed = true;
    std::sort(go.begin(), go.end());
    superseded.push_back(stay.empty() ? row : catalog.part_of(row, go));
    superseded.back().superseded = true;
    if (stay.empty()) {
      return true;
    }
    std::sort(stay.begin(), stay.end());
    row = catalog.part_of(row, stay);
    return false;
  });
  return changed;
}

}  // namespace smd::detail::trial
