// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/shape.hpp>
#include <smd/step.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::test {

/// A value of any type and shape.
struct BuiltValue {
  std::string name;
  Dtype dtype = Dtype::float32;
  Shape shape;
  std::string bytes;  ///< As in `TensorView`.
};

/// One step of one worker, as an event file and an index file.
struct BuiltStep {
  std::int64_t step = 0;
  std::string worker = "worker_0";
  Mode mode = Mode::train;
  std::int64_t mode_step = 0;
  std::vector<std::pair<std::string, std::vector<float>>> tensors = {};  ///< Name and elements, one dimension.
  std::vector<std::pair<std::string, Shape>> shapes = {};                ///< Shapes without values.
  bool checksums = false;                                                ///< Write payload checksums.
  std::vector<BuiltValue> values = {};                                   ///< Written after `tensors`.
  std::optional<double> wall_time = {};                                  ///< Of the records; default: 1.7e9 + step.
};

/// The bytes of the event file, and the text of its index file.
struct StepFiles {
  std::string events;
  std::string index;
};
[[nodiscard]] StepFiles encode_step(const BuiltStep& step);

/// Returns names relative to the trial.
[[nodiscard]] std::string index_path(std::int64_t step, std::string_view worker);
[[nodiscard]] std::string events_path(std::int64_t step, std::string_view worker);

/// Writes a trial as the reference's hook does: each file under a temporary name, then renamed.
class TrialBuilder {
 public:
  explicit TrialBuilder(std::string root) : root_(std::move(root)) {}

  /// Writes a collections file with one collection `default` and the pattern `.*`.
  TrialBuilder& collections(std::string_view worker = "worker_0", int num_workers = 1);
  /// Writes the event file, then the index file.
  TrialBuilder& step(const BuiltStep& step);
  /// Writes a file of any content directly.
  TrialBuilder& file(std::string_view name, std::string_view content);
  TrialBuilder& end();

  [[nodiscard]] const std::string& root() const noexcept { return root_; }

 private:
  std::string root_;
};

}  // namespace smd::test
