// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "s3/settings.hpp"
#include "storage/remote_writer.hpp"
#include "types/outcome.hpp"

namespace smd::detail::storage::s3 {

/// Objects of up to `whole` bytes are sent in one request. Larger ones are sent in parts, several at once, with at
/// most `whole` bytes buffered. `whole` is a multiple of `part`, which is at least 5 MiB (tests use less).
struct UploadSizes {
  std::size_t whole = std::size_t{64} << 20;
  std::size_t part = std::size_t{16} << 20;
};

/// Opens `s3://bucket/prefix` for writing. Sends no request yet.
[[nodiscard]] Outcome<std::unique_ptr<RemoteWriter>> open_s3_writer(const std::string& url, Settings settings,
                                                                    UploadSizes sizes = {});

}  // namespace smd::detail::storage::s3
