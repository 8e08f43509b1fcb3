// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <smd/dtype.hpp>

namespace smd::tool {

/// The 256 numbers of an 8-bit floating-point type, by code, exactly; null for other types.
[[nodiscard]] const std::array<float, 256>* float8_numbers(Dtype dtype) noexcept;

}  // namespace smd::tool
