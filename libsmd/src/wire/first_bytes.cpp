// SPDX-License-Identifier: Apache-2.0
#include "wire/first_bytes.hpp"

#include "text/escape.hpp"
#include "text/limits.hpp"
#include "wire/framing.hpp"

#include <algorithm>
#include <array>

namespace smd::detail::wire {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view not_saved_by_it = "torch.save did not write it, so no tensors are read";
constexpr std::string_view unpack_it = "unpack it, and name the folder of the trial";

struct Row {
  std::size_t offset;
  std::string_view bytes;
  KnownFile file;
};

// The first row that fits counts.
// clang-format off
constexpr std::array rows = {
    Row{0, "version https://git-lfs"sv, {FileKind::other, "a Git LFS pointer", "git lfs pull fetches it", true}},
    Row{0, "PK\3\4"sv, {FileKind::zip, "a ZIP archive", {}, true}},
    Row{0, "PK\5\6"sv, {FileKind::zip, "a ZIP archive", {}, true}},
    Row{0, "\x80\x02"sv, {FileKind::other, "a plain pickle", not_saved_by_it, true}},
    Row{0, "\x80\x03"sv, {FileKind::other, "a plain pickle", not_saved_by_it, true}},
    Row{0, "\x80\x04"sv, {FileKind::other, "a plain pickle", not_saved_by_it, true}},
    Row{0, "\x80\x05"sv, {FileKind::other, "a plain pickle", not_saved_by_it, true}},
    Row{0, "\x93NUMPY"sv, {FileKind::other, "an array of NumPy", {}}},
    Row{0, "\x1F\x8B"sv, {FileKind::gzip, "compressed with gzip", "uncompress it (gunzip)"}},
    Row{0, "BZh"sv, {FileKind::other, "compressed with bzip2", unpack_it}},
    Row{0, "\xFD" "7zXZ\0"sv, {FileKind::other, "compressed with xz", unpack_it}},
    Row{0, "\x28\xB5\x2F\xFD"sv, {FileKind::other, "compressed with zstd", unpack_it}},
    Row{0, "7z\xBC\xAF\x27\x1C"sv, {FileKind::other, "a 7z archive", unpack_it}},
    Row{0, "sys_info\0"sv, {FileKind::other, "a tar archive, as PyTorch before 0.1.10 wrote it", "that form is not read", true}},
    Row{257, "ustar"sv, {FileKind::other, "a tar archive", unpack_it}},
    Row{0, "\xFF\xFE"sv, {FileKind::other, "text in UTF-16", "convert it to UTF-8 (iconv)"}},
    Row{0, "\xFE\xFF"sv, {FileKind::other, "text in UTF-16", "convert it to UTF-8 (iconv)"}},
    Row{0, "GGUF"sv, {FileKind::other, "a GGUF model", {}}},
    Row{0, "\x89HDF\r\n\x1A\n"sv, {FileKind::other, "an HDF5 file", {}}},
    Row{0, "SQLite format 3\0"sv, {FileKind::other, "an SQLite database", {}}},
};
// clang-format on

constexpr KnownFile empty_file = {FileKind::empty, "empty", {}, true};
constexpr KnownFile zeros = {FileKind::zeros, "all zeros", "its content was lost; copy it again", true};
constexpr KnownFile many_zeros = {FileKind::zeros, "all zeros up to the limit (row_bytes)",
                                  "its beginning was lost; copy it again", true};
constexpr KnownFile web_page = {FileKind::other, "a web page", "the download failed; fetch it again", true};
constexpr KnownFile packed = {FileKind::zip, "a ZIP archive", unpack_it, true};
constexpr KnownFile pytorch = {FileKind::pytorch, "a PyTorch checkpoint", {}, true};
constexpr KnownFile npz = {FileKind::npz, "an npz archive of NumPy", {}};
constexpr KnownFile onnx = {FileKind::other, "an ONNX model", {}};
constexpr KnownFile plain_text = {FileKind::text, "text", {}};

/// Returns what a ZIP archive is, by the name of its first member, or else by its own.
const KnownFile& kind_of_zip(std::string_view first, std::string_view name, const KnownFile& any) noexcept {
  constexpr std::array models = {".pt"sv,          ".pth"sv,    ".bin"sv,    ".ckpt"sv,
                                 ".safetensors"sv, ".distcp"sv, ".pt.tar"sv, ".pth.tar"sv};
  constexpr std::size_t length_at = 26;
  constexpr std::size_t name_at = 30;
  const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(first[at])}; };
  const std::string_view member =
      first.size() < name_at ? std::string_view() : first.substr(name_at, byte(length_at) | byte(length_at + 1) << 8);
  const auto ends_name = [&](std::string_view ending) { return name.ends_with(ending); };
  constexpr std::array parts = {"/data.pkl"sv,        "/version"sv,       "/byteorder"sv,
                                "/.format_version"sv, "/constants.pkl"sv, "/.storage_alignment"sv};
  const auto ends_member = [&](std::string_view ending) { return member.ends_with(ending); };
  return member.ends_with(".npy") ? npz
         : std::ranges::any_of(parts, ends_member) || member.find("/data/") != member.npos ||
                 std::ranges::any_of(models, ends_name)
             ? pytorch
         : name.ends_with(".zip") ? packed
                                  : any;
}

