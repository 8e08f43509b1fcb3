#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_generated.sh DOCGEN SOURCE_DIR WORK_DIR: man/ and completions/ are what docgen makes of the present tables.
set -eu
docgen=$1 root=$2 work=$3
rm -rf "$work"
"$docgen" "$root" "$work"
status=0
for part in man completions; do
  diff -ru --exclude='*.in' "$root/$part" "$work/$part" || status=1
done
[ "$status" -eq 0 ] || echo "man/ or completions/ is stale: cmake --build BUILD_DIR --target docs, and commit"
exit "$status"
