#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_loaded.sh READELF FILE EXPECTED: of this project's libraries, the program loads exactly EXPECTED, as
# "libsmd libsmd-hook".
set -eu
export LC_ALL=C
loaded=$("$1" -dW "$2" | sed -n 's/.*(NEEDED).*\[\(libsmd[a-z0-9-]*\)\.so\.[0-9]*\]$/\1/p' | sort | paste -sd ' ' -)
if [ "$loaded" != "$3" ]; then
  echo "$(basename "$2") loads '$loaded', not '$3'"
  exit 1
fi
