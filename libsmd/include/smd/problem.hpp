// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/step.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smd {

/// The kind of a problem with a file or record. Only `damaged` is damage.
enum class ProblemKind : std::uint8_t {
  not_yet,        ///< Still being written, or named but not present yet, in a job that is running.
  absent,         ///< Named, but not present, and will not appear.
  not_found,      ///< No such path.
  access_denied,  ///< The system refuses access.
  io,             ///< Reading failed, or memory or descriptors ran out.
  network,        ///< The remote store did not answer, or sent an invalid answer.
  damaged,        ///< The content is not valid.
  warning,        ///< Not damage, but results may be incomplete: for instance, a worker's file is missing.
  note,           ///< Worth knowing, but harmless.
  stopped,        ///< `RemoteOptions::stop` ended the request, so its result is unknown.
  remark,         ///< Reported although nothing is wrong, for instance a checkpoint that is left out.
  other_trial,    ///< Left out because it is a trial of its own, to be opened by its own path. Nothing is wrong.
};

/// Returns the stable tag used in messages: `NotYet`, `Absent`, `NotFound`, `AccessDenied`, `ReadError`, `Network`,
/// `Damaged`, `Warning`, `Note`, `Stopped`, `Remark`, `OtherTrial`.
[[nodiscard]] SMD_EXPORT std::string_view to_string(ProblemKind kind) noexcept;

/// One problem at one place: what is wrong and where, in words for people. A value, not an exception.
struct Problem {
  ProblemKind kind = ProblemKind::damaged;
  std::string file;                     ///< Path relative to the trial; empty if no single file is concerned.
  std::optional<std::uint64_t> offset;  ///< Byte offset in `file`, if known.
  std::string text;                     ///< What is wrong, without the place.
  std::optional<GlobalStep> step = {};  ///< The only step that is concerned, if known.
  std::string tensor = {};              ///< The only tensor that is concerned, if known.
  bool unfinished = false;              ///< The file ends too soon, or is missing: its writer may still complete it.
  bool dangling = false;                ///< `file` is a symbolic link that leads nowhere.

  bool operator==(const Problem&) const = default;
};

/// Returns `events/000000000001/…: byte 113: footer is neither …`; file and offset only if known.
[[nodiscard]] SMD_EXPORT std::string to_string(const Problem& problem);

}  // namespace smd
