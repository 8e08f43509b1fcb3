// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/number_format.hpp"
#include "cli/output_file.hpp"
#include "rows/elements.hpp"

namespace smd::tool::tensor {

/// A value as nested JSON arrays; a scalar as itself.
///
/// Without elements, as NumPy's `tolist`: `[[], []]` for 2x0. A shape that would make millions of empty arrays becomes
/// `[]`; the shape has a key of its own.
void write_json_value(OutputFile& out, const Elements& elements, int precision, NonFinite style);

}  // namespace smd::tool::tensor
