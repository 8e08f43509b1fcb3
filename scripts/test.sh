#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing and runs every test: formatting, a build by each compiler, the unit tests under sanitizers,
# and at the end everything in the dev build, so that the last lines are ctest's summary.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages $test_packages
jobs=$(nproc)
# Saves the second run from compiling again what did not change, wherever the clone lies.
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
fi

step() { printf '\n== %s\n' "$*"; }

step 'formatting'
find benchmarks libsmd tests tools \( -name '*.hpp' -o -name '*.cpp' \) -exec clang-format --dry-run --Werror {} +

step 'library and commands by Clang, warnings are errors'
cmake -S . -B build/clang -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
  -DSMD_WERROR=ON -DSMD_BUILD_TESTS=OFF -DSMD_BUILD_BENCHMARKS=OFF
cmake --build build/clang

step 'unit tests: asan'
cmake --preset asan
cmake --build --preset asan --target unit_tests
ctest --preset asan --label-regex unit --parallel "$jobs"

# The other unit tests run in one thread, or in those of the library that these drive harder.
threaded='unit_base unit_storage unit_trial unit_reduce unit_rules unit_hook'
step "unit tests: tsan ($threaded)"
cmake --preset tsan
# shellcheck disable=SC2086
cmake --build --preset tsan --target $threaded
ctest --preset tsan --tests-regex "^($(printf '%s' "$threaded" | tr ' ' '|'))\$" --parallel "$jobs"

step 'everything'
cmake --preset dev
cmake --build --preset dev
ctest --preset dev --parallel "$jobs"
