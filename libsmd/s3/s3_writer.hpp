// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "s3/settings.hpp"
#include "storage/remote_writer.hpp"
#include "types/outcome.hpp"

namespace smd::detail::storage::s3 {

/// Objects up to `whole` bytes are put by one request. Larger ones go in parts, some at once; so much is held of them.
/// `whole` is a multiple of `part`, which has 5 MiB at least (tests choose less than here).
struct UploadSizes {
  std::size_t whole = std::size_t{64} << 20;
  std::size_t part = std::size_t{16} << 20;
};

/// For writing to `s3://bucket/prefix`. Nothing is asked of the server yet.
[[nodiscard]] Outcome<std::unique_ptr<RemoteWriter>> open_s3_writer(const std::string& url, Settings settings,
                                                                    UploadSizes sizes = {});

}  // namespace smd::detail::storage::s3
