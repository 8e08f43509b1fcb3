// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/export.hpp>
#include <smd/problem.hpp>
#include <smd/step.hpp>
#include <smd/value_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// Single numbers of one tensor, by one worker, in one mode and of one type, ascending by step. Valid as long as its
/// column. Precondition of members that take an index: it is below `size()`.
class ColumnPart {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::string_view worker() const noexcept { return worker_; }
  [[nodiscard]] Mode mode() const noexcept { return mode_; }
  [[nodiscard]] Dtype dtype() const noexcept { return dtype_; }
  [[nodiscard]] GlobalStep step(std::size_t i) const noexcept {
    return GlobalStep(steps_ != nullptr ? steps_[i] : first_step_ + static_cast<std::int64_t>(i) * stride_);
  }
  [[nodiscard]] ModeStep mode_step(std::size_t i) const noexcept {
    return ModeStep(mode_steps_ != nullptr ? mode_steps_[i] : step(i).value);
  }
  /// Returns the bytes of the element, little-endian, from the low end, as `Place::number`.
  [[nodiscard]] std::uint64_t number(std::size_t i) const noexcept {
    std::uint64_t bits = 0;  // little endian, as this machine is
    std::memcpy(&bits, numbers_ + i * numbers_apart_, number_bytes_);
    return bits;
  }
  /// Returns the number as the nearest double.
  [[nodiscard]] SMD_EXPORT double value(std::size_t i) const;
  /// Returns the time at which it was written, in seconds since 1970.
  [[nodiscard]] double wall_time(std::size_t i) const noexcept {
    double time = 0;
    std::memcpy(&time, times_ + i * times_apart_, sizeof time);
    return time;
  }

 private:
  friend class ScalarColumn;
  ColumnPart() = default;

  std::size_t size_ = 0;
  std::string_view worker_;
  Mode mode_ = Mode::global;
  Dtype dtype_ = Dtype::float32;
  std::int64_t first_step_ = 0;
  std::int64_t stride_ = 0;                   // from each step to the next
  const std::int64_t* steps_ = nullptr;       // null: the two above give the steps
  const std::int64_t* mode_steps_ = nullptr;  // null: they equal the steps
  const std::byte* numbers_ = nullptr;
  std::size_t numbers_apart_ = 0;  // bytes from each to the next
  std::size_t number_bytes_ = 0;
  const std::byte* times_ = nullptr;
  std::size_t times_apart_ = 0;
};

/// The single numbers of one tensor over its complete steps, such as a loss or an accuracy. What a log holds is not
/// copied; what lies in records is read in one go. Movable; safe to read from many threads.
class SMD_EXPORT ScalarColumn {
 public:
  /// Returns the column if the trial holds all numbers of the tensor, so that nothing need be read; else nullopt.
  [[nodiscard]] static std::optional<ScalarColumn> held(const Trial& trial, std::string_view tensor);
  /// Reads in parallel, without a mode or a worker those of all; an unknown worker has none. `after`: only what was
  /// saved at later steps. @throws TensorUnavailable.
  [[nodiscard]] static ScalarColumn read(const Trial& trial, std::string_view tensor, std::optional<Mode> mode = {},
                                         const std::optional<std::string>& worker = {}, const ReadOptions& reading = {},
                                         std::optional<GlobalStep> after = {});

  /// Returns the numbers, of which `held` has those of all workers by step. Else the parts of one worker are adjacent.
  [[nodiscard]] std::span<const ColumnPart> parts() const noexcept { return parts_; }
  [[nodiscard]] std::size_t size() const noexcept;
  /// Returns how many values were left out because they are not one real number.
  [[nodiscard]] std::size_t others() const noexcept { return others_; }
  /// Returns whether any of the numbers is an array of one element, such as of shape (1), not of shape ().
  [[nodiscard]] bool has_axes() const noexcept { return has_axes_; }
  /// Returns why values could not be read, by step; each names its step.
  [[nodiscard]] const std::vector<Problem>& problems() const noexcept { return problems_; }
  /// Returns the last step at which the newest written value of a worker in a mode could not be read; else nullopt.
  [[nodiscard]] std::optional<GlobalStep> last_unread() const noexcept { return last_unread_; }

 private:
  ScalarColumn() = default;

  std::shared_ptr<const void> owner_;  // of what the parts borrow
  std::vector<ColumnPart> parts_;
  std::size_t others_ = 0;
  bool has_axes_ = false;
  std::vector<Problem> problems_;
  std::optional<GlobalStep> last_unread_;
};

}  // namespace smd
