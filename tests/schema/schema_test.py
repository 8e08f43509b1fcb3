#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schema_test.py ROOT BIN_DIR TRIALS: what the commands print as JSON in every view, of trials of every layout, sound and
damaged, agrees with ROOT/schema; keys that a schema does not name are refused here. Each kind of row is seen. Exits with 77
without Python's jsonschema."""
import json
import os
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: no jsonschema (python3-jsonschema)")
    sys.exit(77)

ROOT = pathlib.Path(sys.argv[1]).resolve()
BIN_DIR = os.path.abspath(sys.argv[2])
TRIALS = os.path.abspath(sys.argv[3])
PLACES = [*(str(path) for family in ("tb-logs", "checkpoints", "metric-logs", "pytorch", "small-logs")
            for path in sorted((ROOT / "tests/fixtures" / family).iterdir()) if path.suffix != ".json"),
          *(os.path.join(folder, name) for folder in (TRIALS, os.path.join(TRIALS, "broken"))
            for name in sorted(os.listdir(folder)) if not name.endswith(".json"))]
DIGITS = "good-pytorch-digits"
RESTART = "tb-logs/restart_plain"
# Options of each command; "-" stands for all places, "+" for some of them.
CALLS = {
    "smd-ls": [["+"], ["-", "-l"], ["+", "--tree"], ["+", "--tree", "--by", "dtype"], ["+", "--steps", "-l"], ["+", "--steps"],
               ["+", "--modes"], ["+", "--workers"], ["+", "--collections"], ["-", "--hparams"], ["+", "--summary"],
               ["+", "--locations", "-s", "last"], ["-", "--check"], ["--find", "tb-logs/sweep"]],
    "smd-tensor": [["+", "-c", "losses"], ["-", "-e", ".", "--stat"], ["tb-logs/sick", "-c", "losses", "--smooth", "0.6"],
                   [DIGITS, "DigitNet_conv.bias", "--hist"], ["tb-logs/sick", "-c", "losses", "--pivot"],
                   [DIGITS, "fc_output_0", "-s", "0"], ["+", "-c", "losses", "--with-superseded"],
                   [RESTART, "--columns", "all"], [RESTART, "--stat", "--columns", "all"],
                   [RESTART, "--stat", "--with-superseded"]],
    "smd-reduce": [["-", "-s", "last"], ["+", "-s", "last", "-r", "l2,nan,p99", "--by", "step"], [DIGITS, "--hist", "-s", "0"],
                   [DIGITS, "--by", "tensor", "-r", "mean"], [DIGITS, "-r", "mean", "--shard", "1/9"],
                   ["tb-logs/sick", "-c", "losses", "-r", "mean", "--pivot"], [RESTART, "tb-logs/healthy", "--across"],
                   [RESTART, "tb-logs/sick", "--across", "--by", "tensor"], [RESTART, "--across", "--pivot", "-r", "mean"],
                   [RESTART, "--with-superseded"], ["+", "-s", "last", "--columns", "all"], [DIGITS, "--by", "tensor,step,row"],
                   [RESTART, "--smooth", "0.6", "--columns", "all"], [DIGITS, "--hist", "-s", "0", "--by", "step"],
                   [DIGITS, "--hist", "-s", "0", "--by", "tensor"], [DIGITS, "--shard", "1/2", "--by", "tensor", "--jsonl"],
                   [DIGITS, "--where", "mean > 1e9", "--shard", "1/2", "--jsonl"]],
    "smd-rule": [["-", "-r", "ExplodingTensor,Overfit,DeadRelu"], ["tb-logs/sick", "-r", "VanishingGradient,Overfit", "-k"],
                 ["tb-logs/sick", "-r", "Overfit", "--findings"], ["--list"], ["--describe", "Overfit"],
                 ["tb-logs/sick", DIGITS, "-r", "Overfit,VanishingGradient", "--explain"],
                 ["-r", "Overfit", "--check-config"], ["nowhere", "-r", "Overfit"],
                 [DIGITS, "tb-logs/sick", "-r", "Overfit", "--shard", "2/2", "--jsonl"]],
    "smd-wait": [[DIGITS, "-s", "38", "--timeout", "0"], [DIGITS, "-s", "39", "--timeout", "0"], [DIGITS, "--end"],
                 ["tb-logs/sick", "--until", "val/loss < 1"], ["good-running", "-s", "99999", "--timeout", "0"]],
    "smd-diff": [["checkpoints/rule_blowup", "-s", "1000,2000"], ["checkpoints/rule_blowup", "-s", "1000,2000", "--summary"],
                 ["diff-cases/kinds_a", "diff-cases/kinds_b", "--all"], ["diff-cases/kinds_a", "diff-cases/kinds_b", "--summary"],
                 ["pytorch/state_dict/step_1.pt", "pytorch/state_dict/step_2.pt", "--all"],
                 *(["diff-cases/kinds_a", "diff-cases/kinds_b", "--all", "--by", by]
                   for by in ("", "step", "tensor", "worker", "tensor,step", "tensor,step,worker"))],
    "smd-report": [["tb-logs/sick", "nowhere", "-f", "json"],
                   *([place, "-f", "json"] for place in
                     (DIGITS, "checkpoints/shard_missing", "metric-logs/wb_new", "tb-logs/pt_hparams"))],
    "smd-runs": [["tb-logs"], ["metric-logs", "--hp", "all"], ["tb-logs/sweep", "--until-step", "100"], ["checkpoints"]],
}


