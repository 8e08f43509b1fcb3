// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/problem.hpp>
#include <smd/remote.hpp>

#include <optional>
#include <string>

namespace smd::detail::storage {
struct S3Module;
}

namespace smd::text {

/// What `libsmd-s3.so.N` offers to the other libraries of exactly the same version. A library of its own, so that
/// libcurl is loaded only when something is on S3.
struct S3Library {
  const char* version;
  const detail::storage::S3Module* storage;  ///< For reading and writing.
  /// Calls an action of SageMaker, such as `ListTrainingJobs`. Request and answer are JSON. If there is no answer, sets
  /// the problem, which names no file.
  std::string (*sagemaker)(const std::string& action, const std::string& body, const RemoteOptions& options,
                           std::optional<Problem>& problem);
};

/// The one symbol that the library exports.
inline constexpr const char* s3_library_symbol = "smd_s3_library";

/// Loads the library from the folder of the one that calls, once. Null and a problem of kind io, without a file, if
/// there is none of the same version. @throws InvalidArgument if this build is without S3.
[[nodiscard]] const S3Library* s3_library(std::optional<Problem>& problem);

}  // namespace smd::text
