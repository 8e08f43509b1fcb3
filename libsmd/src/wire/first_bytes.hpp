// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/json.hpp"
#include "types/outcome.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// What stands in the place of a file that was expected, as its first bytes show.
namespace smd::detail::wire {

/// How many first bytes tell each kind of file.
inline constexpr std::size_t telling_bytes = 512;

enum class FileKind : std::uint8_t { empty, zeros, pytorch, npz, zip, gzip, text, other };

/// A kind of file that no layout reads as its own.
struct KnownFile {
  FileKind kind = FileKind::empty;
  std::string_view what;    ///< `a Git LFS pointer`
  std::string_view advice;  ///< `git lfs pull fetches it`, or empty.
  /// It is what is left of a checkpoint, or was taken for one: of no other file would so be said by its first bytes
  /// alone.
  bool for_checkpoint = false;
};

/// Returns what a file is. `first`: its first `telling_bytes` bytes, or all that it has. `name`: tells what a ZIP
/// archive is whose first member does not. Null if they tell nothing.
[[nodiscard]] const KnownFile* known_file(std::span<const std::byte> first, std::string_view name) noexcept;

/// Returns whether a file is text. Some of it may be in no known encoding, but its first line has no control
/// characters.
[[nodiscard]] bool may_be_text(std::span<const std::byte> first, std::string_view name) noexcept;

/// Returns whether a file begins with the number 0x1950a86a20f9469cfc6c, pickled by any protocol: torch.save wrote it
/// as a stream (torch/serialization.py, `_legacy_save`). `first`: as for `known_file`.
[[nodiscard]] bool begins_torch_stream(std::string_view first) noexcept;

/// Returns whether the first bytes tell that a file is neither text nor empty. `file`: may be null.
[[nodiscard]] inline bool is_no_text(const KnownFile* file) noexcept {
  return file != nullptr && file->kind != FileKind::text && file->kind != FileKind::empty;
}

/// Returns `KnownFile::for_checkpoint` of a file that may be null.
[[nodiscard]] inline bool may_stand_for_checkpoint(const KnownFile* file) noexcept {
  return file != nullptr && file->for_checkpoint;
}

/// Returns `is a Git LFS pointer: git lfs pull fetches it`.
[[nodiscard]] std::string say(const KnownFile& file);

/// Returns whether a file of records is compressed with GZIP or ZLIB, from its first bytes (four suffice; fewer than
/// two give false). A plain record file looks compressed only if the low bytes of its first record's length are 1f 8b
/// 08 or 78 xx; then the length's checksum decides, so pass the first 12 bytes where the file has them.
[[nodiscard]] bool looks_compressed(std::span<const std::byte> first_bytes) noexcept;

/// What follows the text of a problem whose offset is one in the inflated stream, as those in index files are.
inline constexpr std::string_view in_inflated_stream = " (in the inflated stream)";

/// Returns a fault in a JSON document as a problem, without the file's name; or what the file is instead, if its first
/// bytes tell. `text`: the document's; may be empty.
[[nodiscard]] Problem json_problem(const text::JsonError& error, std::string_view text = {});

}  // namespace smd::detail::wire
