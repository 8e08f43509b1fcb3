#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh TARGET SECONDS [BUILD]: fuzzes one target for a while, on from where it was left: what it learned is kept in
# BUILD/fuzz/corpus, what it found in BUILD/fuzz/found. BUILD: build/fuzz. At most 256 MiB, and SMD_FUZZ_TIMEOUT seconds
# (1; more where the machine has other work) an input. Ends with the figures; fails if something was found.
set -eu
source=$(cd "$(dirname "$0")" && pwd)
target=$1
seconds=$2
build=${3:-$source/../../build/fuzz}
program=$build/tests/fuzz/fuzz_$target
seeds=$build/tests/fuzz/seeds
corpus=$build/fuzz/corpus/$target
found=$build/fuzz/found/$target
[ -d "$seeds/$target" ] || python3 "$source/seeds.py" "$seeds"
mkdir -p "$corpus" "$found"
set -- "$corpus" "$seeds/$target"
[ ! -d "$source/findings/$target" ] || set -- "$@" "$source/findings/$target"
dictionary=
[ ! -f "$source/dictionaries/$target.dict" ] || dictionary=-dict=$source/dictionaries/$target.dict
# Freed memory is kept for a while to catch those who still use it; not for more than the limit has room for.
ASAN_OPTIONS=quarantine_size_mb=16:detect_odr_violation=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS
# What commands print is of no interest: closed, but for libFuzzer's own reports.
# shellcheck disable=SC2086
exec "$program" "$@" -max_total_time="$seconds" -timeout="${SMD_FUZZ_TIMEOUT:-1}" -rss_limit_mb=256 -max_len=16384 \
  -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="$found/" $dictionary
