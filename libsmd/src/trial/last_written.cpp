// SPDX-License-Identifier: Apache-2.0
#include <smd/last_written.hpp>

#include "trial/trial_impl.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace smd {

std::optional<FileTotals> file_totals(const Trial& trial) {
  detail::trial::TrialState& state = detail::TrialAccess::state(trial);
  detail::storage::Storage& storage = state.storage();
  if (const std::string& file = state.only_file(); !file.empty()) {
    constexpr std::size_t size = 4;  // of a `FileStamp`
    const auto written = storage.written_at(file);
    const auto stamp = storage.file_stamp(file);
    return written && stamp ? std::optional(FileTotals{*written, (*stamp)[size]}) : std::nullopt;
  }
  detail::storage::Storage::FileTotals all;
  for (const std::string_view folder : state.layout().folders()) {
    auto totals = storage.totals_below(folder);
    if (!totals) {
      state.notice(std::move(totals.problem()));
      return std::nullopt;
    }
    all.newest = std::max(all.newest, totals->newest);
    all.bytes += totals->bytes;
  }
  return all.newest ? std::optional(FileTotals{*all.newest, all.bytes}) : std::nullopt;
}

std::optional<std::chrono::system_clock::time_point> last_written(const Trial& trial) {
  const std::optional<FileTotals> totals = file_totals(trial);
  return totals ? std::optional(totals->newest) : std::nullopt;
}

}  // namespace smd
