#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tidy.sh [PATTERN]: installs missing packages and runs clang-tidy on the library and the commands; with a PATTERN, on
# sources whose path matches. Fails for any finding, including warnings of Clang's compiler.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages $tidy_packages

# Two words are not used: a condition that must hold is checked in every build, and `using` names types.
! grep -rnE --include='*.[ch]pp' '\b(typedef|assert *\()' libsmd tools || exit 1

# Some sources are checked one by one. All of them are checked joined, those of a target in one, so that shared headers
# are checked once instead of in each: a sixth of the time.
build=build/tidy
joined=ON
# All programs have one main function; it is checked in one of them.
which='^(?!.*/smd-(?!ls)[a-z]+[.]dir/).*/(libsmd|tools)/'
if [ $# -gt 0 ]; then
  build=build/tidy-some
  joined=OFF
  which=$1
fi
# Only the compile commands are needed, for Clang, because clang-tidy does not know all of GCC's options.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
  -DCMAKE_CXX_FLAGS=-Wreserved-identifier -DCMAKE_UNITY_BUILD="$joined" -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 \
  -DBUILD_TESTING=OFF -DSMD_BUILD_BENCHMARKS=OFF \
  >/dev/null
# Without a terminal and with -quiet, stdout has only findings, and a line for each command.
# shellcheck disable=SC2086
if output=$(env $clang_memory run-clang-tidy -quiet -p "$build" -j "$(nproc)" "$which" 2>/dev/null); then
  exit 0
fi
printf '%s\n' "$output" | grep -v '^clang-tidy' || true
exit 1
