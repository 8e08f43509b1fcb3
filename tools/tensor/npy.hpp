// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <smd/tensor_view.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool::tensor {

/// What an array is in NumPy's file format.
struct NpyType {
  std::string descr;          ///< `<f4`, `|b1`, `<U12`.
  std::size_t item_size = 0;  ///< Bytes of one element there.
};

/// NumPy's type for our elements, which are no strings.
[[nodiscard]] NpyType npy_type(Dtype dtype);
/// The type of several parts' elements in one array. Of strings, `<U` has the length of the longest.
[[nodiscard]] NpyType stacked_npy_type(Dtype dtype, const std::vector<std::span<const std::byte>>& parts);

/// Why strings that are not UTF-8 are not written: arrays of text would lose their bytes.
inline constexpr std::string_view not_text =
    "bytes that are not text, as pictures are, have no place in NumPy's arrays of text; -f raw -o DIR/ writes each "
    "string to a file";

/// Why text is not written; empty if it is. Each element takes as much room as the longest: all together may take
/// limits::padded_text_bytes, or sixteen times the bytes that were saved if that is more.
[[nodiscard]] std::string too_much_padding(const NpyType& type, Dtype dtype, std::span<const std::int64_t> shape,
                                           const std::vector<std::span<const std::byte>>& parts);

/// The header of a .npy file, version 1.0: C order.
[[nodiscard]] std::string npy_header(const NpyType& type, std::span<const std::int64_t> shape);

using ByteWriter = std::function<void(std::span<const std::byte>)>;

/// Elements as NumPy stores them: bfloat16 as float32, strings as UTF-32 of the type's width, all others unchanged.
/// Numbers may come in blocks of whole elements. Returns false if some string was not UTF-8 (U+FFFD stands for each
/// such byte): such strings are not to be written.
bool write_npy_elements(Dtype dtype, const NpyType& type, std::span<const std::byte> bytes, const ByteWriter& write);

}  // namespace smd::tool::tensor
