// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/remote.hpp>

#include <memory>
#include <string>

#include "storage/remote_writer.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"

namespace smd::detail::storage {

/// Reading and writing by `libsmd-s3.so.N`: see `text::S3Library`.
struct S3Module {
  /// `requests`: the most at once; 0: the default.
  Outcome<std::unique_ptr<Storage>> (*open)(const std::string& url, const RemoteOptions& options, unsigned requests);
  Outcome<std::unique_ptr<RemoteWriter>> (*open_writer)(const std::string& url, const RemoteOptions& options);
  /// Returns why the configured cache folder must not be used, as a message for the user; empty if it may be used or
  /// none is configured. Makes the folder if it is missing.
  std::string (*refuse_cache)(const RemoteOptions& options);
};

/// Loads the library at the first call. @throws and fails as `text::s3_library`.
[[nodiscard]] Outcome<const S3Module*> s3_module();

/// Opens a storage for `s3://bucket/prefix`. Problems name no file.
/// @throws InvalidArgument if the URL names no bucket, or the configured cache folder must not be used.
[[nodiscard]] Outcome<std::unique_ptr<Storage>> open_remote(const std::string& url, const RemoteOptions& options,
                                                            unsigned requests);

/// Opens a writer for `s3://bucket/prefix`. Problems name no file. @throws InvalidArgument if the URL names no bucket.
[[nodiscard]] Outcome<std::unique_ptr<RemoteWriter>> open_remote_writer(const std::string& url,
                                                                        const RemoteOptions& options);

}  // namespace smd::detail::storage
