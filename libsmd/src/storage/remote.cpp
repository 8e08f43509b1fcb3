// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>
#include <smd/remote.hpp>

#include "storage/s3_module.hpp"

namespace smd {

bool is_remote_path(std::string_view path) noexcept { return path.starts_with("s3://"); }

std::string call_sagemaker(std::string_view action, std::string_view request, const RemoteOptions& options) {
  const auto module = detail::storage::s3_module();
  if (!module) {
    throw ReadError(module.problem());
  }
  auto answer = (*module)->sagemaker(std::string(action), std::string(request), options);
  if (!answer) {
    throw ReadError(std::move(answer.problem()));
  }
  return *std::move(answer);
}

}  // namespace smd
