// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnostics.hpp"

#include <doctest/doctest.h>

using smd::tool::ExitStatus;

TEST_CASE("library errors have the statuses of the contract") {
  using smd::ProblemKind;
  using smd::tool::status_of;
  CHECK(status_of(smd::ReadError({ProblemKind::not_found, {}, {}, "x"})) == ExitStatus::unreadable);
  CHECK(status_of(smd::ReadError({ProblemKind::access_denied, {}, {}, "x"})) == ExitStatus::unreadable);
  CHECK(status_of(smd::ReadError({ProblemKind::io, {}, {}, "x"})) == ExitStatus::unreadable);
  CHECK(status_of(smd::ReadError({ProblemKind::network, {}, {}, "x"})) == ExitStatus::unreadable);
  CHECK(status_of(smd::ReadError({ProblemKind::damaged, {}, {}, "x"})) == ExitStatus::damaged);
  CHECK(status_of(smd::ReadError({ProblemKind::not_yet, {}, {}, "x"})) == ExitStatus::no);
  CHECK(status_of(smd::IndexReaderException({ProblemKind::damaged, {}, {}, "x"})) == ExitStatus::damaged);
  CHECK(status_of(smd::InvalidArgument("x")) == ExitStatus::usage);
  CHECK(status_of(smd::MatchLimit("x", "p")) == ExitStatus::usage);
  CHECK(status_of(smd::TensorUnavailable("x", "t", {})) == ExitStatus::no);
  CHECK(status_of(smd::TensorUnavailableForStep("x", "t", {}, {})) == ExitStatus::no);
  CHECK(status_of(smd::StepUnavailable("x", {})) == ExitStatus::no);
  CHECK(status_of(smd::StepNotYetAvailable("x", {})) == ExitStatus::no);
  CHECK(status_of(smd::NoMoreData("x", {})) == ExitStatus::no);
  CHECK(status_of(smd::InvalidWorker("x", "w", {})) == ExitStatus::no);
  CHECK(status_of(smd::MissingCollectionFiles("x", "p", true)) == ExitStatus::unreadable);
}
