#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_hardening.sh READELF FILE...: checks that programs and libraries have what SmdHardening.cmake requests:
# position-independent code, read-only relocations, no executable stack, stack protector, checked calls.
set -eu
readelf=$1
shift
failed=0
for file in "$@"; do
  header=$("$readelf" -hW "$file")
  segments=$("$readelf" -lW "$file")
  symbols=$("$readelf" -sW --dyn-syms "$file")
  need() {
    if ! printf '%s\n' "$2" | grep -Eq "$3"; then
      printf '%s: %s\n' "$file" "$1"
      failed=1
    fi
  }
  need 'not position-independent' "$header" 'Type: +DYN'
  need 'relocations stay writable (no GNU_RELRO)' "$segments" 'GNU_RELRO'
  need 'the stack is executable' "$segments" 'GNU_STACK.* RW +0x'
  need 'no stack protector' "$symbols" '__stack_chk_fail'
  need 'no checked calls (_FORTIFY_SOURCE)' "$symbols" '__[a-z]+_chk(@|$)'
done
exit "$failed"