/// Returns whether it is text in UTF-8. A character that is cut at the end, and zeros there, as a crash leaves them,
/// are passed.
bool is_text(std::string_view first) noexcept {
  first = first.substr(0, first.find_last_not_of('\0') + 1);
  while (!first.empty()) {
    const CodePoint character = first_character(first);
    if (!character.valid) {
      return first.size() < 4 && static_cast<unsigned char>(first.front()) >= 0xC2;
    }
    const bool control = character.value < 0x20 || character.value == 0x7F;
    if (control && "\t\n\r\f\v"sv.find(first.front()) == first.npos) {
      return false;
    }
    first.remove_prefix(character.bytes);
  }
  return true;
}

/// A model of ONNX has a small version first, and then the name of its producer or its graph.
bool is_onnx(std::string_view first) noexcept {
  constexpr char most_version = 32;
  return first.size() >= 4 && first[0] == 8 && first[1] > 0 && first[1] < most_version &&
         (first[2] == 0x12 || first[2] == 0x3A) && first[3] != 0;
}

}  // namespace

bool may_be_text(std::span<const std::byte> first, std::string_view name) noexcept {
  const KnownFile* const known = known_file(first, name);
  const auto line = first.first(static_cast<std::size_t>(std::ranges::find(first, std::byte{'\n'}) - first.begin()));
  const auto control = [](std::byte one) {
    return one < std::byte{' '} && one != std::byte{'\t'} && one != std::byte{'\r'};
  };
  return known != nullptr ? known->kind == FileKind::text : std::ranges::none_of(line, control);
}

bool begins_torch_stream(std::string_view first) noexcept {
  constexpr std::string_view number = "\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19\x2E";
  constexpr std::string_view frame = "\x95\x0D\0\0\0\0\0\0\0"sv;
  if (first.starts_with("\x80\x02"sv) || first.starts_with("\x80\x03"sv)) {
    return first.substr(2).starts_with(number);
  }
  if (first.starts_with("\x80\x04"sv) || first.starts_with("\x80\x05"sv)) {
    return first.substr(2).starts_with(frame) && first.substr(2 + frame.size()).starts_with(number);
  }
  return first.starts_with("L119547037146038801333356L\n.");
}

const KnownFile* known_file(std::span<const std::byte> bytes, std::string_view name) noexcept {
  const std::string_view first(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (first.empty()) {
    return &empty_file;
  }
  if (begins_torch_stream(first)) {
    return &pytorch;
  }
  for (const Row& row : rows) {
    if (first.size() > row.offset && first.substr(row.offset).starts_with(row.bytes)) {
      return row.file.kind == FileKind::zip ? &kind_of_zip(first, name, row.file) : &row.file;
    }
  }
  if (first.find_first_not_of('\0') == first.npos) {
    return first.size() < limits::row_bytes ? &zeros : &many_zeros;  // more may stand behind these
  }
  if (is_onnx(first)) {
    return &onnx;
  }
  if (!is_text(first)) {
    return nullptr;
  }
  const std::size_t begin = first.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return begin != first.npos && first[begin] == '<' ? &web_page : &plain_text;
}

std::string say(const KnownFile& file) {
  std::string text = "is " + std::string(file.what);
  return file.advice.empty() ? text : text + ": " + std::string(file.advice);
}

bool looks_compressed(std::span<const std::byte> first_bytes) noexcept {
  const auto byte = [&](std::size_t at) { return std::to_integer<unsigned>(first_bytes[at]); };
  if (first_bytes.size() < 2) {
    return false;
  }
  const bool gzip = byte(0) == 0x1F && byte(1) == 0x8B && (first_bytes.size() < 3 || byte(2) == 8);
  const bool zlib = byte(0) == 0x78 && (byte(0) * 256 + byte(1)) % 31 == 0 && (byte(1) & 0x20) == 0;
  if (!gzip && !zlib) {
    return false;
  }
  // A plain file may begin like this because of the length of its first record, but then that length's checksum is
  // correct.
  return first_bytes.size() < header_bytes || !parse_header(first_bytes.first(header_bytes));
}

Problem json_problem(const text::JsonError& error, std::string_view text) {
  const KnownFile* const known = known_file(std::as_bytes(std::span(text.substr(0, telling_bytes))), {});
  if (!text.empty() && known != nullptr && known->kind != FileKind::text) {
    return damaged(say(*known), 0);
  }
  switch (error.fault) {
    case text::JsonFault::too_deep:
      return damaged("nested deeper than the limit (json_depth)");
    case text::JsonFault::cut_off:
      return damaged("the JSON document is cut off", error.offset);
    case text::JsonFault::number:
      return damaged("the number " + printable(error.number) + " is beyond a double", error.offset);
    case text::JsonFault::no_object:
      return damaged("not a JSON object", error.offset);
    case text::JsonFault::no_memory:
      return make_problem(ProblemKind::io, "memory ran out");
    case text::JsonFault::malformed:
      break;
  }
  return damaged("not valid JSON from here on", error.offset);
}

}  // namespace smd::detail::wire
