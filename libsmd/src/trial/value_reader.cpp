// SPDX-License-Identifier: Apache-2.0
#include <smd/value_reader.hpp>

#include "base/parallel.hpp"
#include "text/mapped.hpp"
#include "trial/trial_state.hpp"
#include "types/refuse.hpp"
#include "values/reader.hpp"

#include <smd/trial.hpp>

#include <string>
#include <tuple>
#include <vector>

namespace smd {

using detail::trial::TrialState;
using detail::values::NextReads;

namespace {

/// Short neighbours are read together: the most bytes, the longest of them, and the largest gap between two.
constexpr std::uint64_t together_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t short_bytes = std::uint64_t{16} << 10;
constexpr std::uint64_t gap_bytes = std::uint64_t{8} << 10;

/// @throws InvalidArgument for an empty place.
const std::string& file_at(const Place& place) {
  detail::refuse_if(place.file == nullptr, "the Place is empty; take that of an entry, or TrialSnapshot::place");
  return *place.file;
}

std::uint64_t end_of(const Place& place) noexcept {
  return place.offset + std::min(place.length, UINT64_MAX - place.offset);
}

/// Returns a function that is true once either is.
std::function<bool()> either(const std::function<bool()>& a, const std::function<bool()>& b) {
  return !a ? b : !b ? a : [a, b] { return a() || b(); };
}

struct InOrder {
  const std::string* file;
  std::uint32_t index;
  std::uint64_t offset;

  bool operator<(const InOrder& other) const noexcept {
    const int files = file == other.file ? 0 : file->compare(*other.file);
    return files != 0 ? files < 0 : std::tie(offset, index) < std::tie(other.offset, other.index);
  }
};

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
        remote && i > begin && i - begin < batch_values && file_at(wanted[i].place) == file_at(wanted[i - 1].place);
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

/// Hidden: otherwise it would be exported with its class.
struct __attribute__((visibility("hidden"))) ValueReader::Impl {
  Impl(std::shared_ptr<TrialState> of, const ReadOptions& options)
      : trial(std::move(of)),
        reader(trial->storage(), trial->options().verify, trial->layout().value_kinds(),
               {trial->jobs(options.jobs), either(options.stop, trial->stop())}) {}

  Extent* open(const Place& at, std::string_view of, const NextReads& next) {
    place = &at;
    name = of;
    retried = false;
    problem.reset();
    return reader.open(at, trial->layout().record_name(file_at(at), of), next) ? &reader : open_again();
  }
  /// Opens the last value again if reading failed for a reason that may pass; else returns null.
  Extent* again() { return reader.problem() && !problem ? open_again() : nullptr; }
  Extent* open_again() {
    const auto snapshot = trial->current();
    if (!retried) {
      retried = true;
      if (auto again = trial->records().again(*reader.problem(), *place, name, *snapshot)) {
        moved = *std::move(again);
        reader.close();  // frees a descriptor, in case they ran out
        if (reader.open(moved, trial->layout().record_name(*moved.file, name))) {
          return &reader;
        }
      }
    }
    problem = trial->records().explain(*reader.problem(), *place, *snapshot);
    return nullptr;
  }
  NextReads next_to(std::span<const WantedValue> wanted, std::size_t k);

  std::shared_ptr<TrialState> trial;
  detail::values::Reader reader;
  const Place* place = nullptr;
  std::string_view name;
  Place own_place;
  std::string own_name;
  Place moved;
  bool used = false;  // a reader of one value reads nothing else of its file
  bool retried = false;
  std::optional<Problem> problem;

