#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tidy.sh [PATTERN]: installs missing packages and runs cppcheck and clang-tidy on the library and the commands; with a
# PATTERN, runs only clang-tidy, on sources whose path matches. Fails for any finding, including warnings of Clang's
# compiler.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages clang clang-tidy cppcheck

if [ $# -eq 0 ]; then
  cppcheck -j "$(nproc)" --std=c++20 --language=c++ --enable=warning,performance,portability --quiet --error-exitcode=1 \
    --template='{file}:{line}: {id}: {message}' --suppress=missingIncludeSystem \
    --suppressions-list=scripts/cppcheck-suppressions.txt -I libsmd/include -I libsmd/rules/include \
    -I libsmd/hook/include -I libsmd -I libsmd/src -I libsmd/rules/src -I tools libsmd tools
fi

# Some sources are checked one by one. All of them are checked joined, so that shared headers are checked once instead
# of in each: a fifth of the time.
build=build/tidy
joined=ON
if [ $# -gt 0 ]; then
  build=build/tidy-some
  joined=OFF
fi
# Only the compile commands are needed, for Clang, because clang-tidy does not know all of GCC's options.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
  -DCMAKE_UNITY_BUILD="$joined" -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 -DBUILD_TESTING=OFF -DSMD_BUILD_BENCHMARKS=OFF \
  >/dev/null
# Without a terminal and with -quiet, stdout has only findings, and a line for each command.
if output=$(run-clang-tidy -quiet -p "$build" -j "$(nproc)" "${1:-/(libsmd|tools)/}" 2>/dev/null); then
  exit 0
fi
printf '%s\n' "$output" | grep -v '^clang-tidy' || true
exit 1
