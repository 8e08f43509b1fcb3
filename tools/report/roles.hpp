// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <smd/trial.hpp>
#include <string>
#include <string_view>

namespace smd::tool::report {

/// What a tensor is in training: which section of the page it belongs to.
enum class Role : std::uint8_t { loss, gradient, weight, bias, activation, other };

/// `loss`, `gradient`, `weight`, `bias`, `activation`, `other`.
[[nodiscard]] std::string_view role_text(Role role) noexcept;

/// The roles of a trial's tensors, by the collections that they belong to.
class Roles {
 public:
  /// The role of a tensor of that trial. Reads the collections again for a name that is new.
  [[nodiscard]] Role of(const Trial& trial, std::string_view tensor);

 private:
  std::map<std::string, Role, std::less<>> roles_;
};

}  // namespace smd::tool::report
