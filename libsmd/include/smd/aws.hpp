// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/remote.hpp>

#include <string>
#include <string_view>

namespace smd {

/// Calls one action of SageMaker's interface (`ListTrainingJobs`) with a request in JSON, and returns the answer, which
/// is JSON too. The request is signed: region, profile and credentials are those of `options`, and there is no default
/// region; the endpoint is AWS's unless AWS_ENDPOINT_URL_SAGEMAKER or AWS_ENDPOINT_URL names another. It acts on the
/// account that the credentials belong to.
/// @throws ReadError (AccessDenied, network, io): refused or failed, no region, a libsmd built without S3. Thread-safe.
[[nodiscard]] SMD_EXPORT std::string call_sagemaker(std::string_view action, std::string_view request,
                                                    const RemoteOptions& options = {});

}  // namespace smd
