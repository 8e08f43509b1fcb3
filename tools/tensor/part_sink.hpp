// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <smd/trial.hpp>
#include <span>
#include <string>

#include "select/slice.hpp"

namespace smd::tool::tensor {

/// Takes a part out of a value that comes in blocks: memory holds the part and a block, whatever the value's size and
/// the order of the part's elements. `slice` must outlive it.
class PartSink final : public BlockSink {
 public:
  explicit PartSink(const SliceSpec& slice) : slice_(slice) {}

  void written(double wall_time) override { wall_time_ = wall_time; }
  bool begin(Dtype dtype, const Shape& shape) override;
  bool block(std::span<const std::byte> bytes) override;

  /// Whether the value is made of strings, of which no part can be taken in blocks: nothing was read.
  [[nodiscard]] bool has_strings() const noexcept { return dtype_ == Dtype::string; }
  /// Why the slice does not fit the value; then nothing was read.
  [[nodiscard]] const std::optional<std::string>& misfit() const noexcept { return misfit_; }
  [[nodiscard]] double wall_time() const noexcept { return wall_time_; }
  /// The part, once all blocks have come.
  [[nodiscard]] TensorValue value() const { return {dtype_, shape_, part_, size_}; }

 private:
  const SliceSpec& slice_;
  double wall_time_ = 0;
  std::optional<std::string> misfit_;
  Dtype dtype_ = Dtype::float32;
  Shape shape_;
  std::shared_ptr<std::byte[]> part_;
  std::size_t size_ = 0;
  std::optional<PartRuns> from_;  // places in the value of the elements still missing
  std::optional<PartRuns> to_;    // and in the part, one by one
  std::size_t taken_ = 0;         // of the first of the runs
  std::size_t got_ = 0;           // elements of the value
};

}  // namespace smd::tool::tensor
