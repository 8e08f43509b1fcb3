#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_generated.sh DOCGEN SOURCE_DIR WORK_DIR: checks that man/, completions/ and tables in docs/ are the current
# output of docgen.
set -eu
docgen=$1 root=$2 work=$3
rm -rf "$work"
"$docgen" "$root" "$work"
python3 "$root/tools/docgen/cookbook.py" "$root" "$work"
status=0
for file in $(cd "$work" && find . -type f | LC_ALL=C sort); do
  diff -u "$root/$file" "$work/$file" || status=1
done
# No files remain of a command that was removed.
for file in $(cd "$root" && find man completions -type f ! -name '*.in'); do
  [ -e "$work/$file" ] || {
    echo "$file is generated no more"
    status=1
  }
done
[ "$status" -eq 0 ] || echo "what docgen writes is stale: cmake --build BUILD_DIR --target docs, and commit"
exit "$status"
