#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs missing packages, builds the commands, and shows logs of TensorBoard, W&B and CSV, checkpoints, and a trial of
# SageMaker Debugger.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages

log=build/demo.log
mkdir -p build
printf 'building the commands; log: %s\n' "$log" >&2
if ! { cmake --preset release && cmake --build --preset release; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  printf 'demo.sh: the build failed; the whole log is %s\n' "$log" >&2
  exit 1
fi

# A minimal system has no locale set, although its terminal shows UTF-8.
if [ -z "${LC_ALL:-}${LC_CTYPE:-}${LANG:-}" ]; then
  LC_ALL=C.UTF-8
  export LC_ALL
fi
PATH=$PWD/build/release/bin:$PATH
show() {
  printf '\n$ %s\n' "$*"
  "$@" || case $? in
    1 | 4) ;; # "yes, there is something", "yes, it is damaged": no fault
    *) return 1 ;;
  esac
}
cd tests/fixtures
show smd-ls tb-logs/sick --long --columns tensor,shape,dtype,steps,collections --format table
show smd-tensor tb-logs/sick -c losses --step all --spark
show smd-rule tb-logs/sick -r Overfit -r VanishingGradient -r ExplodingTensor -f text
show smd-ls --find tb-logs/sweep
show smd-ls metric-logs/wb_new --summary --columns layout,status,exit,tensors,steps --format table
show smd-tensor metric-logs/csv_overfit -c losses --step all --spark
show smd-rule metric-logs/wb_sick -r Overfit -r VanishingGradient -f text
show smd-ls --tree pytorch/yolo_like/best.pt --depth 1 --format table
show smd-ls --check pytorch/malicious/step_1.pt --format table
show smd-diff --summary --strip module. pytorch/state_dict/step_1.pt pytorch/state_dict/step_2.pt --format table
show smd-reduce checkpoints/rule_blowup --step last -r nan,inf,l2 --columns tensor,step,nan,inf,l2 --format table
show smd-rule checkpoints/rule_blowup -r ExplodingTensor -f text
show smd-diff checkpoints/rule_blowup --step 1000,2000 --columns tensor,state,max_abs,rel_l2,cosine --format table
show smd-ls checkpoints/shard_missing --check --format table
show smd-ls good-pytorch-digits --summary --format table
show smd-ls good-pytorch-digits --long --columns tensor,shape,dtype,steps,modes,collections --format table
show smd-tensor good-pytorch-digits CrossEntropyLoss_output_0 --mode train --step all --format table
show smd-tensor good-pytorch-digits DigitNet_conv.bias --step last --format table
show smd-tensor good-pytorch-digits DigitNet_input_0 --step first --slice 0,0 --heatmap
printf '\nThe commands are in build/release/bin, the trials in tests/fixtures.\n'
