#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tidy.sh [PATTERN]: installs what is missing and runs clang-tidy on the library and the commands; only on sources whose
# path matches PATTERN, if one is given. Fails at any finding.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages clang clang-tidy

# Only the compile commands are needed, by Clang, because clang-tidy does not know all of GCC's options.
cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
  -DSMD_BUILD_TESTS=OFF -DSMD_BUILD_BENCHMARKS=OFF >/dev/null
# Without a terminal and with -quiet, only findings are left on stdout, beside a line for each command run.
if output=$(run-clang-tidy -quiet -p build/tidy -j "$(nproc)" "${1:-/(libsmd|tools)/}" 2>/dev/null); then
  exit 0
fi
printf '%s\n' "$output" | grep -v '^clang-tidy' || true
exit 1
