// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cli/diagnostics.hpp"
#include "cli/exit_status.hpp"

#include <vector>

using smd::tool::combine;
using smd::tool::ExitStatus;

TEST_CASE("several statuses combine by the contract's order, whichever comes first") {
  // The contract: 2, 3, 4, 1, 5, 0 in this order, and 124 only if none of 2 to 4 applies; 6, an answer, comes after 1.
  const std::vector<int> order = {2, 3, 4, 124, 1, 6, 5, 0};
  for (std::size_t a = 0; a < order.size(); ++a) {
    for (std::size_t b = 0; b < order.size(); ++b) {
      CAPTURE(order[a]);
      CAPTURE(order[b]);
      const int expected = order[a < b ? a : b];
      CHECK(static_cast<int>(combine(ExitStatus(order[a]), ExitStatus(order[b]))) == expected);
    }
  }
}

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
