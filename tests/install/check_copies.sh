#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_copies.sh NM LIBSMD LIBRARY: the library contains no copy of a function or variable that libsmd exports. What it
# contains of libsmd's hidden parts must not bring any along: a program could then have two of one variable.
set -eu
export LC_ALL=C
nm=$1 libsmd=$2 library=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Inline functions (W) and what the compiler makes of a class (V) may be in any library.
"$nm" -D --defined-only "$libsmd" | sed -n 's/^[0-9a-f]* [TDBR] //p' | sort -u >"$work/exported"
"$nm" --defined-only "$library" | sed -n 's/^[0-9a-f]* [A-Za-z] //p' | sort -u >"$work/contained"
if [ ! -s "$work/contained" ]; then
  echo "$library is stripped: nothing to look at"
  exit 77
fi
if comm -12 "$work/exported" "$work/contained" | grep .; then
  echo "$(basename "$library") contains these of $(basename "$libsmd") a second time"
  exit 1
fi
