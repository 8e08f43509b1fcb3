// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.hpp"

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

TEST_CASE("a signal removes every temporary file, however many there are, and no other") {
  constexpr int count = 30;
  const smd::test::TempDir dir;
  for (int i = 0; i < count; ++i) {
    dir.write("temporary" + std::to_string(i), "");
  }
  dir.write("kept", "");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    smd::tool::install_signal_handlers();
    bool registered = smd::tool::remove_on_signal(dir / "kept");
    for (int i = 0; i < count; ++i) {
      registered = smd::tool::remove_on_signal(dir / "temporary" + std::to_string(i)) && registered;
    }
    smd::tool::forget_on_signal(dir / "kept");
    if (registered) {
      (void)raise(SIGTERM);
    }
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  REQUIRE(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);
  CHECK(std::filesystem::exists(dir / "kept"));
}
