// SPDX-License-Identifier: Apache-2.0
// Reads whole values, in parallel.
#include "base/parallel.hpp"
#include "trial/trial_impl.hpp"

#include <smd/error.hpp>
#include <smd/parallel.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace smd {

namespace {

/// Values that one thread reads at a time: enough that threads seldom wait for each other, few enough that all are
/// busy.
constexpr std::size_t batch_values = 128;
constexpr std::size_t batch_remote_files = 32;  // each costs a request
constexpr std::uint64_t batch_bytes = std::uint64_t{1} << 20;
/// The most bytes of values that are read but not yet taken.
constexpr std::uint64_t in_flight_bytes = std::uint64_t{48} << 20;

/// Divides values into batches. Returns where each ends, and the bytes of the largest one.
std::pair<std::vector<std::size_t>, std::uint64_t> batches_of(std::span<const WantedValue> wanted, bool remote,
                                                              unsigned jobs) {
  // A file of a remote store costs a round trip: no thread may be idle while others have several left.
  const std::size_t most =
      remote ? std::clamp<std::size_t>(wanted.size() / (std::size_t{jobs} * 4), 1, batch_remote_files) : batch_values;
  std::vector<std::size_t> ends;
  std::uint64_t largest = 1;
  std::uint64_t bytes = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::uint64_t length = wanted[i].place.length;
    // What is in one file takes one request if one thread reads it.
    const bool same_file =
        remote && i > begin && i - begin < batch_values && *wanted[i].place.file == *wanted[i - 1].place.file;
    if (i > begin && ((i - begin >= most && !same_file) || bytes + length > batch_bytes)) {
      ends.push_back(i);
      begin = i;
      bytes = 0;
    }
    bytes += length;
    largest = std::max(largest, bytes);
  }
  if (!wanted.empty()) {
    ends.push_back(wanted.size());
  }
  return {std::move(ends), largest};
}

}  // namespace

unsigned usable_cpus() noexcept { return detail::default_jobs(); }

void parallel_for_each(const ParallelLoop& loop, const std::function<void(const LoopIndex&)>& work,
                       const std::function<bool(const LoopIndex&)>& take) {
  detail::run_in_parallel(loop, work, take);
}

ParallelLoop reading_loop(const Trial& trial, std::size_t count, const ReadOptions& options) {
  const unsigned jobs = detail::TrialAccess::state(trial).jobs(options.jobs);
  return {
      .count = count, .jobs = jobs, .window = std::size_t{jobs} * 2};  // what is read stays in the caches until taken
}

void parallel_read(const Trial& trial, const ParallelLoop& loop, const ReadOptions& options,
                   const std::function<void(const LoopIndex&, ValueReader&)>& work,
                   const std::function<bool(const LoopIndex&)>& take) {
  std::vector<std::optional<ValueReader>> readers(std::max(loop.jobs, 1U));
  parallel_for_each(
      loop,
      [&](const LoopIndex& at) {
        std::optional<ValueReader>& reader = readers[at.worker];
        if (!reader) {
          reader.emplace(trial, options);
        }
        work(at, *reader);
      },
      take);
}

void Trial::read(std::span<const WantedValue> wanted, const std::function<bool(std::size_t, ReadResult&&)>& take,
                 const ReadOptions& options, const std::function<bool(std::size_t, Extent&)>& open) const {
  ParallelLoop loop = reading_loop(*this, 0, options);
  const auto [ends, largest] = batches_of(wanted, remote(), loop.jobs);
  // Large values are read one at a time, which bounds memory.
  const auto window = static_cast<std::size_t>(std::max<std::uint64_t>(in_flight_bytes / largest, 1));
  loop.count = ends.size();
  loop.jobs = static_cast<unsigned>(std::min<std::size_t>(loop.jobs, window));
  loop.window = std::min<std::size_t>(window, std::size_t{loop.jobs} * 4);
  std::vector<std::vector<ReadResult>> results(loop.slots());
  const auto end_of = [&ends = ends](std::size_t batch) { return ends[batch]; };
  const auto begin_of = [&end_of](std::size_t batch) { return batch == 0 ? 0 : end_of(batch - 1); };
  parallel_read(
      *this, loop, options,
      [&](const LoopIndex& at, ValueReader& reader) {
        const std::size_t begin = begin_of(at.index);
        std::vector<ReadResult>& batch = results[at.slot];
        batch.clear();
        batch.resize(end_of(at.index) - begin);
        reader.read_each(
            wanted.subspan(begin, batch.size()),
            [&](std::size_t i, Extent& value) {
              batch[i].value = !open || open(begin + i, value) ? value.value() : std::nullopt;
              batch[i].wall_time = value.wall_time();
            },
            [&](std::size_t i, const std::optional<Problem>& problem) { batch[i].problem = problem; });
      },
      [&](const LoopIndex& at) {
        for (std::size_t i = 0; i < results[at.slot].size(); ++i) {
          if (!take(begin_of(at.index) + i, std::move(results[at.slot][i]))) {
            return false;
          }
        }
        return true;
      });
}

}  // namespace smd
