// SPDX-License-Identifier: Apache-2.0
#include "draw/png.hpp"

#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <new>

namespace smd::tool {

namespace {

constexpr std::size_t shades_of_png = 255;  // and one for NaN

void append_big_endian(std::string& out, std::size_t number) {
  for (const int shift : {24, 16, 8, 0}) {
    out += static_cast<char>((number >> shift) & 0xFFu);
  }
}

void append_chunk(std::string& out, std::string_view type, std::string_view data) {
  append_big_endian(out, data.size());
  const std::size_t begin = out.size();
  out += type;
  out += data;
  const auto* const bytes = reinterpret_cast<const Bytef*>(out.data() + begin);
  append_big_endian(out, crc32(0, bytes, static_cast<uInt>(out.size() - begin)));
}

std::string deflated(const std::string& data) {
  uLongf size = compressBound(static_cast<uLong>(data.size()));
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
                static_cast<uLong>(data.size()), Z_BEST_COMPRESSION) != Z_OK) {
    throw std::bad_alloc();  // nothing else can fail with this much room
  }
  out.resize(size);
  return out;
}

}  // namespace

std::string png_base64(std::span<const double> levels, std::size_t rows, std::size_t columns, const Rgb* nothing) {
  std::string head;
  append_big_endian(head, columns);
  append_big_endian(head, rows);
  head += std::string_view("\x08\x03\x00\x00\x00", 5);  // 8 bits, by palette
  std::string colors;
  const Rgb first = nothing != nullptr ? *nothing : Rgb{};
  colors.append(first.begin(), first.end());
  for (std::size_t i = 0; i < shades_of_png; ++i) {
    const Rgb color = shade_of(static_cast<double>(i) / static_cast<double>(shades_of_png - 1));
    colors.append(color.begin(), color.end());
  }
  std::string pixels;
  pixels.reserve(rows * (columns + 1));
  for (std::size_t place = 0; place < levels.size(); ++place) {
    if (place % columns == 0) {
      pixels += '\0';  // filter type: none
    }
    const double level = levels[place];
    pixels += static_cast<char>(std::isnan(level) ? 0 : 1 + std::lround(level * (shades_of_png - 1)));
  }
  std::string png = "\x89PNG\r\n\x1a\n";
  append_chunk(png, "IHDR", head);
  append_chunk(png, "PLTE", colors);
  if (nothing == nullptr) {
    append_chunk(png, "tRNS", std::string_view("\0", 1));
  }
  append_chunk(png, "IDAT", deflated(pixels));
  append_chunk(png, "IEND", {});
  return base64(png);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      three = three << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += at + i <= bytes.size() ? digits[(three >> (18 - 6 * i)) & 63u] : '=';
    }
  }
  return out;
}

}  // namespace smd::tool
