// SPDX-License-Identifier: Apache-2.0
#include "rows/hyperparameter.hpp"

#include <utility>

#include "text/json.hpp"

namespace smd::tool {

HpValue::HpValue(std::string json) : json_(std::move(json)), text_(json_) {
  text::JsonDocument<nlohmann::json> value;
  if (!text::parse_json(json_, value) && value->is_string()) {
    text_ = value->get<std::string>();
  }
}

Cell HpValue::cell() const {
  const char first = json_.empty() ? 'n' : json_.front();
  if (first == 'n') {  // null
    return {};
  }
  if (first == 't' || first == 'f') {
    return first == 't';
  }
  if (first == '-' || (first >= '0' && first <= '9')) {
    return NumeralCell{json_};
  }
  return text_;
}

}  // namespace smd::tool
