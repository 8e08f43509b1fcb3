// SPDX-License-Identifier: Apache-2.0
#include "array.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "text/limits.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace smd::tool::save {

namespace {

constexpr std::size_t directory_end_bytes = 22;
constexpr std::size_t directory_entry_bytes = 46;
constexpr std::size_t local_header_bytes = 30;
constexpr std::uint64_t in_zip64 = 0xFFFFFFFF;
constexpr std::size_t first_inflated = std::size_t{4} << 10;  ///< Of what is inflated: enough for a header.
constexpr std::size_t later_inflated = std::size_t{256} << 10;

/// A ZIP archive in memory, as PKWARE's APPNOTE specifies it.
class ZipReader {
 public:
  ZipReader(std::string_view file, const std::string& where, const Owner& owner)
      : file_(file), where_(where), owner_(owner) {}

  /// All members are checked before one is unpacked: they must not overlap each other or the directory, and their sizes
  /// together must be possible for an archive of this size.
  [[nodiscard]] std::vector<std::pair<std::string, TensorValue>> arrays() {
    read_directory();
    check_places();
    std::uint64_t to_unpack = 0;
    for (const Member& member : members_) {
      add_unpacked(to_unpack, member.method == 0 ? 0 : member.size);
    }
    std::uint64_t unpacked = 0;
    std::vector<std::pair<std::string, TensorValue>> all;
    for (const Member& member : members_) {
      const FileContent whole = content(member);
      const std::size_t ending = member.name.ends_with(".npy") ? 4 : 0;
      all.emplace_back(member.name.substr(0, member.name.size() - ending),
                       parse_npy(whole.text, place_of(member), whole.owner));
      add_unpacked(unpacked, all.back().second.bytes().size());  // empty strings have no bytes in a file
    }
    return all;
  }

 private:
  struct Member {
    std::string name;
    std::uint64_t method = 0, crc = 0, stored = 0, size = 0, offset = 0;
  };

  /// Deflate makes up to a thousand bytes of one, so the total is limited. @throws ReadError if it is exceeded.
  void add_unpacked(std::uint64_t& all, std::uint64_t more) const {
    constexpr std::uint64_t times = 64;
    const std::uint64_t most = std::max<std::uint64_t>(limits::unpacked_bytes, times * file_.size());
    refuse_file_if(more > most - all, where_,
                   "its members would be more than " + std::to_string(most >> 20U) +
                       " MiB (unpacked_bytes); unpack it, and save the .npy files one by one");
    all += more;
  }

  void read_directory() {
    const std::size_t end = find_end();
    std::uint64_t count = number(end + 10, 2);
    std::uint64_t at = number(end + 16, 4);
    if ((count == 0xFFFF || at == in_zip64) && end >= 20 && number(end - 20, 4) == 0x07064B50) {
      const std::uint64_t zip64 = number(end - 20 + 8, 8);
      require(zip64 <= file_.size() && number(zip64, 4) == 0x06064B50);
      count = number(zip64 + 32, 8);
      at = number(zip64 + 48, 8);
    }
    start_ = at;
    for (std::uint64_t i = 0; i < count; ++i) {
      require(at <= file_.size() && number(at, 4) == 0x02014B50);
      const std::uint64_t name_bytes = number(at + 28, 2);
      const std::uint64_t extra_bytes = number(at + 30, 2);
      Member member{.name = std::string(bytes(at + directory_entry_bytes, name_bytes)),
                    .method = number(at + 10, 2),
                    .crc = number(at + 16, 4),
                    .stored = number(at + 20, 4),
                    .size = number(at + 24, 4),
                    .offset = number(at + 42, 4)};
      require((number(at + 8, 2) & 1) == 0);  // not encrypted
      read_zip64(member, bytes(at + directory_entry_bytes + name_bytes, extra_bytes));
      require(member.offset < start_ && member.stored <= start_ - member.offset);
      members_.push_back(std::move(member));
      at += directory_entry_bytes + name_bytes + extra_bytes + number(at + 32, 2);
    }
  }

