#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make_prefix.sh CMAKE BUILD_DIR PREFIX CONFIG: installs everything into an empty PREFIX.
set -eu
unset DESTDIR
rm -rf "$3"
"$1" --install "$2" --prefix "$3" --config "$4"
