// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <smd/dtype.hpp>
#include <smd/hook.hpp>
#include <smd/tensor_view.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/json.hpp"

namespace smd::tool::save {

/// An array under construction, laid out as `TensorView` describes.
struct Array {
  Dtype dtype = Dtype::float64;
  Shape shape;
  std::vector<std::byte> bytes;

  [[nodiscard]] TensorView view() const& noexcept { return {dtype, shape, bytes}; }
  /// Moves the bytes into a value.
  [[nodiscard]] TensorValue value() &&;
};

/// A float64 without dimensions.
[[nodiscard]] TensorValue number_value(double number);

/// Appends one string, encoded as in string tensors.
void append_string(std::vector<std::byte>& bytes, std::string_view text);

/// @throws ReadError if the file is damaged.
void refuse_file_if(bool damaged, const std::string& where, std::string_view why);

/// What keeps a file's bytes in memory: arrays share it, so that large ones are not copied.
using Owner = std::shared_ptr<const void>;

/// Parses the bytes of a `.npy` file: versions 1 to 3, both byte orders, C and Fortran order; Unicode strings.
/// `where` names the file in errors. Without an owner of the bytes, copies them. @throws ReadError: of kind io for an
/// element type that cannot be saved, damaged for anything else.
[[nodiscard]] TensorValue parse_npy(std::string_view file, const std::string& where, const Owner& owner = nullptr);

/// What the header of a `.npy` file says.
struct NpyHeader {
  Dtype dtype = Dtype::float64;
  Shape shape;
  std::uint64_t header_bytes = 0;
  std::uint64_t file_bytes = 0;  ///< Of the whole file.
  bool as_saved = false;         ///< Whether its elements are stored as in event files.
};

/// The header in the beginning of a `.npy` file; nullopt if that is too short to tell. It bounds what is read or
/// inflated of the file. @throws ReadError as `parse_npy`.
[[nodiscard]] std::optional<NpyHeader> npy_header(std::string_view beginning, const std::string& where);

/// The arrays of a `.npz` file's bytes, by key, in the order of the file. @throws ReadError as `parse_npy`.
[[nodiscard]] std::vector<std::pair<std::string, TensorValue>> parse_npz(std::string_view file,
                                                                         const std::string& where,
                                                                         const Owner& owner = nullptr);

struct FileContent {
  std::string_view text;
  Owner owner;  ///< Of the text.
};

/// Reads all of a `.npy` or `.npz` file, or of standard input, into memory. If the input is neither, or longer than its
/// header says, reads only enough to see that: it may be endless. @throws ReadError.
[[nodiscard]] FileContent read_file(const std::string& path);
[[nodiscard]] FileContent read_standard_input();

/// A tensor whose elements are read when they are wanted.
struct StoredArray {
  Dtype dtype = Dtype::float64;
  Shape shape;
  ReadElements read;  ///< Keeps the file open. Throws ReadError if the file has become shorter.
};

/// The array of a large `.npy` file, if its elements can be saved as they are stored; nullopt for every other file,
/// which `read_file` reads. @throws ReadError.
[[nodiscard]] std::optional<StoredArray> stored_array(const std::string& path);

/// Parses JSON as Python's `json` writes it: numbers may be `NaN`, `Infinity` and `-Infinity`, without quotes. Of
/// repeated keys the last one counts. @throws InvalidValue, which says what is wrong and at which byte (from 0).
[[nodiscard]] text::JsonDocument<nlohmann::json> parse_json(std::string_view text);

/// The type whose name `to_string` gives. @throws InvalidValue, with the nearest name.
[[nodiscard]] Dtype parse_dtype(const std::string& name);

/// Makes an array of JSON as `smd-tensor --json` writes it: nested lists of numbers (also NaN, Infinity and -Infinity,
/// as numbers or strings), booleans or strings; complex numbers as [re, im]. Without a dtype, booleans stay booleans,
/// numbers become float64 and strings are refused. A shape must have as many elements as the value; it is needed for
/// empty lists.
/// @throws InvalidValue.
[[nodiscard]] Array array_from_json(const nlohmann::json& value, std::optional<Dtype> dtype,
                                    const std::optional<Shape>& shape);

}  // namespace smd::tool::save
