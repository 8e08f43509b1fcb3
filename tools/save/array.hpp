// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <smd/tensor_view.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::tool::save {

/// An array that was read, laid out as `TensorView` describes.
struct Array {
  Dtype dtype = Dtype::float64;
  Shape shape;
  std::vector<std::byte> bytes;

  [[nodiscard]] TensorView view() const& noexcept { return {dtype, shape, bytes}; }
};

/// Appends one string as string tensors have it.
void append_string(std::vector<std::byte>& bytes, std::string_view text);

/// The array of a `.npy` file's bytes: versions 1 to 3, both byte orders, C and Fortran order; Unicode strings.
/// `where` names the file in errors. @throws ReadError (Damaged) for anything else.
[[nodiscard]] Array parse_npy(std::string_view file, const std::string& where);

/// The arrays of a `.npz` file's bytes, by key, in the order in which they stand there. @throws ReadError (Damaged).
[[nodiscard]] std::vector<std::pair<std::string, Array>> parse_npz(std::string_view file, const std::string& where);

/// All of a file, or of standard input. @throws ReadError.
[[nodiscard]] std::string read_file(const std::string& path);
[[nodiscard]] std::string read_standard_input();

}  // namespace smd::tool::save
