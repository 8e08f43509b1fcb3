// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>
#include <smd/version.hpp>

#include <cstdio>
#include <optional>

#include "text/s3_library.hpp"

int main() {
  try {
    std::optional<smd::Problem> problem;
    static_cast<void>(smd::text::s3_library(problem));
    std::fputs("s3:// is not refused\n", stderr);
    return 1;
  } catch (const smd::InvalidArgument&) {
  }
  if (!smd::features().empty()) {
    std::fputs("a feature is named that is not there\n", stderr);
    return 1;
  }
}
