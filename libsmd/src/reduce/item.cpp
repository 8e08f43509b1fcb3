// SPDX-License-Identifier: Apache-2.0
#include "reduce/doubles.hpp"

#include <smd/error.hpp>
#include <smd/tensor_view.hpp>

#include <string>

namespace smd {

double TensorValue::item() const {
  if (!is_real(dtype_) || detail::reduce::element_count_of(view()) != 1) {
    throw InvalidArgument("a value of type " + std::string(to_string(dtype_)) + " and shape " + to_string(shape_) +
                          " is not one number");
  }
  return detail::reduce::first_number(view());
}

}  // namespace smd
