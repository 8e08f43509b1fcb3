#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_files.sh PREFIX LIBDIR VERSION LIST S3 PYTHON PYTHONDIR: exactly the files of LIST are installed, without libsmd-s3
# if S3 is OFF, and without the module smd if PYTHON is. LIST says LIBDIR, PYTHONDIR, VERSION and CONFIG for what depends
# on the build, and TRIAL for the files of a trial. With SMD_UPDATE=1 in the environment, LIST is
# rewritten instead.
set -eu
export LC_ALL=C
prefix=$1 libdir=$2 version=$3 list=$4 s3=$5 python=$6 python_dir=$7
version_pattern=$(printf '%s' "$version" | sed 's/\./\\./g')
found=$(cd "$prefix" && find . -type d -empty -o ! -type d | sed -e 's|^\./||' \
  -e "s|^$python_dir/|PYTHONDIR/|" -e 's|\.cpython-[^/]*\.so$|.so|' -e "s|^$libdir/|LIBDIR/|" -e "s|\.so\.$version_pattern\$|.so.VERSION|" \
  -e 's|/smdTargets-[a-z]*\.cmake$|/smdTargets-CONFIG.cmake|' \
  -e 's|\(/examples/[^/]*\)/.*|\1/TRIAL|' | sort -u)
if [ "${SMD_UPDATE:-}" = 1 ]; then
  printf '%s\n' "$found" >"$list"
fi
if [ "$s3" = OFF ]; then
  found=$(printf '%s\n%s\n' "$found" "$(grep libsmd-s3 "$list")" | sort -u)
fi
if [ "$python" = OFF ]; then
  found=$(printf '%s\n%s\n' "$found" "$(grep '^PYTHONDIR/' "$list")" | sort -u)
fi
printf '%s\n' "$found" | diff -u "$list" - || {
  echo "installed files differ from tests/install/$(basename "$list"); if that is meant, run this test with SMD_UPDATE=1"
  exit 1
}
