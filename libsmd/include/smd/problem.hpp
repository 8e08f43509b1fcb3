// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smd {

/// What kind of trouble a file or record gave. The first three are not damage: ask again later, or elsewhere.
enum class ProblemKind : std::uint8_t {
  not_yet,        ///< Still being written, or named but not there yet, in a job that runs.
  absent,         ///< Named, but not there, and it will not come.
  not_found,      ///< No such path.
  access_denied,  ///< The system refuses access.
  io,             ///< Reading failed, or memory or descriptors ran out.
  network,        ///< The remote store did not answer, or not sensibly.
  damaged,        ///< What is there is not what it claims to be.
  warning,        ///< Not damage, but answers may be less than they seem: a worker's file is missing, say.
  note,           ///< Worth saying, harms nothing.
  stopped,        ///< `RemoteOptions::stop` ended the request: nothing is known of what it asked for.
};

/// The stable tag used in messages: `NotYet`, `Absent`, `NotFound`, `AccessDenied`, `ReadError`, `Network`, `Damaged`,
/// `Warning`, `Note`, `Stopped`.
[[nodiscard]] SMD_EXPORT std::string_view to_string(ProblemKind kind) noexcept;

/// One trouble with one place: what, where, in words for a person. A value, not an exception.
struct Problem {
  ProblemKind kind = ProblemKind::damaged;
  std::string file;                     ///< Path relative to the trial; empty if it concerns no single file.
  std::optional<std::uint64_t> offset;  ///< Byte offset in `file`, where one is known.
  std::string text;                     ///< What is wrong, without the place.

  bool operator==(const Problem&) const = default;
};

/// `events/000000000001/…: byte 113: footer is neither …`; file and offset only where known.
[[nodiscard]] SMD_EXPORT std::string to_string(const Problem& problem);

}  // namespace smd
