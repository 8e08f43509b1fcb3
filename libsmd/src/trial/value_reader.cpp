// SPDX-License-Identifier: Apache-2.0
#include <smd/value_reader.hpp>

#include "trial/trial_impl.hpp"
#include "values/reader.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace smd {

using detail::trial::TrialState;
using detail::values::NextReads;

namespace {

/// Short neighbours are read together: the most bytes, the longest of them, and the largest gap between two.
constexpr std::uint64_t together_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t short_bytes = std::uint64_t{16} << 10;
constexpr std::uint64_t gap_bytes = std::uint64_t{8} << 10;

std::uint64_t end_of(const Place& place) noexcept {
  return place.offset + std::min(place.length, UINT64_MAX - place.offset);
}

bool in_same_file(const Place& a, const Place& b) noexcept { return a.file == b.file || *a.file == *b.file; }

/// Numbers the files of places. Workers take turns from place to place, so the next file is mostly the one after the
/// last.
class FileNumbers {
 public:
  void clear() {
    files_.clear();
    numbers_.clear();
    last_ = 0;
  }
  std::uint32_t of(const Place& place) {
    for (std::size_t tries = 0; tries < std::min(few, files_.size()); ++tries) {
      if (in_same_file(*files_[last_], place)) {
        return last_;
      }
      last_ = last_ + 1 == files_.size() ? 0 : last_ + 1;
    }
    if (files_.size() >= few) {
      for (std::uint32_t number = 0; numbers_.empty() && number < files_.size(); ++number) {
        numbers_.emplace(*files_[number]->file, number);
      }
      const auto [known, fresh] = numbers_.emplace(*place.file, files_.size());
      if (!fresh) {
        return last_ = known->second;
      }
    }
    files_.push_back(&place);
    return last_ = static_cast<std::uint32_t>(files_.size() - 1);
  }
  /// Returns, by number, the file's position in the byte order of names.
  std::vector<std::uint32_t> ranks() const {
    std::vector<std::uint32_t> by_name(files_.size());
    std::generate(by_name.begin(), by_name.end(), [next = 0U]() mutable { return next++; });
    std::sort(by_name.begin(), by_name.end(),
              [this](std::uint32_t a, std::uint32_t b) { return *files_[a]->file < *files_[b]->file; });
    std::vector<std::uint32_t> ranks(files_.size());
    for (std::uint32_t rank = 0; rank < by_name.size(); ++rank) {
      ranks[by_name[rank]] = rank;
    }
    return ranks;
  }

 private:
  static constexpr std::size_t few = 8;  // that are looked through one by one

  std::vector<const Place*> files_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;  // if there are many
  std::uint32_t last_ = 0;
};

/// Returns a function that is true once either is.
std::function<bool()> either(const std::function<bool()>& a, const std::function<bool()>& b) {
  return !a ? b : !b ? a : [a, b] { return a() || b(); };
}

struct InOrder {
  std::uint32_t file;
  std::uint32_t index;
  std::uint64_t offset;

  bool operator<(const InOrder& other) const noexcept {
    return std::tie(file, offset, index) < std::tie(other.file, other.offset, other.index);
  }
};

}  // namespace

/// Hidden: otherwise it would be exported with its class.
struct __attribute__((visibility("hidden"))) ValueReader::Impl {
  Impl(std::shared_ptr<TrialState> of, const ReadOptions& options)
      : trial(std::move(of)),
        reader(trial->storage(), trial->options().verify, trial->layout().value_kinds(),
               either(options.stop, trial->stop())) {}

  Extent* open(const Place& at, std::string_view of, const NextReads& next) {
    place = &at;
    name = of;
    retried = false;
    problem.reset();
    return reader.open(at, trial->layout().record_name(*at.file, of), next) ? &reader : open_again();
  }
  /// Opens the value again, if it failed for a reason that may pass.
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

  FileNumbers files;
  std::vector<InOrder> keys;
  std::vector<std::uint32_t> order;
  NextReads near;
  std::size_t near_until = 0;  // in `order`
};

ValueReader::ValueReader(const Trial& trial, const ReadOptions& options)
    : impl_(std::make_unique<Impl>(detail::TrialAccess::shared_state(trial), options)) {}
ValueReader::ValueReader(ValueReader&&) noexcept = default;
ValueReader& ValueReader::operator=(ValueReader&&) noexcept = default;
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

Extent* ValueReader::again() { return impl_->reader.problem() && !impl_->problem ? impl_->open_again() : nullptr; }

std::span<const std::uint32_t> ValueReader::in_file_order(std::span<const WantedValue> wanted) {
  Impl& impl = *impl_;
  impl.files.clear();
  impl.keys.clear();
  for (std::uint32_t i = 0; i < wanted.size(); ++i) {
    impl.keys.push_back({impl.files.of(wanted[i].place), i, wanted[i].place.offset});
  }
  const std::vector<std::uint32_t> ranks = impl.files.ranks();
  for (InOrder& key : impl.keys) {
    key.file = ranks[key.file];
  }
  if (!std::is_sorted(impl.keys.begin(), impl.keys.end())) {
    std::sort(impl.keys.begin(), impl.keys.end());
  }
  impl.order.resize(wanted.size());
  std::transform(impl.keys.begin(), impl.keys.end(), impl.order.begin(), [](const InOrder& key) { return key.index; });
  impl.near_until = 0;
  return impl.order;
}

/// Returns what follows the value at that position of the order.
NextReads ValueReader::Impl::next_to(std::span<const WantedValue> wanted, std::size_t k) {
  const Place& first = wanted[order[k]].place;
  const auto in_file = [&](std::size_t at) {
    return at < order.size() && in_same_file(wanted[order[at]].place, first);
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

Extent* ValueReader::open_in_order(std::span<const WantedValue> wanted, std::size_t k) {
  const WantedValue& one = wanted[impl_->order[k]];
  const bool in_file = one.place.form() != ValueForm::number;
  return impl_->open(one.place, one.name, in_file ? impl_->next_to(wanted, k) : NextReads{});
}

}  // namespace smd
