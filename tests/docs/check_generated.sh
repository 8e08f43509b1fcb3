#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_generated.sh DOCGEN SOURCE_DIR WORK_DIR: man/, completions/ and tables in docs/ are what docgen makes of the present tables.
set -eu
docgen=$1 root=$2 work=$3
rm -rf "$work"
"$docgen" "$root" "$work"
python3 "$root/tools/docgen/cookbook.py" "$root" "$work"
status=0
for file in $(cd "$work" && find . -type f | LC_ALL=C sort); do
  diff -u "$root/$file" "$work/$file" || status=1
done
# Nothing is left of a command that is gone.
for file in $(cd "$root" && find man completions -type f ! -name '*.in'); do
  [ -e "$work/$file" ] || {
    echo "$file is generated no more"
    status=1
  }
done
[ "$status" -eq 0 ] || echo "what docgen writes is stale: cmake --build BUILD_DIR --target docs, and commit"
exit "$status"
