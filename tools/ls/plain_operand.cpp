// SPDX-License-Identifier: Apache-2.0
#include "plain_operand.hpp"

#include "cli/operands.hpp"

namespace smd::tool::ls {

void with_plain_operand(const std::string& operand, Diagnostics& messages, const std::function<void()>& work,
                        std::string_view hint) {
  try {
    work();
  } catch (const Error& error) {
    fail_to_open(error, operand, messages, hint);
  }
}

}  // namespace smd::tool::ls
