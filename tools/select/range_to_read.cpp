// SPDX-License-Identifier: Apache-2.0
#include "select/selection.hpp"

#include <algorithm>

namespace smd::tool {

namespace {

// If there are more windows, their hull is read in one go.
constexpr std::size_t most_windows = 8;

StepRange range_of(const StepNeed::Window& window) {
  std::optional<GlobalStep> end;
  if (window.end) {
    end = GlobalStep(*window.end);
  }
  return StepRange::between(GlobalStep(window.first), end);
}

StepNeed::Window hull(const std::vector<StepNeed::Window>& windows) {
  StepNeed::Window result = windows.front();
  for (const StepNeed::Window& window : windows) {
    result.first = std::min(result.first, window.first);
    result.end = result.end && window.end ? std::optional(std::max(*result.end, *window.end)) : std::nullopt;
  }
  return result;
}

bool only_global(std::span<const Mode> modes) { return modes.size() == 1 && modes.front() == Mode::global; }

}  // namespace

std::vector<StepRange> ranges_to_read(const std::optional<StepSpec>& spec, std::span<const Mode> modes) {
  if (!spec || spec->all()) {
    return {StepRange()};
  }
  const StepNeed need = spec->need();
  switch (need.kind) {
    case StepNeed::Kind::everything:
      return {StepRange()};
    case StepNeed::Kind::newest:
      return {StepRange::newest(need.count)};
    case StepNeed::Kind::oldest:
      return {StepRange::oldest(need.count)};
    case StepNeed::Kind::windows:
      break;
  }
  if (!only_global(modes)) {
    return {StepRange()};
  }
  if (need.windows.size() > most_windows) {
    return {range_of(hull(need.windows))};
  }
  std::vector<StepRange> ranges;
  for (const StepNeed::Window& window : need.windows) {
    ranges.push_back(range_of(window));
  }
  return ranges;
}

StepRange range_to_read(const std::optional<StepSpec>& spec, std::span<const Mode> modes) {
  return ranges_to_read(spec, modes).front();
}

}  // namespace smd::tool
