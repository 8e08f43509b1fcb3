#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_symbols.sh NM LIBRARY LIST: checks that the library exports exactly the symbols of LIST. With SMD_UPDATE=1 in
# the environment, rewrites LIST instead.
set -eu
export LC_ALL=C
nm=$1 library=$2 list=$3
# Kind and name, without the address. Constructors have several entry points with one name, which give one line.
found=$("$nm" -DC --defined-only "$library" | cut -d ' ' -f 2- | sort -u)
if [ "${SMD_UPDATE:-}" = 1 ]; then
  printf '%s\n' "$found" >"$list"
fi
printf '%s\n' "$found" | diff -u "$list" - || {
  echo "exported symbols differ from tests/install/$(basename "$list"): a symbol gone or changed breaks programs that"
  echo "use the library; if that is meant, run this test with SMD_UPDATE=1"
  exit 1
}
