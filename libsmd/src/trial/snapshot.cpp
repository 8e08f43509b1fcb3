// SPDX-License-Identifier: Apache-2.0
#include "trial/snapshot.hpp"

#include <algorithm>

namespace smd::detail::trial {

void Snapshot::derive() {
  steps.clear();
  claims.clear();
  row_of_path.assign(catalog.paths().size(), no_id);
  const std::span<const layout::StepRow> rows = catalog.rows();
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    const layout::StepRow& row = rows[i];
    if (steps.empty() || steps.back().number != row.file.step) {
      // The first worker by name decides about the step's mode; others may file their tensors elsewhere.
      steps.push_back({row.file.step, i, 0, row.mode, row.mode_step});
    }
    ++steps.back().rows;
    if (row.event_file != no_id && row_of_path[row.event_file] == no_id && catalog.payload(row).count > 0) {
      row_of_path[row.event_file] = i;
    }
    if (row.mode != Mode::global) {
      const ModeClaim claim{row.mode, row.mode_step, row.file.step};
      if (claims.empty() || claims.back() != claim) {
        claims.push_back(claim);
      }
    }
  }
  std::sort(claims.begin(), claims.end());
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
}

const Step* Snapshot::find(std::int64_t number) const noexcept {
  const auto it = std::lower_bound(steps.begin(), steps.end(), number,
                                   [](const Step& step, std::int64_t wanted) { return step.number < wanted; });
  return it != steps.end() && it->number == number ? &*it : nullptr;
}

const Step* Snapshot::first() const noexcept { return steps.empty() ? nullptr : &steps.front(); }

const Step* Snapshot::first_after(std::int64_t number) const noexcept {
  const std::size_t before = steps_up_to(number);
  return before < steps.size() ? &steps[before] : nullptr;
}

std::size_t Snapshot::steps_up_to(std::int64_t number) const noexcept {
  const auto it = std::upper_bound(steps.begin(), steps.end(), number,
                                   [](std::int64_t wanted, const Step& step) { return wanted < step.number; });
  return static_cast<std::size_t>(it - steps.begin());
}

std::vector<std::int64_t> Snapshot::global_steps(Mode mode, std::int64_t number) const {
  std::vector<std::int64_t> found;
  if (mode == Mode::global) {
    if (find(number) != nullptr) {
      found.push_back(number);
    }
    return found;
  }
  auto it = std::lower_bound(claims.begin(), claims.end(), ModeClaim{mode, number, INT64_MIN});
  for (; it != claims.end() && it->mode == mode && it->mode_step == number; ++it) {
    found.push_back(it->step);
  }
  return found;
}

StepState Snapshot::state(StepKey key, bool over) const {
  // FORMAT.md, section 9: t is the smallest known step of the mode that is not below the one asked for.
  std::optional<std::int64_t> t;
  std::int64_t global = 0;
  if (key.mode == Mode::global) {
    const auto it = std::lower_bound(steps.begin(), steps.end(), key.number,
                                     [](const Step& step, std::int64_t wanted) { return step.number < wanted; });
    if (it != steps.end()) {
      t = global = it->number;
    }
  } else {
    const auto it = std::lower_bound(claims.begin(), claims.end(), ModeClaim{key.mode, key.number, INT64_MIN});
    if (it != claims.end() && it->mode == key.mode) {
      t = it->mode_step;
      global = it->step;
    }
  }
  if (!t) {
    return over ? StepState::unavailable : StepState::not_yet_available;
  }
  if (!complete(global, over)) {
    return StepState::not_yet_available;
  }
  return *t == key.number ? StepState::available : StepState::unavailable;
}

bool Snapshot::goes_beyond(StepKey key) const {
  if (key.mode == Mode::global) {
    return !steps.empty() && steps.back().number > key.number;
  }
  const auto it = std::upper_bound(claims.begin(), claims.end(), ModeClaim{key.mode, key.number, INT64_MAX});
  return it != claims.end() && it->mode == key.mode;
}

std::size_t workers_needed(const layout::CollectionsInfo& collections, const layout::Listing& listing) {
  if (collections.num_workers && *collections.num_workers > 0) {
    return static_cast<std::size_t>(*collections.num_workers);
  }
  return std::max<std::size_t>(listing.workers.size(), 1);
}

std::vector<std::pair<std::int64_t, std::size_t>> listed_steps(const layout::Listing& listing) {
  std::vector<std::pair<std::int64_t, std::size_t>> steps;
  std::uint32_t last_worker = no_id;
  for (const layout::StepFile& file : listing.files) {
    if (steps.empty() || steps.back().first != file.step) {
      steps.emplace_back(file.step, 0);
      last_worker = no_id;
    }
    if (file.worker != last_worker) {
      ++steps.back().second;
      last_worker = file.worker;
    }
  }
  return steps;
}

std::optional<std::int64_t> apply_window(std::span<const std::int64_t> steps, std::optional<std::int64_t> last,
                                         std::size_t window) {
  auto after = static_cast<std::size_t>(last ? std::upper_bound(steps.begin(), steps.end(), *last) - steps.begin()
                                             : std::ptrdiff_t{0});
  const std::size_t raise = std::max<std::size_t>(window / 2, 1);
  while (steps.size() - after > window) {
    after = std::min(after + raise, steps.size());
    last = steps[after - 1];
  }
  return last;
}

}  // namespace smd::detail::trial
