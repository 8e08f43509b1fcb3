// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"
#include "trial/record_reader.hpp"
#include "trial/trial_impl.hpp"

#include <smd/error.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace smd {

namespace {

/// Records that one thread reads at a time: enough that threads seldom wait for each other, few enough that all are
/// busy.
constexpr std::size_t batch_records = 128;
constexpr std::size_t batch_remote_values = 32;  // each costs a request
constexpr std::uint64_t batch_bytes = std::uint64_t{1} << 20;
/// The most bytes of values that are read but not yet taken.
constexpr std::uint64_t in_flight_bytes = std::uint64_t{48} << 20;

std::unique_ptr<detail::trial::RecordReader> new_reader(const detail::trial::Records& records) {
  return std::make_unique<detail::trial::RecordReader>(records.reader());
}

struct Batch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// One record as a thread read it. Repeated elements become bytes only when it is taken, one value at a time.
struct Read {
  detail::trial::ReadRecord record;
  std::optional<Problem> problem;
};

ReadResult whole(Read&& read, const TensorLocation& location) {
  ReadResult result;
  result.wall_time = read.record.wall_time;
  result.problem = std::move(read.problem);
  if (!result.problem) {
    if (std::optional<TensorValue> value = std::move(read.record).whole()) {
      result.value = *std::move(value);
    } else {
      result.problem = Problem{ProblemKind::io, location.file, location.offset, "memory ran out"};
    }
  }
  return result;
}

std::vector<Batch> batches(std::span<const TensorLocation> locations, std::uint64_t& largest, std::size_t most_records,
                           const detail::storage::Storage& storage, unsigned jobs) {
  std::vector<Batch> result;
  std::uint64_t bytes = 0;
  const bool remote = storage.remote();
  if (remote) {  // a file costs a round trip: no thread may be idle while others have several left
    most_records = std::clamp<std::size_t>(locations.size() / (std::size_t{jobs} * 4), 1, most_records);
  }
  for (std::size_t i = 0; i < locations.size(); ++i) {
    const bool full = !result.empty() && i - result.back().begin >= most_records;
    // Records in one file take one request if one thread reads them.
    const bool same_file =
        remote && full && i - result.back().begin < batch_records && locations[i].file == locations[i - 1].file;
    if (result.empty() || (full && !same_file) || bytes + locations[i].length > batch_bytes) {
      result.push_back({i, i});
      bytes = 0;
    }
    bytes += locations[i].length;
    largest = std::max(largest, bytes);
    result.back().end = i + 1;
  }
  return result;
}

/// Calls `read(i)` for each location, in ascending order within a file: seeking back in a compressed file is slow.
template <class F>
void for_each_ascending(std::span<const TensorLocation> locations, F&& read) {
  const auto by_offset = [&](std::size_t a, std::size_t b) { return locations[a].offset < locations[b].offset; };
  std::vector<std::size_t> order;
  for (std::size_t begin = 0; begin < locations.size(); begin += order.size()) {
    order.clear();
    for (std::size_t i = begin; i < locations.size() && locations[i].file == locations[begin].file; ++i) {
      order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), by_offset);
    std::for_each(order.begin(), order.end(), read);
  }
}

}  // namespace

void detail::trial::Records::read(const Snapshot& snapshot, std::span<const TensorLocation> locations,
                                  std::span<const std::string> tensors, unsigned jobs,
                                  const std::function<bool(std::size_t, ReadResult&&)>& take) const {
  std::uint64_t largest = 1;
  const std::size_t most_records = storage_.remote() ? batch_remote_values : batch_records;
  const std::vector<Batch> work = batches(locations, largest, most_records, storage_, jobs);
  // Large values are read one at a time, which bounds memory.
  const auto window = static_cast<std::size_t>(std::max<std::uint64_t>(in_flight_bytes / largest, 1));
  const unsigned threads =
      static_cast<unsigned>(std::min<std::size_t>({jobs, window, std::max<std::size_t>(work.size(), 1)}));
  std::vector<std::unique_ptr<RecordReader>> readers(threads);
  const auto read_one = [&](std::size_t i, unsigned worker) {
    if (!readers[worker]) {
      readers[worker] = new_reader(*this);
    }
    Read result;
    const bool file_again = i + 1 < locations.size() && locations[i + 1].file == locations[i].file;
    detail::trial::RecordReader& reader = *readers[worker];
    auto record = read_or_again(reader, locations[i], tensors[i], snapshot, [&](const TensorLocation& place) {
      return file_again ? reader.read(place, tensors[i]) : reader.read_once(place, tensors[i]);
    });
    if (record) {
      result.record = *std::move(record);
    } else {
      result.problem = explain(std::move(record.problem()), locations[i], snapshot);
    }
    return result;
  };
  parallel_ordered(
      threads, work.size(), std::min<std::size_t>(window, std::size_t{threads} * 4),
      [&](std::size_t b, unsigned worker) {
        std::vector<Read> results(work[b].end - work[b].begin);
        if (storage_.remote()) {
          if (!readers[worker]) {
            readers[worker] = new_reader(*this);
          }
          readers[worker]->expect(locations.subspan(work[b].begin, work[b].end - work[b].begin));
        }
        for_each_ascending(locations.subspan(work[b].begin, results.size()),
                           [&](std::size_t i) { results[i] = read_one(work[b].begin + i, worker); });
        return results;
      },
      [&](std::size_t b, std::vector<Read>&& results) {
        for (std::size_t i = 0; i < results.size(); ++i) {
          if (!take(work[b].begin + i, whole(std::move(results[i]), locations[work[b].begin + i]))) {
            return false;
          }
        }
        return true;
      });
}

