#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_symbols.sh NM LIBRARY LIST [OTHER_LIBRARY]...: the library exports exactly the symbols of LIST, and none that
# another one exports too. With SMD_UPDATE=1 in the environment, LIST is rewritten instead.
set -eu
export LC_ALL=C
nm=$1 library=$2 list=$3
shift 3
# Kind and name, without the address. Constructors have several entry points of one name: one line. The names of a
# version are no symbols of the interface.
exported() { "$nm" -DC --defined-only "$1" | cut -d ' ' -f 2- | sort -u; }
found=$(exported "$library")
if [ "${SMD_UPDATE:-}" = 1 ]; then
  printf '%s\n' "$found" >"$list"
fi
printf '%s\n' "$found" | diff -u "$list" - || {
  echo "exported symbols differ from tests/install/$(basename "$list"): a symbol gone or changed breaks programs that"
  echo "use the library; if that is meant, run this test with SMD_UPDATE=1"
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
exported "$library" | sed 's/^. //' >"$work/own"
for other in "$@"; do
  exported "$other" | sed 's/^. //' >"$work/other"
  if comm -12 "$work/own" "$work/other" | grep .; then
    echo "these are exported by $(basename "$library") and by $(basename "$other")"
    exit 1
  fi
done
