// SPDX-License-Identifier: Apache-2.0
#include <smd/remote.hpp>

#include "storage/bucket_name.hpp"

namespace smd {

bool is_remote_path(std::string_view path) noexcept { return path.starts_with("s3://"); }

std::string_view refuse_remote_path(std::string_view path) noexcept { return detail::storage::refuse_location(path); }

}  // namespace smd