void Trial::read(std::span<const TensorLocation> locations, std::span<const std::string> tensors,
                 const std::function<bool(std::size_t, ReadResult&&)>& take, const ReadOptions& options) const {
  if (tensors.size() != locations.size()) {
    throw InvalidArgument("Trial::read wants one tensor name for each location");
  }
  impl_->records().read(*impl_->snapshot(), locations, tensors, impl_->jobs(options.jobs), take);
}

void Trial::read_blocks(
    std::span<const TensorLocation> locations, std::span<const std::string> tensors,
    const std::function<std::unique_ptr<BlockSink>(std::size_t)>& make,
    const std::function<bool(std::size_t, std::unique_ptr<BlockSink>&&, std::optional<Problem>&&)>& take,
    const ReadOptions& options) const {
  if (tensors.size() != locations.size()) {
    throw InvalidArgument("Trial::read_blocks wants one tensor name for each location");
  }
  struct Result {
    std::unique_ptr<BlockSink> sink;
    std::optional<Problem> problem;
  };
  struct Done {
    unsigned worker = 0;
    std::vector<Result> results;
  };
  /// Results that were taken, for the thread that made them to free: if the taker freed them, the two threads would
  /// wait for each other in the allocator at every sink.
  struct Spent {
    std::mutex mutex;
    std::vector<std::vector<Result>> results;
  };
  const std::shared_ptr<const detail::trial::Snapshot> snapshot = impl_->snapshot();
  const detail::trial::Records& records = impl_->records();
  std::uint64_t largest = 1;
  const std::vector<Batch> work =
      batches(locations, largest, batch_records, impl_->storage(), impl_->jobs(options.jobs));
  const auto threads =
      static_cast<unsigned>(std::min<std::size_t>(impl_->jobs(options.jobs), std::max<std::size_t>(work.size(), 1)));
  std::vector<std::unique_ptr<detail::trial::RecordReader>> readers(threads);
  const auto read_one = [&](detail::trial::RecordReader& reader, std::size_t i) {
    Result result;
    auto status = records.read_or_again(reader, locations[i], tensors[i], *snapshot, [&](const TensorLocation& place) {
      result.sink = make(i);
      return reader.stream(place, tensors[i], *result.sink);
    });
    if (!status) {
      result.problem = records.explain(std::move(status.problem()), locations[i], *snapshot);
    }
    return result;
  };
  std::vector<Spent> spent(threads);
  detail::parallel_ordered(
      threads, work.size(), std::size_t{threads} * 4,
      [&](std::size_t b, unsigned worker) {
        if (!readers[worker]) {
          readers[worker] = new_reader(records);
        }
        std::vector<std::vector<Result>> freed;
        if (worker != 0) {
          const std::lock_guard lock(spent[worker].mutex);
          freed.swap(spent[worker].results);
        }
        freed.clear();
        detail::trial::RecordReader& reader = *readers[worker];
        reader.expect(locations.subspan(work[b].begin, work[b].end - work[b].begin));
        std::vector<Result> results(work[b].end - work[b].begin);
        for_each_ascending(locations.subspan(work[b].begin, results.size()),
                           [&](std::size_t i) { results[i] = read_one(reader, work[b].begin + i); });
        return Done{worker, std::move(results)};
      },
      [&](std::size_t b, Done&& done) {
        for (std::size_t i = 0; i < done.results.size(); ++i) {
          Result& result = done.results[i];
          if (!take(work[b].begin + i, std::move(result.sink), std::move(result.problem))) {
            return false;
          }
        }
        if (done.worker != 0) {
          const std::lock_guard lock(spent[done.worker].mutex);
          spent[done.worker].results.push_back(std::move(done.results));
        }
        return true;
      });
}

std::optional<Problem> Trial::read_blocks(const TensorLocation& location, std::string_view tensor,
                                          BlockSink& sink) const {
  const std::shared_ptr<const detail::trial::Snapshot> snapshot = impl_->snapshot();
  const detail::trial::Records& records = impl_->records();
  /// Forwards to another sink, and records whether the value began.
  class Watched final : public BlockSink {
   public:
    explicit Watched(BlockSink& sink) : sink_(sink) {}
    void written(double wall_time) override {
      begun = true;
      sink_.written(wall_time);
    }
    bool begin(Dtype dtype, const Shape& shape) override {
      begun = true;
      return sink_.begin(dtype, shape);
    }
    bool block(std::span<const std::byte> bytes) override { return sink_.block(bytes); }
    bool repeat(std::span<const std::byte> element, std::uint64_t count) override {
      return sink_.repeat(element, count);
    }
    [[nodiscard]] bool prefers_whole() const noexcept override { return sink_.prefers_whole(); }
    bool begun = false;

   private:
    BlockSink& sink_;
  };
  Watched watched(sink);
  detail::trial::RecordReader reader = records.reader();
  auto status = reader.stream(location, tensor, watched);
  if (!status && !watched.begun) {
    if (const auto place = records.again(status.problem(), location, tensor, *snapshot)) {
      reader.close();
      status = reader.stream(*place, tensor, watched);
    }
  }
  return status ? std::nullopt : std::optional(records.explain(std::move(status.problem()), location, *snapshot));
}

}  // namespace smd
