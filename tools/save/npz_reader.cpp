// SPDX-License-Identifier: Apache-2.0
#include "array.hpp"

#include <smd/error.hpp>
#include <smd/limits.hpp>

#include "common/text.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace smd::tool::save {

namespace {

constexpr std::size_t directory_end_bytes = 22;
constexpr std::size_t directory_entry_bytes = 46;
constexpr std::size_t local_header_bytes = 30;
constexpr std::uint64_t in_zip64 = 0xFFFFFFFF;

/// A ZIP archive in memory: PKWARE's APPNOTE, section 4.
class ZipReader {
 public:
  ZipReader(std::string_view file, const std::string& where, const Owner& owner)
      : file_(file), where_(where), owner_(owner) {}

  template <class Visit>
  void for_each_member(const Visit& visit) const {
    const std::size_t end = find_end();
    std::uint64_t count = number(end + 10, 2);
    std::uint64_t at = number(end + 16, 4);
    if ((count == 0xFFFF || at == in_zip64) && end >= 20 && number(end - 20, 4) == 0x07064B50) {
      const std::uint64_t zip64 = number(end - 20 + 8, 8);
      require(zip64 <= file_.size() && number(zip64, 4) == 0x06064B50);
      count = number(zip64 + 32, 8);
      at = number(zip64 + 48, 8);
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      require(at <= file_.size() && number(at, 4) == 0x02014B50);
      const std::uint64_t name_bytes = number(at + 28, 2);
      const std::uint64_t extra_bytes = number(at + 30, 2);
      Member member{.method = number(at + 10, 2),
                    .crc = number(at + 16, 4),
                    .stored = number(at + 20, 4),
                    .size = number(at + 24, 4),
                    .offset = number(at + 42, 4)};
      require((number(at + 8, 2) & 1) == 0);  // not encrypted
      const std::string_view name = bytes(at + directory_entry_bytes, name_bytes);
      read_zip64(member, bytes(at + directory_entry_bytes + name_bytes, extra_bytes));
      visit(std::string(name), content(member));
      at += directory_entry_bytes + name_bytes + extra_bytes + number(at + 32, 2);
    }
  }

 private:
  struct Member {
    std::uint64_t method = 0, crc = 0, stored = 0, size = 0, offset = 0;
  };

  void require(bool good) const {
    if (!good) {
      throw ReadError({ProblemKind::damaged, where_, {}, "not a .npz file, or a damaged one"});
    }
  }
  [[nodiscard]] std::string_view bytes(std::uint64_t at, std::uint64_t size) const {
    require(at <= file_.size() && size <= file_.size() - at);
    return file_.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  }
  [[nodiscard]] static std::uint64_t little(std::string_view text) {
    std::uint64_t value = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(text[i]);
    }
    return value;
  }
  [[nodiscard]] std::uint64_t number(std::uint64_t at, std::uint64_t size) const { return little(bytes(at, size)); }

  [[nodiscard]] std::size_t find_end() const {
    require(file_.size() >= directory_end_bytes);
    const std::size_t last = file_.size() - directory_end_bytes;
    for (std::size_t back = 0; back <= std::min<std::size_t>(last, 0xFFFF); ++back) {
      if (file_.substr(last - back, 4) == "PK\x05\x06") {
        return last - back;
      }
    }
    require(false);
    return 0;
  }

  /// What did not fit 32 bits stands in the extra field with id 1.
  void read_zip64(Member& member, std::string_view extra) const {
    while (extra.size() >= 4) {
      const std::uint64_t id = little(extra.substr(0, 2));
      const auto size = static_cast<std::size_t>(little(extra.substr(2, 2)));
      require(size <= extra.size() - 4);
      std::string_view field = extra.substr(4, size);
      extra.remove_prefix(4 + size);
      if (id != 1) {
        continue;
      }
      for (std::uint64_t* value : {&member.size, &member.stored, &member.offset}) {
        if (*value == in_zip64) {
          require(field.size() >= 8);
          *value = little(field.substr(0, 8));
          field.remove_prefix(8);
        }
      }
    }
  }

  /// Members that are not compressed are given as they stand in the archive.
  [[nodiscard]] FileContent content(const Member& member) const {
    require(number(member.offset, 4) == 0x04034B50);
    const std::uint64_t start =
        member.offset + local_header_bytes + number(member.offset + 26, 2) + number(member.offset + 28, 2);
    const std::string_view stored = bytes(start, member.stored);
    FileContent whole{stored, owner_};
    if (member.method != 0) {
      require(member.method == 8);
      const auto text = std::make_shared<const std::string>(inflated(stored, member.size));
      whole = {*text, text};
    }
    require(whole.text.size() == member.size);
    require(crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(whole.text.data()), whole.text.size()) ==
            member.crc);
    return whole;
  }

  /// At most `size` bytes; memory grows with what comes, not with what the archive says.
  [[nodiscard]] std::string inflated(std::string_view stored, std::uint64_t size) const {
    z_stream stream{};
    require(inflateInit2(&stream, -MAX_WBITS) == Z_OK);
    std::string whole;
    std::string block(std::size_t{1} << 18, '\0');
    int status = Z_OK;
    do {
      if (stream.avail_in == 0 && !stored.empty()) {
        const std::size_t some = std::min<std::size_t>(stored.size(), std::size_t{1} << 30);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stored.data()));  // NOLINT: zlib only reads it
        stream.avail_in = static_cast<uInt>(some);
        stored.remove_prefix(some);
      }
      stream.next_out = reinterpret_cast<Bytef*>(block.data());
      stream.avail_out = static_cast<uInt>(block.size());
      status = inflate(&stream, Z_NO_FLUSH);
      whole.append(block, 0, block.size() - stream.avail_out);
    } while (status == Z_OK && whole.size() <= size);
    inflateEnd(&stream);
    require(status == Z_STREAM_END);
    return whole;
  }

  std::string_view file_;
  const std::string& where_;
  const Owner& owner_;
};

}  // namespace

std::vector<std::pair<std::string, TensorValue>> parse_npz(std::string_view file, const std::string& where,
                                                           const Owner& owner) {
  std::vector<std::pair<std::string, TensorValue>> arrays;
  ZipReader(file, where, owner).for_each_member([&](std::string name, const FileContent& content) {
    const std::string place = where + " (" + name + ")";
    if (name.ends_with(".npy")) {
      name.resize(name.size() - 4);
    }
    arrays.emplace_back(std::move(name), parse_npy(content.text, place, content.owner));
  });
  return arrays;
}

}  // namespace smd::tool::save
