#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_readme.sh PAGE PKG_CONFIG COMPILER LIBDIR WORK_DIR SOURCE_DIR: checks that the C++ example of docs/library.md
# compiles against the installed library, and prints what the page shows.
set -eu
readme=$1 pkg_config=$2 compiler=$3 libdir=$4 work=$5 root=$6
rm -rf "$work"
mkdir -p "$work"
# The first block of C++, and the first block after it: a shell session "$ ./example TRIAL" and its output.
awk '/^```cpp$/ { if (!n++) { inside = 1; next } } /^```$/ { inside = 0 } inside' "$readme" >"$work/example.cpp"
awk '/^```cpp$/ { seen = 1; next } seen && /^```console$/ { inside = 1; next } inside && /^```$/ { exit } inside' \
  "$readme" >"$work/session"
trial=$(sed -n 's/^\$ .*\.\/example \(.*\)$/\1/p' "$work/session" | head -n 1)
sed '/^\$ /d' "$work/session" >"$work/expected"
if [ -z "$trial" ] || [ ! -s "$work/example.cpp" ] || [ ! -s "$work/expected" ]; then
  echo "no example, or no output of it, in $readme"
  exit 1
fi
sh "$(dirname "$0")/check_pkg_config.sh" "$pkg_config" smd "$compiler" "$libdir" "$work/example.cpp" "$work/example" \
  "$root/$trial" >"$work/actual"
diff -u "$work/expected" "$work/actual"
