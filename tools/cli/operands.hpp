// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"

namespace smd::tool {

/// Calls `visit` for each operand; a `-` at the end stands for those that standard input lists, one per line (or NUL,
/// with -0), which are handed on as they come. Empty lines are skipped. Stops when `visit` returns false.
/// If there may be several, messages name the trial that they are about. An empty list without any other operand is
/// reported, with status 1, so that the maker of the list notices.
/// @throws UsageError for a `-` elsewhere; ReadError (io) if standard input cannot be read.
void for_each_operand(std::span<const std::string> operands, bool null_separated, Diagnostics& messages,
                      const std::function<bool(const std::string&)>& visit);

/// All of them.
[[nodiscard]] std::vector<std::string> all_operands(std::span<const std::string> operands, bool null_separated,
                                                    Diagnostics& messages);

/// As `for_each_operand`, for lists that may well be empty. Returns whether there was any.
bool for_each_listed(std::span<const std::string> operands, bool null_separated,
                     const std::function<bool(const std::string&)>& visit);

/// What `for_each_operand` says of an empty list.
void say_nothing_listed(Diagnostics& messages);

/// Whether standard input lists the last of them.
[[nodiscard]] bool lists_operands(std::span<const std::string> operands) noexcept;

/// Whether there may be several: more than one operand, or `-`.
[[nodiscard]] bool may_be_several(std::span<const std::string> operands) noexcept;

/// What to say if there is no such trial as `operand`: a later one may have been meant as the name of a tensor, as
/// smd-tensor takes them. Empty for the first, and where a list is read.
[[nodiscard]] std::string_view hint_for(const std::string& operand, std::span<const std::string> operands) noexcept;

/// Reports why an operand could not be read. If it is no trial, with what it is (`instead_of_trial`); if there is no
/// such path, with what was perhaps meant: a path like it, or else what the hint says.
void fail_to_open(const Error& error, const std::string& path, Diagnostics& messages, std::string_view hint = {});

/// What was perhaps meant by a path that is not there, to follow a message: folders that are there, whose names at the
/// first place that is wrong are most like its own; or else the hint. Nothing for a path on S3.
[[nodiscard]] std::string meant_instead(const std::string& path, std::string_view hint);

/// How a trial is opened. Nothing: there is none to visit, and why was said.
using OpenTrial = std::function<std::optional<Trial>(const TrialOptions& options)>;

/// Opens a trial and hands it over. Whatever the library throws, here or in `visit`, is reported with its status and
/// costs only this trial; problems that the trial met (damaged files) are reported after the visit. A bad pattern
/// (InvalidArgument, MatchLimit) becomes a UsageError.
/// @param hint as of `fail_to_open`.
void with_trial(const std::string& path, const TrialOptions& options, Diagnostics& messages,
                const std::function<void(Trial&)>& visit, std::string_view hint = {});
/// The same for a trial that is opened otherwise than by `Trial::open`.
void with_trial(const std::string& path, const TrialOptions& options, Diagnostics& messages, const OpenTrial& open,
                const std::function<void(Trial&)>& visit, std::string_view hint = {});

}  // namespace smd::tool
