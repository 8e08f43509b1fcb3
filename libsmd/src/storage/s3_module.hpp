// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/remote.hpp>

#include <memory>
#include <string>

#include "storage/remote_writer.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"

namespace smd::detail::storage {

/// What `libsmd-s3.so.N` offers to libsmd of the very same version. A library of its own, so that libcurl is loaded
/// only when a trial is on S3.
struct S3Module {
  const char* version;
  /// `requests`: at most so many at once; 0: the default.
  Outcome<std::unique_ptr<Storage>> (*open)(const std::string& url, const RemoteOptions& options, unsigned requests);
  Outcome<std::unique_ptr<RemoteWriter>> (*open_writer)(const std::string& url, const RemoteOptions& options);
  /// One call of SageMaker: `action` as `ListTrainingJobs`, request and answer in JSON.
  Outcome<std::string> (*sagemaker)(const std::string& action, const std::string& body, const RemoteOptions& options);
  /// Why the folder named for the cache must not be used: a text for the user, who named the wrong one. Empty: it may,
  /// or none is named. It is made if need be.
  std::string (*refuse_cache)(const RemoteOptions& options);
};

/// The one symbol that the library exports.
inline constexpr const char* s3_module_symbol = "smd_s3_module";
using S3ModuleFunction = const S3Module* (*)();

/// Loads it from beside libsmd, once. Problem of kind io, without a file, if there is none that fits.
[[nodiscard]] Outcome<const S3Module*> s3_module();

/// Storage for `s3://bucket/prefix`. Problems name no file. @throws InvalidArgument: the URL names no bucket; the
/// folder named for the cache is another's.
[[nodiscard]] Outcome<std::unique_ptr<Storage>> open_remote(const std::string& url, const RemoteOptions& options,
                                                            unsigned requests);

/// For writing to `s3://bucket/prefix`. Problems name no file. @throws InvalidArgument: the URL names no bucket.
[[nodiscard]] Outcome<std::unique_ptr<RemoteWriter>> open_remote_writer(const std::string& url,
                                                                        const RemoteOptions& options);

}  // namespace smd::detail::storage
