# SPDX-License-Identifier: Apache-2.0
"""The expected result of each recipe of the cookbook, by question. Numbers are computed by NumPy from values that an
independent reader takes from the same files; names and statuses come from tests/fixtures/README.md and
docs/exit-statuses.md."""
import json
import re
import xml.etree.ElementTree

import numpy as np

from cookbook_facts import (DIGITS, EXPLODING, GRADIENTS, LOSS, PARAMETERS, TWO, first_not_finite, l2, log_directories,
                            log_directory, log_results, series, trial)

ANSWERS = {}


def table(text, separator="\t"):
    return [line.split(separator) for line in text.splitlines()]


def equal(got, expected):
    assert got == expected, f"{got!r} is not {expected!r}"


def close(got, expected, atol=0):
    """Compares keys exactly, and numbers within some units of float32: the mean of one element has its own text."""
    equal(sorted(got), sorted(expected))
    for key, value in expected.items():
        assert np.isclose(float(got[key]), value, rtol=3e-7, atol=atol), f"{key}: {got[key]} is not {value}"


def answers(number, status=0, on=None):
    """`on`: another trial than the one in the recipe."""
    def register(check):
        ANSWERS[number, on] = (status, check)
        return check
    return register


def check(question, outcome, on=None):
    status, check = ANSWERS[int(question.split(".")[0]), on]
    assert outcome.status == status, f"status {outcome.status}, not {status}: {outcome.errors}"
    assert "Usage" not in outcome.errors, outcome.errors
    check(outcome)


def only(outcome, program):
    """Returns the only call of a stub."""
    calls = [call for call in outcome.stubs if call["program"] == program]
    assert len(calls) == 1, f"{program} was called {len(calls)} times"
    return calls[0]


@answers(1, status=1)
def since_when(outcome):
    step, tensor = first_not_finite()
    assert re.search(rf"IssuesFound +ExplodingTensor +step {step} .*{tensor}", outcome.output), outcome.output


@answers(2)
def nan_first(outcome):
    equal(outcome.output, "step {}: {}\n".format(*first_not_finite()))


@answers(3)
def loss_csv(outcome):
    rows = table((outcome.folder / "loss.csv").read_text(), ",")
    equal(rows[0], ["step", "value"])
    equal([(int(step), np.float32(value)) for step, value in rows[1:]],
          [(step, value[()]) for step, value in series(LOSS, "TRAIN").items()])


@answers(4)
def loss_picture(outcome):
    svg = "{http://www.w3.org/2000/svg}"
    root = xml.etree.ElementTree.parse(outcome.folder / "loss.svg").getroot()
    curves = {group[0].text: group for group in root.iter(svg + "g")
              if len(group) and group[0].tag == svg + "title"}
    for mode in ("TRAIN", "EVAL"):
        # A dot for each point; y grows downwards.
        path = next(path.get("d") for path in curves[mode.lower()] if path.get("class", "").startswith("dot"))
        marks = re.findall(r"M([\d.]+) ([\d.]+)h0", path)
        expected = series(LOSS, mode)
        equal(len(marks), len(expected))
        x, y = np.array(marks, dtype=float).T
        assert np.corrcoef(x, [*expected])[0, 1] > 0.9999, marks
        assert np.corrcoef(y, [*expected.values()])[0, 1] < -0.9999, marks


