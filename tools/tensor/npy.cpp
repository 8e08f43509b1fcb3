// SPDX-License-Identifier: Apache-2.0
#include "npy.hpp"

#include <smd/elements.hpp>
#include <smd/limits.hpp>
#include "cli/text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

namespace smd::tool::tensor {

namespace {

constexpr char32_t replacement = 0xFFFD;

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) {
    text.remove_prefix(decode_utf8(text).size);
  }
  return count;
}

// Whether NumPy lacks the type: its elements are written as float32, which has all their numbers.
bool is_widened(Dtype dtype) {
  return visit_element_type(dtype, []<class Stored>(ElementType<Stored>) {
    return std::is_same_v<Stored, BFloat16> || std::is_same_v<Stored, Float8>;
  });
}

// Gathers small pieces.
class Buffered {
 public:
  explicit Buffered(const ByteWriter& write) : write_(write) {}

  void add(const std::byte* bytes, std::size_t size) {
    if (used_ + size > buffer_.size()) {
      flush();
    }
    std::copy_n(bytes, size, buffer_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ += size;
  }
  void flush() {
    write_({buffer_.data(), used_});
    used_ = 0;
  }

 private:
  const ByteWriter& write_;
  std::size_t used_ = 0;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{64} << 10);
};

bool write_strings(std::size_t width, std::span<const std::byte> bytes, const ByteWriter& write) {
  Buffered out(write);
  bool utf8 = true;
  const std::array<std::byte, 4> zero = {};
  while (bytes.size() >= 4) {
    std::uint32_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 4, size);
    bytes = bytes.subspan(4 + std::size_t{size});
    std::size_t filled = 0;
    for (; !text.empty(); filled += 4) {
      const DecodedCharacter point = decode_utf8(text);
      utf8 = utf8 && point.valid;
      const char32_t value = point.valid ? point.value : replacement;
      out.add(reinterpret_cast<const std::byte*>(&value), 4);
      text.remove_prefix(point.size);
    }
    for (; filled < width; filled += 4) {
      out.add(zero.data(), 4);
    }
  }
  out.flush();
  return utf8;
}

void write_widened(Dtype dtype, std::span<const std::byte> bytes, const ByteWriter& write) {
  Buffered out(write);
  const std::array<std::int64_t, 1> shape = {static_cast<std::int64_t>(bytes.size() / item_size(dtype))};
  visit_numbers({dtype, shape, bytes}, [&out](const auto& elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const auto number = static_cast<float>(elements[i]);
      out.add(reinterpret_cast<const std::byte*>(&number), sizeof number);
    }
  });
  out.flush();
}

}  // namespace

NpyType npy_type(Dtype dtype) {
  const std::size_t size = is_widened(dtype) ? sizeof(float) : item_size(dtype);
  return {std::string(size == 1 ? "|" : "<") + numpy_kind(dtype) + std::to_string(size), size};
}

NpyType npy_type(const TensorView& value) {
  if (value.dtype() != Dtype::string) {
    return npy_type(value.dtype());
  }
  std::size_t longest = 1;  // as NumPy, which has no strings of width 0
  for (const std::string_view text : strings(value)) {
    longest = std::max(longest, code_points(text));
  }
  return {"<U" + std::to_string(longest), 4 * longest};
}

NpyType stacked_npy_type(Dtype dtype, const std::vector<std::span<const std::byte>>& parts) {
  if (dtype != Dtype::string) {
    return npy_type(dtype);
  }
  NpyType widest;
  for (const std::span<const std::byte> part : parts) {
    NpyType type = npy_type(TensorView(dtype, {}, part));
    if (type.item_size > widest.item_size) {
      widest = std::move(type);
    }
  }
  return widest;
}

std::string too_much_padding(const NpyType& type, Dtype dtype, std::span<const std::int64_t> shape,
                             const std::vector<std::span<const std::byte>>& parts) {
  if (dtype != Dtype::string) {
    return {};
  }
  constexpr std::uint64_t times = 16;
  std::uint64_t there = 0;
  for (const std::span<const std::byte> part : parts) {
    there += part.size();
  }
  // Each string has its length in the bytes, so there are this many, and the product fits.
  const std::uint64_t count =
      std::accumulate(shape.begin(), shape.end(), std::uint64_t{1},
                      [](std::uint64_t all, std::int64_t axis) { return all * static_cast<std::uint64_t>(axis); });
  const std::uint64_t most = std::max(limits::padded_text_bytes, times * there);
  if (count <= most / type.item_size) {
    return {};
  }
  return std::to_string(count) + " texts, each as wide as the longest of " + std::to_string(type.item_size / 4) +
         " characters, would take more than " + std::to_string(most >> 20U) + " MiB (padded_text_bytes); use -f jsonl";
}

std::string npy_header(const NpyType& type, std::span<const std::int64_t> shape) {
  std::string text = "{'descr': '" + type.descr + "', 'fortran_order': False, 'shape': (";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    text += (axis != 0 ? " " : "") + std::to_string(shape[axis]) + ",";
  }
  if (shape.size() > 1) {
    text.pop_back();
  }
  text += "), }";
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
  is_widened(dtype) ? write_widened(dtype, bytes, write) : write(bytes);
  return true;
}

}  // namespace smd::tool::tensor
