// SPDX-License-Identifier: Apache-2.0
#include <smd/tensor_view.hpp>

smd::TensorValue make();

std::size_t use() {
#ifdef SMD_MISTAKE
  return make().view().bytes().size();
#else
  const smd::TensorValue value = make();
  return value.view().bytes().size();
#endif
}