  /// Refuses overlaps: a small archive could contain any number of arrays.
  void check_places() const {
    std::vector<const Member*> by_place = mapped(members_, [](const Member& member) { return &member; });
    std::ranges::sort(by_place, {}, &Member::offset);
    for (std::size_t i = 0; i < by_place.size(); ++i) {
      const Member& member = *by_place[i];
      const bool last = i + 1 == by_place.size();
      refuse_file_if(start_of(member) + member.stored > (last ? start_ : by_place[i + 1]->offset), where_,
                     "member " + single_quoted(member.name) + " reaches into " +
                         (last ? "the directory" : single_quoted(by_place[i + 1]->name)) +
                         ": a damaged archive, or one made to do harm");
    }
  }

  [[nodiscard]] std::string place_of(const Member& member) const { return where_ + " (" + member.name + ")"; }
  void require(bool good) const { refuse_file_if(!good, where_, "not a .npz file, or a damaged one"); }
  [[nodiscard]] std::string_view bytes(std::uint64_t at, std::uint64_t size) const {
    require(at <= file_.size() && size <= file_.size() - at);
    return file_.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  }
  [[nodiscard]] static std::uint64_t little(std::string_view text) {
    std::uint64_t value = 0;
    std::memcpy(&value, text.data(), text.size());
    return value;
  }
  [[nodiscard]] std::uint64_t number(std::uint64_t at, std::uint64_t size) const { return little(bytes(at, size)); }

  [[nodiscard]] std::size_t find_end() const {
    require(file_.size() >= directory_end_bytes);
    const std::size_t last = file_.size() - directory_end_bytes;
    const std::size_t first = last - std::min<std::size_t>(last, 0xFFFF);
    const std::size_t end = file_.substr(first).rfind("PK\x05\x06", last - first);
    require(end != file_.npos);
    return first + end;
  }

  /// Reads the numbers that do not fit 32 bits, which are in the extra field with id 1.
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

  /// Where the member's bytes begin, after its local header.
  [[nodiscard]] std::uint64_t start_of(const Member& member) const {
    return member.offset + local_header_bytes + number(member.offset + 26, 2) + number(member.offset + 28, 2);
  }

  /// The bytes of a member; if they are not compressed, those in the archive.
  [[nodiscard]] FileContent content(const Member& member) const {
    require(number(member.offset, 4) == 0x04034B50);
    const std::string_view stored = bytes(start_of(member), member.stored);
    FileContent whole{stored, owner_};
    if (member.method != 0) {
      require(member.method == 8);
      const auto text = std::make_shared<const std::string>(inflated(stored, member));
      whole = {*text, text};
    }
    require(whole.text.size() == member.size);
    require(crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(whole.text.data()), whole.text.size()) ==
            member.crc);
    return whole;
  }

  /// Inflates a member to as many bytes as the directory says. Memory grows with the output, and the array's header
  /// must ask for as many: deflate makes hundreds of megabytes of zeros from a few kilobytes.
  [[nodiscard]] std::string inflated(std::string_view stored, const Member& member) const {
    z_stream stream{};
    require(inflateInit2(&stream, -MAX_WBITS) == Z_OK);
    const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, inflateEnd);
    const std::string place = place_of(member);
    std::optional<std::uint64_t> wanted;
    std::string whole;
    std::string block(first_inflated, '\0');
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
      if (!wanted) {
        const auto header = npy_header(whole, place);
        wanted = header ? std::optional(header->file_bytes) : std::nullopt;
        const std::uint64_t asked = wanted.value_or(member.size);
        refuse_file_if(asked != member.size, place,
                       "its header asks for " + std::to_string(asked) + " bytes in all, and the archive has " +
                           std::to_string(member.size));
        block.resize(wanted ? later_inflated : first_inflated);
      }
    } while (status == Z_OK && whole.size() <= member.size);
    require(status == Z_STREAM_END);
    return whole;
  }

  std::string_view file_;
  const std::string& where_;
  const Owner& owner_;
  std::vector<Member> members_;  ///< In the order of the directory.
  std::uint64_t start_ = 0;      ///< Of the directory.
};

}  // namespace

std::vector<std::pair<std::string, TensorValue>> parse_npz(std::string_view file, const std::string& where,
                                                           const Owner& owner) {
  return ZipReader(file, where, owner).arrays();
}

}  // namespace smd::tool::save
