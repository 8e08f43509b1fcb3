// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "rows/cell.hpp"

namespace smd::tool {

/// A value of a hyperparameter.
class HpValue {
 public:
  explicit HpValue(std::string json);

  [[nodiscard]] const std::string& json() const noexcept { return json_; }
  /// As text formats show it: text without quotes, a number by its digits, a list as JSON. Borrows from this.
  [[nodiscard]] Cell cell() const;

  bool operator==(const HpValue& other) const { return json_ == other.json_; }

 private:
  std::string json_;
  std::string text_;
};

}  // namespace smd::tool
