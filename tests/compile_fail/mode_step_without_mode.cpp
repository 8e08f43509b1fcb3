// SPDX-License-Identifier: Apache-2.0
#include <smd/step.hpp>

void take(smd::StepKey step);

void use(smd::ModeStep local) {
#ifdef SMD_MISTAKE
  take(local);
#else
  take({smd::Mode::train, local});
#endif
}
