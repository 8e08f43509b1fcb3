#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_paths.sh READELF FILE...: checks that programs and libraries look for their libraries in no current folder, which
# an empty entry of the path means, as does a relative one.
set -eu
readelf=$1
shift
failed=0
for file in "$@"; do
  path=$("$readelf" -dW "$file" | sed -n 's/.*(\(RPATH\|RUNPATH\)).*\[\(.*\)\]$/\2/p')
  [ -n "$path" ] || continue
  if printf '%s' "$path" | tr ':' '\n' | grep -Eqv '^(/|\$ORIGIN(/|$))' || [ "${path%:}" != "$path" ]; then
    printf '%s: its libraries are looked for in the current folder: %s\n' "$file" "$path"
    failed=1
  fi
done
exit "$failed"
