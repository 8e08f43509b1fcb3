// SPDX-License-Identifier: Apache-2.0
#include "tensorboard.hpp"

#include <smd/dtype.hpp>
#include <smd/elements.hpp>

#include "layout/debugger/trial_paths.hpp"
#include "text/mapped.hpp"
#include "text/pattern.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <span>
#include <vector>

namespace smd::detail::hook {
namespace {

/// Returns the bounds of InitDefaultBucketsInner in TensorFlow's histogram.cc.
const std::vector<double>& default_bounds() {
  static const std::vector<double> bounds = [] {
    constexpr double largest = std::numeric_limits<double>::max();
    std::vector<double> all = {-largest, 0, largest};
    for (double v = 1.0e-12; v < 1.0e20; v *= 1.1) {
      all.insert(all.end(), {-v, v});
    }
    std::ranges::sort(all);
    return all;
  }();
  return bounds;
}

}  // namespace

std::string tensorboard_tag(std::string_view name) {
  static const Substitution substitution = [] {
    Substitution made;
    if (made.compile("(*UCP)[^\\w./-]", "_")) {
      throw std::bad_alloc();  // the pattern is valid
    }
    return made;
  }();
  std::string error;  // of a result that is too long, which no tag is: it has no more bytes than the name
  std::string tag = substitution.apply(name, error).value_or(std::string(name));
  tag.erase(0, std::min(tag.find_first_not_of('/'), tag.size()));
  return tag;
}

std::string tensorboard_file(Mode mode, std::int64_t step) {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0 || contains(host, '/')) {
    host = {'h', 'o', 's', 't'};
  }
  std::string name(to_string(mode));
  name += '/';
  layout::append_step_digits(name, step);
  return name + "_" + std::to_string(::getpid()) + "_" + host.data() + ".tfevents";
}

std::optional<wire::HistogramSummary> tensorboard_histogram(const TensorView& value, std::uint64_t& left_out) {
  if (!is_real(value.dtype()) || value.dtype() == Dtype::boolean) {
    return std::nullopt;
  }
  const std::vector<double>& bounds = default_bounds();
  std::vector<std::uint64_t> counts(bounds.size() + 1);
  wire::HistogramSummary summary;
  summary.min = std::numeric_limits<double>::infinity();
  summary.max = -summary.min;
  const auto add = [&](double x) {
    if (!std::isfinite(x)) {
      ++left_out;
      return;
    }
    const auto above = std::ranges::upper_bound(bounds, x);
    // The largest double belongs to the last bucket, whose bound it is.
    ++counts[static_cast<std::size_t>(above == bounds.end() ? above - 1 - bounds.begin() : above - bounds.begin())];
    summary.min = std::min(summary.min, x);
    summary.max = std::max(summary.max, x);
    summary.num += 1;
    summary.sum += x;
    summary.sum_squares += x * x;
  };
  std::array<double, 1024> block{};
  std::uint64_t done = 0;
  while (const std::size_t n = copy_as_doubles(value, done, block)) {
    std::for_each_n(block.begin(), n, add);
    done += n;
  }
  if (summary.num == 0) {
    return std::nullopt;
  }
  // counts[i] counts the elements in [bounds[i - 1], bounds[i]). A bucket is written by its upper bound, so an empty
  // bucket before the first one marks where the first one begins.
  const auto filled = [](std::uint64_t count) { return count != 0; };
  const auto begin = std::ranges::find_if(counts, filled);
  const auto end = std::find_if(counts.rbegin(), counts.rend(), filled).base();
  for (auto count = begin == counts.begin() ? begin : begin - 1; count != end; ++count) {
    summary.bucket_limit.push_back(bounds[static_cast<std::size_t>(count - counts.begin())]);
    summary.bucket.push_back(static_cast<double>(*count));
  }
  return summary;
}

std::optional<double> single_number(const TensorView& value) {
  if (!is_real(value.dtype()) || value.size() != 1) {
    return std::nullopt;
  }
  double number = 0;
  copy_as_doubles(value, 0, std::span(&number, 1));
  return number;
}

}  // namespace smd::detail::hook
