#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_pkg_config.sh PKG_CONFIG COMPILER LIBDIR SOURCE PROGRAM [ARGUMENT]...: builds SOURCE against the installed
# library with pkg-config only, and runs it.
set -eu
pkg_config=$1 compiler=$2 libdir=$3 source=$4 program=$5
shift 5
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
"$pkg_config" --exists --print-errors smd
# Flags are words that the shell must split.
# shellcheck disable=SC2046
"$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Werror "$source" -o "$program" $("$pkg_config" --cflags --libs smd)
LD_LIBRARY_PATH=$libdir "$program" "$@"
