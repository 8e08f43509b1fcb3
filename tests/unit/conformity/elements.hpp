// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/tensor_view.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>

namespace smd::test {

/// Returns the first `count` elements (or all, if there are fewer) in recorded form: numbers; the strings `nan`,
/// `inf`, `-inf`; booleans; `[re, im]`; strings. Decodes them without using the library.
[[nodiscard]] nlohmann::json first_elements(const TensorView& view, std::size_t count);

}  // namespace smd::test
