// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/step.hpp>
#include <smd/tensor_view.hpp>

#include "wire/encode.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail::hook {

/// Returns a tensor's name as a TensorBoard tag: each character that is neither a letter or digit of any script nor one
/// of `_ . / -` becomes `_`; leading slashes are removed.
[[nodiscard]] std::string tensorboard_tag(std::string_view name);

/// `TRAIN/000000000008_PID_HOST.tfevents`.
[[nodiscard]] std::string tensorboard_file(Mode mode, std::int64_t step);

/// Counts the finite elements in TensorFlow's default buckets; empty buckets at both ends are left out. Returns nullopt
/// for complex numbers, strings and booleans, and if no element is finite. Adds the number of other elements to
/// `left_out`.
[[nodiscard]] std::optional<wire::HistogramSummary> tensorboard_histogram(const TensorView& value,
                                                                          std::uint64_t& left_out);

/// Returns the only element of a tensor as a double; nullopt if the tensor is not real or has not exactly one element.
[[nodiscard]] std::optional<double> single_number(const TensorView& value);

}  // namespace smd::detail::hook
