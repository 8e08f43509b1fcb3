// SPDX-License-Identifier: Apache-2.0
#include "plain_operand.hpp"

namespace smd::tool::ls {

void with_plain_operand(const std::string& operand, Diagnostics& messages, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    messages.fail(error, operand);
  }
}

}  // namespace smd::tool::ls
