#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replaces a program that may not be installed (selected by the name of the call): records its arguments and its standard
input in $STUB_LOG, and prints what a recipe of the cookbook needs."""
import json
import os
import shlex
import subprocess
import sys

# Programs that do not read standard input, which is the caller's.
SILENT = ("aws",)


def answer(name, arguments, text):
    if name == "fzf":  # the first line is chosen, and shown
        first = text.splitlines()[0]
        preview = arguments[arguments.index("--preview") + 1].replace("{}", shlex.quote(first))
        shown = subprocess.run(["sh", "-c", preview], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
        print(f"{first}\n{shown}", end="")
    elif arguments[:2] == ["sagemaker", "describe-training-job"]:
        print(json.dumps({"TrainingJobName": arguments[arguments.index("--training-job-name") + 1],
                          "DebugHookConfig": {"S3OutputPath": "out/"},
                          "DebugRuleConfigurations": [
                              {"RuleConfigurationName": name, "RuleEvaluatorImage": "image",
                               "RuleParameters": {"rule_to_invoke": name}}
                              for name in ("VanishingGradient", "ExplodingTensor")]}))


def main():
    name = os.path.basename(sys.argv[0])
    text = "" if name in SILENT else sys.stdin.read()
    with open(os.environ["STUB_LOG"], "a", encoding="utf-8") as log:
        log.write(json.dumps({"program": name, "arguments": sys.argv[1:], "stdin": text}) + "\n")
    answer(name, sys.argv[1:], text)


main()
