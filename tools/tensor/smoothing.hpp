// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <smd/trial.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::tool::tensor {

/// The smoothed series of a trial's scalars: each over all of its steps, whatever is selected.
class Smoothing {
 public:
  /// `mode`: of the steps of a series; nullopt: of any. The trial must outlive this.
  Smoothing(const Trial& trial, double weight, std::optional<Mode> mode)
      : trial_(trial), weight_(weight), mode_(mode) {}

  /// Nullopt if the value is no single number. @throws TensorUnavailable.
  [[nodiscard]] std::optional<double> at(std::string_view tensor, std::string_view worker, GlobalStep step);

 private:
  using Series = std::vector<std::pair<std::int64_t, double>>;  // by step
  using ByWorker = std::map<std::string, Series, std::less<>>;

  const Trial& trial_;
  double weight_;
  std::optional<Mode> mode_;
  std::map<std::string, ByWorker, std::less<>> known_;
};

}  // namespace smd::tool::tensor
