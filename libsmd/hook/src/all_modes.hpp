// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/step.hpp>

#include <array>

namespace smd::detail {

/// The modes in the order of the reference's `save_config`.
inline constexpr std::array<Mode, 4> all_modes = {Mode::train, Mode::eval, Mode::predict, Mode::global};

}  // namespace smd::detail
