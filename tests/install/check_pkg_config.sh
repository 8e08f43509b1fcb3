#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_pkg_config.sh PKG_CONFIG MODULE COMPILER LIBDIR SOURCE PROGRAM [ARGUMENT]...: builds SOURCE against the installed
# libraries by pkg-config alone, and runs it.
set -eu
pkg_config=$1 module=$2 compiler=$3 libdir=$4 source=$5 program=$6
shift 6
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
"$pkg_config" --exists --print-errors "$module"
# Flags are words, to be split.
# shellcheck disable=SC2046
"$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Werror "$source" -o "$program" \
  $("$pkg_config" --cflags --libs "$module")
LD_LIBRARY_PATH=$libdir "$program" "$@"
