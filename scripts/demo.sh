#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds the commands, and looks into a trial that a real PyTorch job saved.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages

log=build/demo.log
mkdir -p build
printf 'Building the commands (log: %s) ...\n' "$log" >&2
if ! { cmake --preset release && cmake --build --preset release; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  printf 'demo.sh: the build failed; the whole log is in %s\n' "$log" >&2
  exit 1
fi

PATH=$PWD/build/release/bin:$PATH
trial=tests/fixtures/good-pytorch-digits
show() {
  printf '\n$'
  printf ' %s' "$@"
  printf '\n'
  "$@"
}
show smd-ls --summary --format table "$trial"
show smd-ls --long --format table "$trial"
show smd-ls --steps --format table "$trial"
show smd-tensor "$trial" DigitNet_conv.bias --step last --format table
show smd-tensor "$trial" CrossEntropyLoss_output_0 --mode train --step all --format table --columns step,mode,mode_step,value
