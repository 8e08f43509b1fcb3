// SPDX-License-Identifier: Apache-2.0
#include <smd/version.hpp>

namespace smd {

std::string_view version() noexcept { return SMD_VERSION_STRING; }

std::string_view features() noexcept {
#ifdef SMD_WITH_S3
  return "s3";
#else
  return "";
#endif
}

}  // namespace smd
