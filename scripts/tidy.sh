#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tidy.sh [PATTERN]: installs missing packages and runs clang-tidy on the library and the commands; with a PATTERN, on
# sources whose path matches. Fails for any finding, including warnings of Clang's compiler.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages $tidy_packages

# Some sources are checked one by one. All of them are checked joined, those of a target in one, so that shared headers
# are checked once instead of in each: a sixth of the time.
build=build/tidy
joined=ON
if [ $# -gt 0 ]; then
  build=build/tidy-some
  joined=OFF
fi
# Only the compile commands are needed, for Clang, because clang-tidy does not know all of GCC's options.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
  -DCMAKE_CXX_FLAGS=-Wreserved-identifier -DCMAKE_UNITY_BUILD="$joined" -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 \
  -DBUILD_TESTING=OFF -DSMD_BUILD_BENCHMARKS=OFF \
  >/dev/null
# Without a terminal and with -quiet, stdout has only findings, and a line for each command.
if output=$(run-clang-tidy -quiet -p "$build" -j "$(nproc)" "${1:-/(libsmd|tools)/}" 2>/dev/null); then
  exit 0
fi
printf '%s\n' "$output" | grep -v '^clang-tidy' || true
exit 1
