// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/remote.hpp>

#include <memory>
#include <string>

#include "storage/remote_writer.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"

namespace smd::detail::storage {

/// The functions that `libsmd-s3.so.N` offers to libsmd of exactly the same version. A separate library, so that
/// libcurl is loaded only when a trial is on S3.
struct S3Module {
  const char* version;
  /// `requests`: the most at once; 0: the default.
  Outcome<std::unique_ptr<Storage>> (*open)(const std::string& url, const RemoteOptions& options, unsigned requests);
  Outcome<std::unique_ptr<RemoteWriter>> (*open_writer)(const std::string& url, const RemoteOptions& options);
  /// Calls an action of SageMaker, such as `ListTrainingJobs`. Request and response are JSON.
  Outcome<std::string> (*sagemaker)(const std::string& action, const std::string& body, const RemoteOptions& options);
  /// Returns why the configured cache folder must not be used, as a message for the user; empty if it may be used or
  /// none is configured. Makes the folder if it is missing.
  std::string (*refuse_cache)(const RemoteOptions& options);
};

/// The one symbol that the library exports.
inline constexpr const char* s3_module_symbol = "smd_s3_module";
using S3ModuleFunction = const S3Module* (*)();

/// Loads the library from libsmd's own folder, once. Returns a problem of kind io, without a file, if there is none of
/// the same version.
[[nodiscard]] Outcome<const S3Module*> s3_module();

/// Opens a storage for `s3://bucket/prefix`. Problems name no file.
/// @throws InvalidArgument if the URL names no bucket, or the configured cache folder must not be used.
[[nodiscard]] Outcome<std::unique_ptr<Storage>> open_remote(const std::string& url, const RemoteOptions& options,
                                                            unsigned requests);

/// Opens a writer for `s3://bucket/prefix`. Problems name no file. @throws InvalidArgument if the URL names no bucket.
[[nodiscard]] Outcome<std::unique_ptr<RemoteWriter>> open_remote_writer(const std::string& url,
                                                                        const RemoteOptions& options);

}  // namespace smd::detail::storage
