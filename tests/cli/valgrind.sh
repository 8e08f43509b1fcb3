#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# valgrind.sh TOOLS: each command once under valgrind: no read of what was never written, nothing out of bounds, nothing
# lost. Status 77, which skips, where there is no valgrind.
set -eu
command -v valgrind >/dev/null || exit 77
tools=$1
trial=$(cd "$(dirname "$0")" && pwd)/../fixtures/good-pytorch-two-workers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() {
  tool=$1
  expected=$2
  shift 2
  [ -x "$tools/$tool" ] || return 0
  status=0
  valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "$tools/$tool" "$@" \
    >"$work/out" 2>"$work/err" || status=$?
  if [ "$status" -ne "$expected" ]; then
    printf '%s: status %s\n' "$tool" "$status"
    cat "$work/err"
    exit 1
  fi
}

check smd-ls 0 "$trial" --check
check smd-tensor 0 "$trial" -s first -e bias --jsonl
check smd-tensor 0 "$trial" -s : -c losses -f table
check smd-tensor 0 "$trial" "$trial" -s : -c losses --stat -f table
check smd-ls 0 "$trial" --tree
check smd-reduce 0 "$trial" -s first -e bias -r mean,median,std
check smd-diff 0 "$trial" "$trial" -s first -e bias --all --jsonl
check smd-wait 0 "$trial" -s 0
check smd-rule 0 --list
check smd-save 0 "$work/run" --step 0 --mode train loss=0.5
