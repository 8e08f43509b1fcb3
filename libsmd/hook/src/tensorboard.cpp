// SPDX-License-Identifier: Apache-2.0
#include "tensorboard.hpp"

#include <smd/dtype.hpp>
#include <smd/elements.hpp>

#include "layout/debugger/trial_paths.hpp"
#include "text/pattern.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace smd::detail::hook {
namespace {

/// Returns the bounds of InitDefaultBucketsInner in TensorFlow's histogram.cc.
const std::vector<double>& default_bounds() {
  static const std::vector<double> bounds = [] {
    std::vector<double> positive;
    for (double v = 1.0e-12; v < 1.0e20; v *= 1.1) {
      positive.push_back(v);
    }
    positive.push_back(std::numeric_limits<double>::max());
    std::vector<double> all;
    for (auto v = positive.rbegin(); v != positive.rend(); ++v) {
      all.push_back(-*v);
    }
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return bounds;
}

bool in_tag(std::string_view character, Pattern& word) {
  if (character.size() > 1) {
    return word.search(character) == Pattern::Answer::yes;
  }
  const char c = character.front();
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '.' ||
         c == '/' || c == '-';
}

}  // namespace

std::string tensorboard_tag(std::string_view name) {
  Pattern word;
  (void)word.compile("^\\w$");
  std::string tag;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at + 1;
    while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80) {
      ++end;
    }
    const std::string_view character = name.substr(at, end - at);
    tag.append(in_tag(character, word) ? character : "_");
    at = end;
  }
  tag.erase(0, std::min(tag.find_first_not_of('/'), tag.size()));
  return tag;
}

std::string tensorboard_file(Mode mode, std::int64_t step) {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0 || std::find(host.begin(), host.end(), '/') != host.end()) {
    host = {'h', 'o', 's', 't'};
  }
  std::string name(to_string(mode));
  name += '/';
  layout::append_step_digits(name, step);
  return name + "_" + std::to_string(::getpid()) + "_" + host.data() + ".tfevents";
}

std::optional<wire::HistogramSummary> tensorboard_histogram(const TensorView& value) {
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
      return;
    }
    const auto above = std::upper_bound(bounds.begin(), bounds.end(), x);
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
  std::size_t first = 0;
  while (counts[first] == 0) {
    ++first;
  }
  std::size_t last = bounds.size() - 1;
  while (counts[last] == 0) {
    --last;
  }
  for (std::size_t i = first == 0 ? 0 : first - 1; i <= last; ++i) {
    summary.bucket_limit.push_back(bounds[i]);
    summary.bucket.push_back(static_cast<double>(counts[i]));
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
