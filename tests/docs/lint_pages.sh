#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint_pages.sh MAN_DIR: checks that mandoc reports nothing about any page, and that each page that one of them refers
# to exists.
set -eu
cd "$1"
command -v mandoc >/dev/null || {
  echo "skipped: there is no mandoc"
  exit 77
}
status=0
for page in *.[1-8]; do
  [ -s "$page" ] || status=1
  # mandoc's own exit status stays 0 for matters of style, so its output counts. References are checked below, because
  # our pages may not be installed.
  found=$(mandoc -Tlint -W style "$page" 2>&1 | grep -v 'referenced manual not found: Xr smd-') || true
  [ -z "$found" ] || {
    printf '%s\n' "$found"
    status=1
  }
done
for reference in $(sed -n 's/^\.Xr \(smd-[a-z]*\) \([1-8]\).*/\1.\2/p' *.[1-8] | sort -u); do
  [ -s "$reference" ] || {
    echo "there is no $reference"
    status=1
  }
done
exit "$status"
