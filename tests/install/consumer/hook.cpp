// SPDX-License-Identifier: Apache-2.0
// A program that writes: saves a number, catches an error of libsmd that libsmd-hook throws.
#include <cstdio>
#include <filesystem>
#include <smd/error.hpp>
#include <smd/hook.hpp>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  const auto save = [&] {
    smd::Hook hook({.out_dir = argv[1], .save_config = smd::SaveConfigMode{.save_interval = 1}, .end_marker = false});
    hook.save_scalar("loss", 0.25);
    hook.close();
  };
  std::filesystem::remove_all(argv[1]);  // of an earlier run
  save();
  try {
    save();
  } catch (const smd::Error& error) {
    std::printf("%s\n", error.what());
    return error.tag() == "StepAlreadySaved" ? 0 : 1;
  }
  return 1;
}
