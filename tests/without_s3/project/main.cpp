// SPDX-License-Identifier: Apache-2.0
#include <smd/version.hpp>

#include <cstdio>

#include "storage/s3_module.hpp"

int main() {
  const auto opened = smd::detail::storage::open_remote("s3://bucket/trial", {}, 0);
  if (opened || opened.problem().kind != smd::ProblemKind::io ||
      opened.problem().text != "this libsmd was built without S3; build it with -DSMD_WITH_S3=ON") {
    std::fputs("s3:// is not refused as it should be\n", stderr);
    return 1;
  }
  if (!smd::is_remote_path("s3://bucket/trial") || !smd::features().empty()) {
    std::fputs("a path is not told, or a feature named that is not there\n", stderr);
    return 1;
  }
}
