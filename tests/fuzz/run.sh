#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh TARGET CPU_MINUTES [FOLDER]: fuzzes one target for this many minutes of CPU time, continuing an earlier run.
# FOLDER/corpus/TARGET has the corpus, FOLDER/found/TARGET the findings, and each run adds a line to FOLDER/runs.tsv.
# FOLDER: build/fuzz/fuzz. Fails if there are findings, and may then be run again for the remaining time.
#
# SMD_FUZZ_BUILD     the build folder: build/fuzz
# SMD_FUZZ_TIMEOUT   seconds that one input may take, 1; use more on a busy machine
# SMD_FUZZ_MEMORY    MiB of memory that the process may take, 1024; no one allocation may take more than 256
set -eu
usage() {
  printf 'usage: run.sh TARGET CPU_MINUTES [FOLDER]\n' >&2
  exit 2
}
[ $# -ge 2 ] && [ $# -le 3 ] || usage
source=$(cd "$(dirname "$0")" && pwd)
target=$1
budget=$(awk -v minutes="$2" 'BEGIN { if (minutes + 0 <= 0) exit 1; printf "%.0f", minutes * 60 + 0.49 }') || usage
build=${SMD_FUZZ_BUILD:-$source/../../build/fuzz}
folder=${3:-$build/fuzz}
program=$build/tests/fuzz/fuzz_$target
if [ ! -x "$program" ]; then
  printf 'run.sh: no %s; first: cmake --preset fuzz && cmake --build --preset fuzz\n' "$program" >&2
  exit 2
fi
seeds=$build/tests/fuzz/seeds
corpus=$folder/corpus/$target
found=$folder/found/$target
log=$folder/log/$target
[ -d "$seeds/$target" ] || python3 "$source/seeds.py" "$seeds"
mkdir -p "$corpus" "$found" "$seeds/$target" "$folder/log"
set -- "$corpus" "$seeds/$target"
[ ! -d "$source/findings/$target" ] || set -- "$@" "$source/findings/$target"
[ ! -f "$source/dictionaries/$target.dict" ] || set -- "$@" "-dict=$source/dictionaries/$target.dict"
# AddressSanitizer keeps freed memory for a while to detect later use; limited so that it fits the memory limit.
ASAN_OPTIONS=quarantine_size_mb=16:detect_odr_violation=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS

# Seconds of CPU time of a process, including its finished threads. After the name, which may contain anything, utime
# and stime are the 12th and 13th words.
ticks=$(getconf CLK_TCK)
cpu_of() {
  sed 's/.*) //' "/proc/$1/stat" 2>/dev/null |
    awk -v ticks="$ticks" '{ seconds = ($12 + $13) / ticks } END { printf "%.0f", seconds }'
}

# libFuzzer exits without cleaning up after the target.
parent=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || parent=/dev/shm
temporary=$(mktemp -d "$parent/smd-fuzz-run-XXXXXX")
TMPDIR=$temporary
export TMPDIR
trap 'rm -rf "$temporary"' EXIT

# Output of commands is discarded, except libFuzzer's own reports.
"$program" "$@" -timeout="${SMD_FUZZ_TIMEOUT:-1}" -rss_limit_mb="${SMD_FUZZ_MEMORY:-1024}" -malloc_limit_mb=256 \
  -max_len=16384 -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="$found/" 2>"$log" &
pid=$!
# libFuzzer ends properly on SIGUSR1, and prints its statistics.
trap 'kill -USR1 "$pid" 2>/dev/null || true' HUP INT TERM
used=0
while kill -0 "$pid" 2>/dev/null; do
  now=$(cpu_of "$pid")
  [ "$now" -le "$used" ] || used=$now
  [ "$used" -lt "$budget" ] || kill -USR1 "$pid" 2>/dev/null || true
  sleep 1
done
trap '' HUP INT TERM
status=0
wait "$pid" || status=$?

executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
state=$(grep -a '^#[0-9]*.* cov: ' "$log" | tail -n 1 |
  sed 's/.* cov: \([0-9]*\) ft: \([0-9]*\) corp: \([0-9]*\).*/\1\t\2\t\3/')
runs=$folder/runs.tsv
[ -s "$runs" ] || printf 'target\tcpu_seconds\texecutions\tcoverage\tfeatures\tcorpus\tstatus\n' >"$runs"
printf '%s\t%s\t%s\t%s\t%s\n' "$target" "$used" "${executions:-0}" "${state:-0	0	0}" "$status" | tee -a "$runs"
if [ "$status" -ne 0 ]; then
  tail -n 60 "$log" >&2
  printf 'run.sh: %s ended with status %s; inputs in %s\n' "$target" "$status" "$found" >&2
fi
exit "$status"
