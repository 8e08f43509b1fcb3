// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"
#include "trial/record_reader.hpp"
#include "trial/trial_impl.hpp"

#include <smd/trial.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace smd {

TrialPart::~TrialPart() = default;

struct __attribute__((visibility("hidden"))) BlockReader::Impl {
  explicit Impl(std::shared_ptr<Trial::Impl> of) : trial(std::move(of)), reader(trial->records().reader()) {}

  std::shared_ptr<Trial::Impl> trial;
  detail::trial::RecordReader reader;
  std::vector<TensorLocation> locations;  // never shrinks, so that its texts are not allocated again
};

BlockReader::BlockReader(const Trial& trial) : impl_(std::make_unique<Impl>(trial.impl_)) {}
BlockReader::~BlockReader() = default;

void BlockReader::read(const std::string& file, std::span<const RecordRange> records, BlockSink& sink,
                       const std::function<bool(std::size_t, std::optional<Problem>&&)>& done) {
  std::vector<TensorLocation>& locations = impl_->locations;
  locations.resize(std::max(locations.size(), records.size()));
  for (std::size_t i = 0; i < records.size(); ++i) {
    locations[i].file = file;
    locations[i].offset = records[i].offset;
    locations[i].length = records[i].length;
    locations[i].part = records[i].part;
    locations[i].bare = records[i].bare == nullptr ? nullptr : std::make_shared<const BareValue>(*records[i].bare);
  }
  impl_->reader.expect(std::span(locations).first(records.size()));
  const auto snapshot = impl_->trial->current();
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::optional<Problem> problem;
    auto status = impl_->trial->records().read_or_again(
        impl_->reader, locations[i], records[i].tensor, *snapshot,
        [&](const TensorLocation& place) { return impl_->reader.stream(place, records[i].tensor, sink); });
    if (!status) {
      problem = impl_->trial->records().explain(std::move(status.problem()), locations[i], *snapshot);
    }
    if (!done(i, std::move(problem))) {
      break;
    }
  }
  impl_->reader.expect({});
}

void Trial::parallel_for_each(std::size_t parts, const std::function<std::unique_ptr<TrialPart>(std::size_t)>& make,
                              const std::function<bool(std::size_t, std::unique_ptr<TrialPart>&&)>& take,
                              const ReadOptions& options) const {
  const auto threads =
      static_cast<unsigned>(std::min<std::size_t>(impl_->jobs(options.jobs), std::max<std::size_t>(parts, 1)));
  std::vector<std::unique_ptr<BlockReader>> readers(threads);
  detail::parallel_ordered(
      threads, parts, std::size_t{threads} * 2,
      [&](std::size_t i, unsigned worker) {
        if (!readers[worker]) {
          readers[worker] = std::make_unique<BlockReader>(*this);
        }
        std::unique_ptr<TrialPart> part = make(i);
        part->work(*readers[worker]);
        return part;
      },
      take);
}

}  // namespace smd
