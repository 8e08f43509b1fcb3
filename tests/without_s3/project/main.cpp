// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>
#include <smd/version.hpp>

#include <cstdio>

#include "storage/s3_module.hpp"

int main() {
  try {
    static_cast<void>(smd::detail::storage::open_remote("s3://bucket/trial", {}, 0));
    std::fputs("s3:// is not refused\n", stderr);
    return 1;
  } catch (const smd::InvalidArgument&) {
  }
  if (!smd::is_remote_path("s3://bucket/trial") || !smd::features().empty()) {
    std::fputs("a path is not told, or a feature named that is not there\n", stderr);
    return 1;
  }
}
