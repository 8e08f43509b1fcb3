// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/remote.hpp>

#include <string>
#include <string_view>

namespace smd {

/// Stops the one SageMaker training job in progress whose name begins with `prefix`, as SageMaker's StopTraining action
/// does: ListTrainingJobs, then StopTrainingJob. If several jobs match or none does, stops nothing. Returns one line
/// for people: which job is being stopped, or why none is. Region, profile and credentials are those of `options`, and
/// there is no default region; the endpoint is AWS's unless AWS_ENDPOINT_URL_SAGEMAKER or AWS_ENDPOINT_URL names
/// another. It acts on the account that the credentials belong to: call it only when asked to.
/// @throws InvalidArgument for an empty prefix; ReadError (AccessDenied, network, io). Thread-safe.
[[nodiscard]] SMD_EXPORT std::string stop_training_job(std::string_view prefix, const RemoteOptions& options = {});

}  // namespace smd
