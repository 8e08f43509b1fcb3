// SPDX-License-Identifier: Apache-2.0
#include "plain_operand.hpp"

namespace smd::tool::ls {

void with_plain_operand(const std::string& operand, Diagnostics& messages, const std::function<void()>& work) {
  if (operand.starts_with("s3://")) {
    messages.fail("NotFound", operand + ": s3:// trials are not supported by this build", ExitStatus::unreadable);
    return;
  }
  try {
    work();
  } catch (const Error& error) {
    messages.fail(error, operand);
  }
}

}  // namespace smd::tool::ls
