#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_refused.sh SOURCE REASON COMPILER [OPTION]...: checks that SOURCE compiles, but not with SMD_MISTAKE, because
# of REASON.
set -u
export LC_ALL=C
source=$1 reason=$2
shift 2
if ! "$@" "$source"; then
  echo "does not compile even without the mistake"
  exit 1
fi
if output=$("$@" -DSMD_MISTAKE "$source" 2>&1); then
  echo "the mistake compiles"
  exit 1
fi
if ! printf '%s\n' "$output" | grep 'error:' | grep -qE "$reason"; then
  printf 'refused for another reason than /%s/:\n%s\n' "$reason" "$output"
  exit 1
fi
