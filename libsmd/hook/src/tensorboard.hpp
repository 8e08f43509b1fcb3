// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/step.hpp>
#include <smd/tensor_view.hpp>

#include "wire/encode_summary.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail::hook {

/// A tensor's name as TensorBoard's tag: what is neither letter nor digit (of any script) nor `_ . / -` becomes `_`,
/// leading slashes go.
[[nodiscard]] std::string tensorboard_tag(std::string_view name);

/// `TRAIN/000000000008_PID_HOST.tfevents`.
[[nodiscard]] std::string tensorboard_file(Mode mode, std::int64_t step);

/// The elements in TensorFlow's default buckets, of which empty ones at both ends are left out. Nothing for types that
/// are not real numbers, for booleans, and where no element is finite. NaN and infinities are left out.
[[nodiscard]] std::optional<wire::HistogramSummary> tensorboard_histogram(const TensorView& value);

/// The one number that a tensor of one real element holds.
[[nodiscard]] std::optional<double> single_number(const TensorView& value);

}  // namespace smd::detail::hook
