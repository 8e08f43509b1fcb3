// SPDX-License-Identifier: Apache-2.0
// The first steps of a program that uses the library: opens a trial, reads a value, catches an error by its class.
#include <cstdio>
#include <smd/smd.hpp>

int main(int argc, char** argv) {
  if (argc != 2 || smd::version() != SMD_VERSION_STRING) {
    return 2;
  }
  const smd::Trial trial = smd::Trial::open(argv[1]);
  const smd::TensorValue value = trial.tensor("DigitNet_fc.weight").value(smd::GlobalStep(0));
  std::printf("%zu tensors, %s\n", trial.tensor_names().size(), smd::to_string(value.shape()).c_str());
  try {
    static_cast<void>(trial.tensor("DigitNet_fc.weigt"));
  } catch (const smd::TensorUnavailable& error) {
    std::printf("%s\n", error.nearest.front().c_str());
    return 0;
  }
  return 1;
}
