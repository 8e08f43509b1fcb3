// SPDX-License-Identifier: Apache-2.0
#include <smd/step.hpp>

void take(smd::ModeStep step);

void use(smd::GlobalStep global, smd::ModeStep local) {
#ifdef SMD_MISTAKE
  take(global);
#else
  take(local);
  static_cast<void>(global);
#endif
}
