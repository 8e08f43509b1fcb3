// SPDX-License-Identifier: Apache-2.0
#include <smd/step.hpp>

void take(smd::GlobalStep step);

void use(int number) {
#ifdef SMD_MISTAKE
  take(number);
#else
  take(smd::GlobalStep(number));
#endif
}
