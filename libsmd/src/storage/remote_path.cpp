// SPDX-License-Identifier: Apache-2.0
#include <smd/remote.hpp>

namespace smd {

bool is_remote_path(std::string_view path) noexcept { return path.starts_with("s3://"); }

}  // namespace smd
