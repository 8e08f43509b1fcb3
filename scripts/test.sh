#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs missing packages and runs every test: formatting, the unit tests under sanitizers, and all others in a plain
# build, whose summary by ctest is last. tidy.sh runs Clang's checks.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages $test_packages
# Clang's sanitizer libraries; their package is named after Clang's version.
need_packages "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
# The newest Clang that the distribution has, so that no warning of later compilers comes as a surprise.
need_packages clang-16 libclang-rt-16-dev
newest=$(command -v clang++-16 || echo clang++)
jobs=$(nproc)
# A second run compiles only what changed, wherever the clone is.
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros  # for precompiled headers
fi

# The static program is linked of the objects of the others, and of simdjson's sources.
static=
if get_simdjson; then
  static=-DSMD_SIMDJSON_SOURCE=$PWD/build/simdjson
else
  packages_say "the static program is neither built nor tested: no sources of simdjson"
fi

begin=$(date +%s)
step() { printf '\n== %s (after %d s)\n' "$*" "$(($(date +%s) - begin))"; }

# behind NAME COMMAND…: runs a command while this script goes on to compile. ended NAME: waits for it, and prints the end
# of what it printed, or all if it failed. What still runs when this script ends is killed.
rm -rf build/behind
mkdir -p build/behind
behind() {
  behind_name=$1
  shift
  "$@" >"build/behind/$behind_name.log" 2>&1 &
  echo $! >"build/behind/$behind_name.pid"
}
ended() {
  wait "$(cat "build/behind/$1.pid")" || { cat "build/behind/$1.log" && exit 1; }
  rm "build/behind/$1.pid"
  tail -n 4 "build/behind/$1.log"
}
trap 'cat build/behind/*.pid 2>/dev/null | xargs -r kill 2>/dev/null || true' EXIT

step 'formatting'
find benchmarks libsmd tests tools \( -name '*.hpp' -o -name '*.cpp' \) -exec clang-format --dry-run --Werror {} +

# Configures a preset whose programs are linked by the fastest linker. What fails names functions: line numbers too take
# time to compile; a build of a preset by hand has them.
configure() {
  LDFLAGS=-fuse-ld=lld cmake -DCMAKE_CXX_FLAGS_DEBUG=-g0 --preset "$@"
}

# Without the unit tests, which run under sanitizers below. Joined sources take half the time of single ones. GCC
# takes hardly longer with -O1, and the tests half as long; Clang, with sanitizers, takes twice as long. GCC then
# compares values before it asks whether they are there, which valgrind reports; the parameter forbids that.
optimised='-O1 --param=logical-op-non-short-circuit=0'
step 'build of everything else'
# shellcheck disable=SC2086
configure ci -DCMAKE_CXX_FLAGS_DEBUG="$optimised -g0" -DSMD_SKIPPED_TESTS_FAIL=ON -DSMD_UNIT_TESTS_BY_REQUEST=ON \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=30 $static
cmake --build --preset ci

# Some tests mostly wait, for a server, a scheduler or a writer: they run while the next configurations compile.
behind waits ctest --preset ci --label-regex '^waits$' --parallel "$jobs"

step 'unit tests: asan'
configure asan
# shellcheck disable=SC2086
env $clang_memory cmake --build --preset asan --target unit_tests fuzz_replay smd_sample
behind asan ctest --preset asan --label-regex unit --parallel "$((jobs + 1))"  # some wait for a server

# The other unit tests run in one thread, or in threads of the library that these tests use more heavily.
threaded='unit_base unit_storage unit_trial unit_hook'
step "unit tests: tsan, with $newest ($threaded)"
configure tsan -DCMAKE_CXX_COMPILER="$newest" -DSMD_WERROR=ON
# shellcheck disable=SC2086
env $clang_memory cmake --build --preset tsan --target $threaded
behind tsan ctest --preset tsan --tests-regex "^($(printf '%s' "$threaded" | tr ' ' '|'))\$" --parallel "$jobs"

for name in waits asan tsan; do
  step "what ran meanwhile: $name"
  ended "$name"
done

step 'everything else'
ctest --preset ci --label-exclude '^(unit|waits)$' --parallel "$((2 * jobs + 1))"