  std::vector<InOrder> keys;
  std::vector<std::uint32_t> order;
  NextReads near;
  std::size_t near_until = 0;  // in `order`
};

ValueReader::ValueReader(const Trial& trial, const ReadOptions& options)
    : impl_(std::make_unique<Impl>(detail::TrialAccess::shared_state(trial), options)) {}
ValueReader::~ValueReader() = default;

Extent* ValueReader::open(const Place& place, std::string_view name) {
  impl_->own_place = place;
  impl_->own_name = name;
  return impl_->open(impl_->own_place, impl_->own_name, {.more = std::exchange(impl_->used, true)});
}

const std::optional<Problem>& ValueReader::problem() {
  if (impl_->reader.problem() && !impl_->problem) {
    impl_->problem = impl_->trial->records().explain(*impl_->reader.problem(), *impl_->place, *impl_->trial->current());
  }
  return impl_->problem;
}

std::optional<Problem> ValueReader::read(const Place& place, std::string_view name,
                                         const std::function<void(Extent&)>& use) {
  for (Extent* value = open(place, name); value != nullptr; value = impl_->again()) {
    use(*value);
  }
  return problem();
}

void ValueReader::read_each(std::span<const WantedValue> wanted, const std::function<void(std::size_t, Extent&)>& use,
                            const std::function<void(std::size_t, const std::optional<Problem>&)>& done) {
  Impl& impl = *impl_;
  impl.keys.clear();
  for (std::uint32_t i = 0; i < wanted.size(); ++i) {
    impl.keys.push_back({&file_at(wanted[i].place), i, wanted[i].place.offset});
  }
  detail::sort_if_needed(impl.keys);
  impl.order.resize(wanted.size());
  std::ranges::transform(impl.keys, impl.order.begin(), [](const InOrder& key) { return key.index; });
  impl.near_until = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const std::uint32_t i = impl.order[k];
    const bool in_file = wanted[i].place.form() != ValueForm::number;
    const NextReads next = in_file ? impl.next_to(wanted, k) : NextReads{};
    for (Extent* value = impl.open(wanted[i].place, wanted[i].name, next); value != nullptr; value = impl.again()) {
      use(i, *value);
    }
    done(i, problem());
  }
}

/// Returns what follows the value at that position of the order.
NextReads ValueReader::Impl::next_to(std::span<const WantedValue> wanted, std::size_t k) {
  const Place& first = wanted[order[k]].place;
  const auto in_file = [&](std::size_t at) {
    return at < order.size() &&
           (wanted[order[at]].place.file == first.file || *wanted[order[at]].place.file == *first.file);
  };
  if (k >= near_until) {
    near = {};
    std::uint64_t reach = end_of(first);
    bool together = true;
    for (near_until = k + 1; in_file(near_until); ++near_until) {
      const Place& next = wanted[order[near_until]].place;
      if (next.offset < reach || next.offset - reach > gap_bytes || next.length > together_bytes) {
        break;
      }
      reach = end_of(next);
      together = together && next.length <= short_bytes && reach - first.offset <= together_bytes;
      near.reach = reach;
      near.together = together ? reach : near.together;
    }
    if (near.together != 0) {  // what follows these is looked at when they have been read
      while (end_of(wanted[order[near_until - 1]].place) > near.together) {
        --near_until;
      }
    }
  }
  near.more = in_file(k + 1);
  return near;
}

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
          reader.emplace(trial, ReadOptions{loop.jobs > 1 && loop.count > 1 ? 1 : options.jobs, options.stop});
        }
        work(at, *reader);
      },
      take);
}

void Trial::read(std::span<const WantedValue> wanted, const std::function<bool(std::size_t, ReadResult&&)>& take,
                 const ReadOptions& options, const std::function<bool(std::size_t, Extent&)>& open) const {
  ParallelLoop loop = reading_loop(*this, 0, options);
  const auto [ends, largest] = batches_of(wanted, impl_->storage().remote(), loop.jobs);
  // Large values are read one at a time, which bounds memory.
  const auto window = static_cast<std::size_t>(std::max<std::uint64_t>(in_flight_bytes / largest, 1));
  loop.count = ends.size();
  loop.jobs = static_cast<unsigned>(std::min<std::size_t>(loop.jobs, window));
  loop.window = std::min<std::size_t>(window, std::size_t{loop.jobs} * 4);
  std::vector<std::vector<ReadResult>> results(loop.slots());
  const auto begin_of = [&ends = ends](std::size_t batch) { return batch == 0 ? 0 : ends[batch - 1]; };
  parallel_read(
      *this, loop, options,
      [&](const LoopIndex& at, ValueReader& reader) {
        const std::size_t begin = begin_of(at.index);
        std::vector<ReadResult>& batch = results[at.slot];
        batch.clear();
        batch.resize(begin_of(at.index + 1) - begin);
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
