// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/remote.hpp>

#include <string>
#include <string_view>

namespace smd {

/// Calls an action of SageMaker's API, such as `ListTrainingJobs`, with a request in JSON, and returns the answer, also
/// in JSON. The request is signed. Region, profile and credentials are those of `options`, and there is no default
/// region; the endpoint is AWS's unless AWS_ENDPOINT_URL_SAGEMAKER or AWS_ENDPOINT_URL names another. The call acts on
/// the account that the credentials belong to.
/// @throws ReadError (AccessDenied, network, io) if the request is refused or fails, if there is no region, or if
/// libsmd was built without S3. Thread-safe.
[[nodiscard]] SMD_EXPORT std::string call_sagemaker(std::string_view action, std::string_view request,
                                                    const RemoteOptions& options = {});

}  // namespace smd
