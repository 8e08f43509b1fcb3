// SPDX-License-Identifier: Apache-2.0
#include "finding_tally.hpp"

#include <utility>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_in_tally = 8000;  // of one rule, or one for each tensor

}  // namespace

void FindingTally::add(const Finding& finding) {
  TensorFindings& of = tensors_[finding.tensor.value_or(std::string())];
  ++count_;
  const bool kept = finding.step && of.count % every_ == 0;
  ++of.count;
  if (kept) {
    of.marks.push_back({*finding.step, finding.message});
    if (++marks_ > most_in_tally && marks_ > 2 * tensors_.size()) {
      halve();
    }
  }
}

void FindingTally::halve() {
  every_ *= 2;
  marks_ = 0;
  for (auto& [tensor, of] : tensors_) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < of.marks.size(); i += 2, ++kept) {
      if (kept != i) {
        of.marks[kept] = std::move(of.marks[i]);
      }
    }
    of.marks.resize(kept);
    marks_ += kept;
  }
}

}  // namespace smd::tool::report