def strict(schema):
    """The same schema, which refuses keys that it does not name."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: strict(value) for key, value in schema.items()}
    if "properties" in copy and copy.get("type") == "object":
        copy.setdefault("additionalProperties", False)
    return copy


def words(schema):
    """The texts that a schema tells from others."""
    if isinstance(schema, dict):
        return {*schema.get("enum", ()), schema.get("const"), *(word for part in schema.values() for word in words(part))}
    return {word for part in schema for word in words(part)} if isinstance(schema, list) else set()


def form(value, known):
    """What validation sees of a value, so that of rows alike one is validated."""
    if isinstance(value, dict):
        return tuple((key, form(part, known)) for key, part in value.items())
    if isinstance(value, list):
        return frozenset(form(part, known) for part in value)
    if isinstance(value, str):
        return value if value in known else "text"
    return type(value).__name__ + ("-" if isinstance(value, (int, float)) and value < 0 else "")


def shown(command):
    places = PLACES[::8] if "+" in command else PLACES
    done = subprocess.run(["-" if word == "+" else word for word in command], cwd=ROOT / "tests/fixtures",
                          input="\n".join(places), capture_output=True, text=True, check=False, timeout=240,
                          env={"PATH": BIN_DIR, "LC_ALL": "C.UTF-8"})
    if "--jsonl" in command:
        return [json.loads(line) for line in done.stdout.splitlines()]
    return json.loads(done.stdout) if done.stdout else []


def main():
    failed = False
    outputs = rows = 0
    for name, calls in CALLS.items():
        schema = json.loads((ROOT / "schema" / (name + ".schema.json")).read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        whole = jsonschema.Draft202012Validator(strict(schema))
        kinds = {kind: jsonschema.Draft202012Validator(strict({**part, "$defs": schema["$defs"]}))
                 for kind, part in schema["$defs"].items() if part.get("type") == "object"}
        known = words(schema)
        seen = set()
        forms = set()
        for options in calls:
            command = [name, *options, *(() if {"-f", "--jsonl"} & set(options) else ("--json",))]
            printed = shown(command)
            outputs += 1
            rows += len(printed)
            errors = [] if isinstance(printed, list) else ["no array"]
            for row in printed:
                if form(row, known) in forms:
                    continue
                forms.add(form(row, known))
                # The kind of the row before comes first: most rows are of it.
                kind = next((kind for kind in kinds if kinds[kind].is_valid(row)), None)
                if kind is None:
                    errors += [next(whole.iter_errors([row])).message[:500]]
                elif kind not in seen:
                    seen.add(kind)
                    kinds = {kind: kinds[kind], **kinds}
            if errors or not printed:
                failed = True
                print(" ".join(command), *errors[:3], f"{len(printed)} rows", sep="\n  ")
        if missing := set(kinds) - seen:
            failed = True
            print(f"{name}: no row of kind", *sorted(missing))
    saved = json.loads((ROOT / "schema/smd-save.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(strict(saved)).validate({"step": 13, "tensor": "loss", "value": 0.2, "collections": ["losses"]})
    print(f"{outputs} outputs with {rows} rows")
    sys.exit(failed)


main()
