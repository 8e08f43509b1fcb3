// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/tensor_view.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>

namespace smd::test {

/// The first `count` elements (or all, if there are fewer) in the form in which they are recorded: numbers; the strings
/// `nan`, `inf`, `-inf`; booleans; `[re, im]`; strings. Decoded here, with nothing of the library.
[[nodiscard]] nlohmann::json first_elements(const TensorView& view, std::size_t count);

}  // namespace smd::test
