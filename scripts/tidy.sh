#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tidy.sh [PATTERN]: installs what is missing and runs cppcheck and clang-tidy on the library and the commands; only
# clang-tidy, and only on sources whose path matches PATTERN, if one is given. Fails at any finding, a
# warning of Clang's compiler among them.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages clang clang-tidy cppcheck

if [ $# -eq 0 ]; then
  cppcheck -j "$(nproc)" --std=c++20 --language=c++ --enable=warning,performance,portability --quiet --error-exitcode=1 \
    --template='{file}:{line}: {id}: {message}' --suppress=missingIncludeSystem \
    --suppressions-list=scripts/cppcheck-suppressions.txt -I libsmd/include -I libsmd/rules/include
    -I libsmd/hook/include -I libsmd -I libsmd/src -I libsmd/rules/src -I tools libsmd tools
fi

# Some sources are looked at one by one; all of them joined, so that the headers they share are looked at once, not in
# each: a fifth of the time.
build=build/tidy
joined=ON
if [ $# -gt 0 ]; then
  build=build/tidy-some
  joined=OFF
fi
# Only the compile commands are needed, by Clang, because clang-tidy does not know all of GCC's options.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
  -DCMAKE_UNITY_BUILD="$joined" -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 -DBUILD_TESTING=OFF -DSMD_BUILD_BENCHMARKS=OFF \
  >/dev/null
# Without a terminal and with -quiet, only findings are left on stdout, beside a line for each command run.
if output=$(run-clang-tidy -quiet -p "$build" -j "$(nproc)" "${1:-/(libsmd|tools)/}" 2>/dev/null); then
  exit 0
fi
printf '%s\n' "$output" | grep -v '^clang-tidy' || true
exit 1
