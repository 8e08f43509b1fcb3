// SPDX-License-Identifier: Apache-2.0
#include "npy.hpp"

#include <smd/elements.hpp>
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "text/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace smd::tool::tensor {

namespace {

constexpr char32_t replacement = 0xFFFD;
constexpr std::size_t elements_at_once = 16384;  // that are written

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) {
    text.remove_prefix(first_character(text).bytes);
  }
  return count;
}

// Whether NumPy lacks the type: its elements are written as float32, which has all their numbers.
bool is_widened(Dtype dtype) {
  return visit_element_type(dtype, []<class Stored>(std::type_identity<Stored>) {
    return std::is_same_v<Stored, BFloat16> || std::is_same_v<Stored, Float8>;
  });
}

bool write_strings(std::size_t width, std::span<const std::byte> bytes, const ByteWriter& write) {
  bool utf8 = true;
  std::vector<char32_t> padded;
  const auto put = [&](char32_t character) {
    padded.push_back(character);
    if (padded.size() == elements_at_once) {
      write(std::as_bytes(std::span(padded)));
      padded.clear();
    }
  };
  for (std::string_view text : strings(TensorView(Dtype::string, {}, bytes))) {
    std::size_t left = width / sizeof(char32_t);
    for (; !text.empty(); left -= left > 0 ? 1 : 0) {
      const CodePoint point = first_character(text);
      utf8 = utf8 && point.valid;
      put(point.valid ? point.value : replacement);
      text.remove_prefix(point.bytes);
    }
    for (; left > 0; --left) {
      put(U'\0');
    }
  }
  write(std::as_bytes(std::span(padded)));
  return utf8;
}

void write_widened(Dtype dtype, std::span<const std::byte> bytes, const ByteWriter& write) {
  std::vector<float> numbers;
  const std::array<std::int64_t, 1> shape = {static_cast<std::int64_t>(bytes.size() / item_size(dtype))};
  visit_numbers({dtype, shape, bytes}, [&](const auto& elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      numbers.push_back(static_cast<float>(elements[i]));
      if (numbers.size() == elements_at_once || i + 1 == elements.size()) {
        write(std::as_bytes(std::span(numbers)));
        numbers.clear();
      }
    }
  });
}

}  // namespace

NpyType npy_type(Dtype dtype) {
  const std::size_t size = is_widened(dtype) ? sizeof(float) : item_size(dtype);
  return {std::string(size == 1 ? "|" : "<") + numpy_kind(dtype) + std::to_string(size), size};
}

NpyType stacked_npy_type(Dtype dtype, const std::vector<std::span<const std::byte>>& parts) {
  if (dtype != Dtype::string) {
    return npy_type(dtype);
  }
  std::size_t longest = 1;  // as NumPy, which has no strings of width 0
  for (const std::span<const std::byte> part : parts) {
    for (const std::string_view text : strings(TensorView(dtype, {}, part))) {
      longest = std::max(longest, code_points(text));
    }
  }
  return {"<U" + std::to_string(longest), 4 * longest};
}

std::string too_much_padding(const NpyType& type, Dtype dtype, std::span<const std::int64_t> shape,
                             const std::vector<std::span<const std::byte>>& parts) {
  if (dtype != Dtype::string) {
    return {};
  }
  constexpr std::uint64_t times = 16;
  const std::uint64_t there = sum_of(parts, [](std::span<const std::byte> part) { return part.size(); });
  // Each string has its length in the bytes, so there are this many, and the product fits unless a size is 0.
  const std::uint64_t count = element_count({shape.begin(), shape.end()}).value_or(0);
  const std::uint64_t most = std::max(limits::padded_text_bytes, times * there);
  if (count <= most / type.item_size) {
    return {};
  }
  return std::to_string(count) + " texts, each as wide as the longest of " + std::to_string(type.item_size / 4) +
         " characters, would take more than " + std::to_string(most >> 20U) + " MiB (padded_text_bytes); use -f jsonl";
}

std::string npy_header(const NpyType& type, std::span<const std::int64_t> shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type.descr,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // Magic, version and length take 10 bytes; the whole is a multiple of 64 and ends in a newline.
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

bool write_npy_elements(Dtype dtype, const NpyType& type, std::span<const std::byte> bytes, const ByteWriter& write) {
  if (dtype == Dtype::string) {
    return write_strings(type.item_size, bytes, write);
  }
  if (is_widened(dtype)) {
    write_widened(dtype, bytes, write);
  } else {
    write(bytes);
  }
  return true;
}

}  // namespace smd::tool::tensor