@answers(5)
def validation(outcome):
    for row in json.loads(outcome.output):
        losses = sorted(float(value) for value in series(LOSS, row["mode"]).values())
        # Miller's p50 is an element: the one at index n/2.
        close({key: row["mean_" + key] for key in ("count", "min", "p50", "max")},
              {"count": len(losses), "min": losses[0], "p50": losses[len(losses) // 2], "max": losses[-1]})
    equal(sorted(row["mode"] for row in json.loads(outcome.output)), ["EVAL", "TRAIN"])


@answers(6)
def overfit(outcome):
    # The trial is healthy: its validation losses are below the preceding training losses.
    train, validation = (np.mean([*series(LOSS, mode).values()]) for mode in ("TRAIN", "EVAL"))
    assert validation < train * 1.1
    equal(outcome.output, "")
    suite = xml.etree.ElementTree.parse(outcome.folder / "overfit.xml").getroot().find("testsuite")
    equal([suite.get(key) for key in ("tests", "failures", "errors", "skipped")], ["1", "0", "0", "0"])


@answers(7)
def watched(outcome):
    call = only(outcome, "feedgnuplot")
    equal([(int(step), np.float32(value)) for step, value in table(call["stdin"])],
          [(step, value[()]) for step, value in series(LOSS, "TRAIN").items()])


@answers(8)
def gradient_norm(outcome):
    # Drawn in the terminal: the axes extend from the first step to beyond the last, and around the norms.
    norms = [l2(*(trial(DIGITS)[step][1][name] for name in GRADIENTS)) for step in series(GRADIENTS[0])]
    ticks = [float(tick) for tick in re.findall(r"^ *([\d.]+) [|+]", outcome.output, re.MULTILINE)]
    assert len(ticks) > 2 and min(ticks) <= min(norms) and max(norms) <= max(ticks), outcome.output
    assert max(ticks) - min(ticks) < 3 * (max(norms) - min(norms)), outcome.output


@answers(9)
def ratios(outcome):
    values = trial(DIGITS)[31][1]  # the last training step
    close(dict(table(outcome.output)), {name: l2(values["gradient/" + name]) / l2(values[name]) for name in PARAMETERS})


@answers(9, on="bad")
def ratios_of_nan(outcome):
    values = trial(EXPLODING)[4][1]  # the last training step; biases were not saved
    assert all(np.isnan(l2(value)) for name, value in values.items() if name.endswith((".bias", ".weight")))
    equal(dict(table(outcome.output)), {name: "NaN / NaN" if name in values else "NaN / null" for gradient in values
                                        if (name := gradient.removeprefix("gradient/")) != gradient})


@answers(10)
def vanishing(outcome):
    expected = [[str(step), name] for step, (_, values) in trial(DIGITS).items() for name in GRADIENTS
                if name in values and np.abs(values[name].astype(float)).mean() < 0.015]
    assert expected
    equal(table(outcome.output), expected)


@answers(10, on="logs/sick")
def none_vanishing(outcome):
    # The job logged norms of gradients, and no mean of their absolute values: it is null.
    equal(outcome.output, "")


@answers(11)
def updates(outcome):
    weights = [*series("DigitNet_fc.weight", "TRAIN").values()]
    close(dict(enumerate(outcome.output.split())),
          {i: l2(b.astype(float) - a) / l2(a) for i, (a, b) in enumerate(zip(weights, weights[1:]))})


@answers(12)
def largest(outcome):
    sizes = {}
    for file in (outcome.folder / "run/index/000000000").iterdir():
        for entry in json.loads(file.read_text())["tensor_payload"]:
            sizes[entry["tensorname"]] = sizes.get(entry["tensorname"], 0) + entry["length"]
    rows = table(outcome.output)
    equal([int(size) for _, size in rows], sorted(sizes.values(), reverse=True)[:10])
    equal({name: int(size) for name, size in rows}, {name: sizes[name] for name, _ in rows})


@answers(13, status=1)
def dead(outcome):
    output = trial(DIGITS)[0][1]["relu_output_0"]
    percent = 100 * ((output > 0).mean(axis=0) < 0.01).mean()  # of nodes active in less than 1 % of the samples
    assert percent > 20
    found = re.search(r"step 0 .*relu_output_0: dead_percent (\S+)", outcome.output)
    close({"dead": found.group(1)}, {"dead": percent})


@answers(14)
def singular(outcome):
    expected = np.linalg.svd(trial(DIGITS)[38][1]["DigitNet_fc.weight"], compute_uv=False)[:5]
    assert np.allclose([float(value) for value in outcome.output.split()], expected, rtol=1e-5)


@answers(15)
def labels(outcome):
    counts = np.bincount(np.concatenate([*series("CrossEntropyLoss_input_1", "TRAIN").values()]))
    equal([[int(cell) for cell in line.split()] for line in outcome.output.splitlines()],
          [[count, label] for label, count in enumerate(counts) if count])


@answers(16, status=1)
def stalled(outcome):
    # The job never ended, and its last step is years old.
    seconds = re.search(r"IssuesFound +StalledTrainingRule +step 11 .* seconds (\S+) >= threshold 1800", outcome.output)
    assert float(seconds.group(1)) > 365 * 86400


@answers(17)
def names(outcome):
    good, bad = ({name for _, values in trial(which).values() for name in values} for which in (DIGITS, EXPLODING))
    equal(sorted(outcome.output.splitlines()), sorted([*(good - bad), *("\t" + name for name in bad - good)]))


@answers(18, status=1)
def differing(outcome):
    # The loss is the only tensor that both trials have.
    good, bad = ({name for _, values in trial(which).values() for name in values} for which in (DIGITS, EXPLODING))
    rows = {name: (state, number) for name, state, number in table(outcome.output)[1:]}
    equal({name: state for name, (state, _) in rows.items() if name != LOSS},
          {**dict.fromkeys(good - bad, "only_a"), **dict.fromkeys(bad - good, "only_b")})
    close({LOSS: rows[LOSS][1]}, {LOSS: abs(float(trial(DIGITS)[0][1][LOSS]) - float(trial(EXPLODING)[0][1][LOSS]))})


@answers(19)
def spread(outcome):
    one, other = (series(LOSS, name=TWO, worker=worker) for worker in ("worker_0", "worker_1"))
    close({int(step): value for step, value in table(outcome.output)},
          {step: abs(float(one[step]) - float(other[step])) for step in one}, atol=3e-7)


@answers(19, on="bad")
def spread_of_nan(outcome):
    expected = {step: "NaN" if np.isnan(loss) else "0" for step, loss in series(LOSS, name=EXPLODING).items()}
    equal(sorted({*expected.values()}), ["0", "NaN"])
    equal({int(step): value for step, value in table(outcome.output)}, expected)


@answers(20)
def sick(outcome):
    lines = outcome.output.splitlines()
    equal(len(lines), 1)
    assert lines[0].startswith("runs/bad: ") and first_not_finite()[1] in lines[0], lines


@answers(21, status=4)
def copied(outcome):
    # The flipped bit is in the event file of step 1.
    equal([row[0] for row in table(outcome.output)[1:]], ["events/000000000001/000000000001_worker_0.tfevents"])


@answers(22)
def each_step(outcome):
    close({int(step): value for step, value in table(outcome.output)},
          {step: float(value) for step, value in series(LOSS).items()})


def finding(text):
    """Checks the record of the finding, which --on-trigger passes to its command."""
    record = json.loads(text)
    equal([record["record"], record["rule"], record["step"], record["tensor"]],
          ["finding", "ExplodingTensor", *first_not_finite()])


@answers(23, status=1)
def mailed(outcome):
    call = only(outcome, "mail")
    equal(call["arguments"], ["-s", f"ExplodingTensor at step {first_not_finite()[0]}", "me@example.com"])
    finding(call["stdin"])


@answers(24, status=1)
def posted(outcome):
    call = only(outcome, "curl")
    equal(call["arguments"][-1], "https://chat.example.com/hook")
    message = json.loads(call["stdin"])
    equal(list(message), ["text"])
    assert first_not_finite()[1] in message["text"], message


@answers(25, status=1)
def published(outcome):
    arguments = only(outcome, "aws")["arguments"]
    equal(arguments[:-1], ["sns", "publish", "--topic-arn", "arn:aws:sns:eu-west-1:1:t", "--subject", "ExplodingTensor",
                           "--message"])
    assert first_not_finite()[1] in arguments[-1], arguments


@answers(26, status=1)
def stopped(outcome):
    equal(only(outcome, "aws")["arguments"], ["sagemaker", "stop-training-job", "--training-job-name", "job-1"])


@answers(27)
def browsed(outcome):
    offered = only(outcome, "fzf")["stdin"].splitlines()
    equal(offered, sorted({name for _, values in trial(DIGITS).values() for name in values}))
    # The preview of the first tensor: its shape at the newest step.
    shape = "x".join(map(str, trial(DIGITS)[38][1][offered[0]].shape))
    assert shape in outcome.output.split(), outcome.output


@answers(28)
def frame(outcome):
    rows = table(outcome.output)
    equal(rows[0], ["step", *GRADIENTS])
    equal([int(row[0]) for row in rows[1:]], [*series(GRADIENTS[0])])
    for step, *cells in rows[1:]:
        close(dict(zip(GRADIENTS, cells)), {name: l2(trial(DIGITS)[int(step)][1][name]) for name in GRADIENTS})


@answers(29)
def exported(outcome):
    with np.load(outcome.folder / "weights.npz") as arrays:
        equal(sorted(arrays), sorted([*PARAMETERS, *(name + "@steps" for name in PARAMETERS)]))
        for name in PARAMETERS:
            expected = series(name, "TRAIN")
            equal(list(arrays[name + "@steps"]), [*expected])
            assert np.array_equal(arrays[name], np.stack([*expected.values()])), name


@answers(30)
def own_rules(outcome):
    equal(only(outcome, "aws")["arguments"], ["sagemaker", "describe-training-job", "--training-job-name", "job-1"])
    rows = table(outcome.output)
    rule, status = rows[0].index("rule"), rows[0].index("status")
    equal({row[rule]: row[status] for row in rows[1:]},
          {"VanishingGradient": "NoIssuesFound", "ExplodingTensor": "NoIssuesFound"})


@answers(31)
def summaries(outcome):
    head, *rows = table(outcome.output)
    found = {row[head.index("trial")]: [int(row[head.index(key)]) for key in ("tensors", "steps", "first_step", "last_step")]
             for row in rows}
    equal(found, {run: [len(log["tensors"]), len(log["steps"]), log["steps"][0], log["steps"][-1]]
                  for run, log in log_directories().items()})


@answers(32, status=1)
def judged(outcome):
    suites = xml.etree.ElementTree.parse(outcome.folder / "rules.xml").getroot().iter("testsuite")
    found = {(suite.get("name"), case.get("name")): case.find("failure") is not None
             for suite in suites for case in suite.iter("testcase")}
    equal(sorted(found), sorted((run, rule) for run in log_directories() for rule in ("Overfit", "LossNotDecreasing")))
    for name, rule in (("sick", "Overfit"), ("sick", "LossNotDecreasing"), ("keras_overfit", "Overfit")):
        equal(found["logs/" + name, rule], log_results(name, rule))


@answers(33)
def every_point(outcome):
    head, *rows = table((outcome.folder / "loss.csv").read_text(), ",")
    equal(head, ["step", "wall_time", "value"])
    written = log_directory("sick")["tensors"]["train/loss"]["workers"]["worker_0"]
    equal([int(row[0]) for row in rows], written["steps"])
    equal([float(row[1]) for row in rows], written["wall_times"])
    assert np.array_equal(np.float32([row[2] for row in rows]), np.float32(written["values"]), equal_nan=True), rows


@answers(34, status=1)
def changed(outcome):
    ends = {}
    for name in PARAMETERS:
        values = series(name)
        ends[name] = [values[step].astype(float) for step in (min(values), max(values))]
    change = {name: l2(first - last) / l2(first) for name, (first, last) in ends.items()
              if name.endswith(".weight")}
    rows = table(outcome.output)[1:]
    equal([row[0] for row in rows], sorted(change, key=change.get, reverse=True))
    close({row[0]: row[1] for row in rows}, change)
    close({row[0]: row[2] for row in rows},
          {name: float((ends[name][0] * ends[name][1]).sum()) / l2(ends[name][0]) / l2(ends[name][1]) for name in change})


@answers(35, status=1)
def rounding(outcome):
    assert not np.isclose(trial(DIGITS)[0][1][LOSS], trial(EXPLODING)[0][1][LOSS], rtol=1e-5, atol=1e-8)
    equal((outcome.output, outcome.errors), ("", ""))


@answers(36, status=1)
def at_a_glance(outcome):
    page = (outcome.folder / "bad.html").read_text(encoding="utf-8")
    step, _ = first_not_finite()
    assert re.search(rf"ExplodingTensor</bdi></a>: .* has NaN or infinities, from step {step} on", page), page[:4000]
    assert "found something grave" in page


@answers(37, status=1)
def overfitted(outcome):
    # (0.92 - 0.9) / 0.9 and (0.54 - 0.5) / 0.5 are below a tenth, (0.4 - 0.3) / 0.3 is not.
    head, *rows = table(outcome.output)
    equal([(row[head.index("status")], row[head.index("step")]) for row in rows], [("IssuesFound", "3")])


@answers(38)
def printed(outcome):
    equal(table(outcome.output, ","), [["step", "value"], ["10", "4.25"], ["20", "3.5"]])
