#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint_pages.sh MAN_DIR: mandoc has nothing to say about any page, and each page that one of them refers to is there.
set -eu
cd "$1"
command -v mandoc >/dev/null || {
  echo "skipped: there is no mandoc"
  exit 77
}
status=0
for page in *.[1-8]; do
  [ -s "$page" ] || status=1
  # mandoc's own exit status stays 0 for matters of style: what it prints counts.
  # Whether pages of ours are installed does not matter; whether they are here is looked at below.
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
