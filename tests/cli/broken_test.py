#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""broken_test.py --tools DIR... --trials DIR [--sanitized] [NAME...]: what the commands say of each damaged trial in
TRIALS/broken, or of those that are named. `--show` prints the script and the expected streams instead.

The expected output comes from the recorded results (the undamaged values) and from the table below, which makes the
right column of the README of the damaged trials and docs/faults.md precise: which names, steps and values are still printed, which
message names which file, which status. Nothing is taken from the output of the commands. The wording of messages is not
compared, except the tag and the place.
"""

import argparse
import concurrent.futures
import json
import math
import os
import struct
import sys
import tempfile
from dataclasses import dataclass, field

import run as runner

INDEX = "index/000000000/000000000001_worker_0.json"
EVENTS = "events/000000000001/000000000001_worker_0.tfevents"
COLLECTIONS = "collections/000000000/worker_0_collections.json"


NOTE = None  # as messages: there may be notes


@dataclass
class Case:
    """The expected behaviour for one trial; the defaults are those of the undamaged one."""

    names: list = field(default_factory=lambda: ["a", "b"])
    # global step: (mode step, number of tensors)
    steps: dict = field(default_factory=lambda: {0: (0, 2), 1: (1, 2), 2: (2, 2)})
    # (tensor, step): (shape, texts), or None if it is not to be printed; what is not here is as in the sound trial
    values: dict = field(default_factory=dict)
    ls: int = 0  # status of smd-ls
    ls_messages: list = field(default_factory=list)
    check: int = 0  # status of smd-ls --check
    check_rows: list = field(default_factory=list)
    tensor: int = 0  # status of smd-tensor for all steps of a and b
    tensor_messages: list = field(default_factory=list)
    reduce: int = None  # status of smd-reduce for a and b; None: as smd-tensor
    reduce_messages: list = None
    strings: bool = False  # a of step 1 holds strings, which have no reductions
    one: int = 0  # status of smd-tensor for a of step 1
    one_messages: list = field(default_factory=list)
    one_step: int = 1
    ls_options: str = ""
    more: list = field(default_factory=list)  # (command line, lines of stdout, status, messages)


def damaged(place):
    return f"Damaged: *{place}*"


def row_about(file, text=""):
    """A row of --check."""
    return f"*{file}\t*\t*{text}*"


def read(values=None):
    """Harmless or valid: everything is printed; `values` are those of `a` in step 1 if they differ."""
    return Case(values={("a", 1): values} if values else {})


def index_file_lost():
    return Case(
        steps={0: (0, 2), 2: (2, 2)}, values={("a", 1): None, ("b", 1): None}, ls=4, ls_messages=[damaged(INDEX)],
        check=4, check_rows=[row_about(INDEX)], tensor=4, tensor_messages=[damaged(INDEX)], one=4,
        one_messages=["StepUnavailable: *", damaged(INDEX)])


def entry_refused(**changes):
    """One entry of the index file; detected without reading an event file."""
    case = Case(
        steps={0: (0, 2), 1: (1, 1), 2: (2, 2)}, values={("a", 1): None}, ls=4, ls_messages=[damaged(INDEX)], check=4,
        check_rows=[row_about(INDEX)], tensor=4, tensor_messages=[damaged(INDEX)], one=4,
        one_messages=["TensorUnavailableForStep: *", damaged(INDEX)])
    for name, value in changes.items():
        setattr(case, name, value)
    return case


def values_refused(lost, message, check_rows):
    """Detected only by reading the values of step 1."""
    messages = [message] * len(lost)
    return Case(
        values={(name, 1): None for name in lost}, check=4, check_rows=check_rows, tensor=4, tensor_messages=messages,
        one=4 if "a" in lost else 0, one_messages=messages[:1] if "a" in lost else [])


def record_refused(lost="a"):
    return values_refused(lost, damaged(EVENTS + ": byte "), [row_about(EVENTS)] * len(lost))


def path_refused(path):
    """The index file names a path that must not be opened: the index file is damaged."""
    return values_refused("ab", damaged(f"{INDEX}*{path}"), [row_about(INDEX, path)])


def value_absent(*steps):
    """A missing file is reported once, with the number of its records."""
    steps = steps or (1,)
    gone = [(name, step) for step in steps for name in ("a", "b")]
    message = "TensorUnavailableForStep: 'a' at step {}{}: *: the event file is missing"
    return Case(
        values={key: None for key in gone}, check=4,
        check_rows=[row_about(f"events/{step:012}/{step:012}_worker_0.tfevents") for step in steps],
        tensor=1, tensor_messages=[message.format(step, " and 1 more record") for step in steps], one=1,
        one_messages=[message.format(1, "")])


def step_does_not_exist():
    return Case(
        steps={0: (0, 2), 2: (2, 2)}, values={("a", 1): None, ("b", 1): None}, one=1,
        one_messages=["StepUnavailable: *"])


def ignored(file):
    """Treated as if the file did not exist, with a note at most; --check lists it."""
    return Case(ls_messages=NOTE, check_rows=[row_about(file)], tensor_messages=NOTE, one_messages=NOTE)


def collections_lost():
    place = damaged(COLLECTIONS)
    return Case(
        ls=4, ls_messages=[place], check=4, check_rows=[row_about(COLLECTIONS)], tensor=4, tensor_messages=[place],
        one=4, one_messages=[place], more=[("smd-ls --collections -H --columns collection", [], 4, [place])])


def collection_is(name, listed, saved, **changes):
    """The file is read, and --collections shows it: name, tensors listed, tensors saved."""
    more = ("smd-ls --collections -H --columns collection,tensors,tensors_saved", [f"{name}\t{listed}\t{saved}"], 0,
            changes.get("ls_messages", []))
    return Case(more=[more], **changes)


def bad_pattern(pattern, found, **changes):
    """The pattern is reported when it is used, and affects only the tensors that it alone would have selected."""
    row = row_about("", f"default*{pattern}")
    return Case(check=4, check_rows=[row, *changes.pop("check_rows", [])],
                more=[("smd-ls -c default", found, 4, [f"Damaged: *default*{pattern}*"])], **changes)


def no_collections():
    message = ["MissingCollectionFiles: *"]
    return Case(names=[], steps={}, values={(name, step): None for name in "ab" for step in (0, 1, 2)}, ls=3,
                ls_messages=message, check=3, tensor=3, tensor_messages=message, one=3, one_messages=message)


ONE_TO_SIX = ([2, 3], ["1", "2", "3", "4", "5", "6"])


def table():
    cases = {}

    def add(maker, *names):
        for name in names:
            cases[name] = maker() if callable(maker) else maker

    add(index_file_lost, "index_truncated", "index_empty_file", "index_not_json", "index_json_list", "index_json_null",
        "index_two_documents", "index_bad_utf8", "index_deep_nesting", "index_no_meta", "index_empty_meta",
        "index_no_payloads", "index_payload_object", "index_unknown_mode", "index_lowercase_mode",
        "index_no_mode_step", "index_huge_mode_step", "index_no_event_name")
    add(read, "index_bom", "index_spaced_mode", "index_string_mode_step", "index_duplicate_keys", "index_extra_keys",
        "index_wrong_prefix", "event_flipped_bit_magic", "coll_unknown_key", "coll_string_num_workers",
        "coll_null_configs")
    # The step's number as the file name has it, the mode step as written.
    cases["index_negative_mode_step"] = Case(steps={0: (0, 2), 1: (-4, 2), 2: (2, 2)})
    add(step_does_not_exist, "index_empty_payloads")
    cases["tmp_leftovers"] = step_does_not_exist()
    cases["tmp_leftovers"].check_rows = [row_about(file + ".tmp") for file in (
        COLLECTIONS, EVENTS, INDEX, "index/000000000/000000000002_worker_0.json")]
    # A shape is refused, its tensor with it; a and b are sound.
    for name in ("index_shape_bad_dims", "index_shape_not_list"):
        cases[name] = entry_refused(steps={0: (0, 2), 1: (1, 2), 2: (2, 2)}, values={},
                                    one_messages=[damaged(INDEX)])
    cases["index_shape_no_original"] = Case(
        names=["a", "b", "c"], steps={0: (0, 2), 1: (1, 3), 2: (2, 2)},
        more=[("smd-ls -n c -l -H --columns tensor,shape,saved", ["c\t1x2\tshape"], 0, [])])
    add(entry_refused, "index_lone_surrogate", "index_start_negative", "index_start_string", "index_start_huge",
        "index_length_zero", "index_length_negative", "index_length_huge", "index_length_null", "index_no_tensorname",
        "index_number_tensorname")
    # These need the event file: its end, or the bytes at an offset.
    add(record_refused, "index_start_past_end", "index_start_off_by_three", "index_points_at_other_tensor",
        "index_length_short", "index_length_long", "index_length_two_records", "index_duplicate_tensor")
    # Not a reduction: a tensor of that odd name. Its record is that of a, so reading everything finds damage.
    cases["index_reduction_no_tensor"] = Case(
        names=["a", "b", "smdebug/reductions/max"], values={("a", 1): None}, check=4,
        check_rows=[row_about(EVENTS)], one=1, one_messages=["TensorUnavailableForStep: *"])
    cases["index_reduction_unknown"] = Case(
        steps={0: (0, 2), 1: (1, 1), 2: (2, 2)}, values={("a", 1): None}, check=4, check_rows=[row_about(EVENTS)],
        one=1, one_messages=["TensorUnavailableForStep: *"],
        more=[("smd-ls -l -H --columns tensor,saved", ["a\tvalue", "b\tvalue,kurtosis"], 0, [])])
    cases["index_empty_event_name"] = path_refused("")
    cases["index_event_name_directory"] = path_refused("events")
    cases["index_event_name_climbs_out"] = path_refused("../_outside/leak.tfevents")
    cases["index_event_name_absolute"] = path_refused("/etc/passwd")
    cases["index_stray_name"] = ignored("index/000000000/notes.json")
    cases["index_no_worker"] = ignored("index/000000000/000000000009.json")
    cases["index_csv"] = ignored("index/000000000/000000000005_worker_0.csv")
    nothing = ["*no step*"]
    cases["index_dir_missing"] = Case(
        names=[], steps={}, values={(name, step): None for name in "ab" for step in (0, 1, 2)}, ls=1,
        ls_messages=nothing, tensor=1, tensor_messages=["*"], one=1, one_messages=["*"],
        more=[("smd-ls --summary --get steps", ["0"], 0, [])])

    add(value_absent, "event_tmp_index_final", "event_missing_ended", "event_missing_running_later")
    cases["event_tmp_index_final"].check_rows.append(row_about(EVENTS + ".tmp"))
    cases["event_dir_missing"] = value_absent(0, 1, 2)
    # Its event file may still come. Nothing is damaged.
    late = "*NotYet*: *"
    cases["event_missing_running_last"] = Case(
        values={("a", 2): None, ("b", 2): None}, check_rows=[], tensor=1, tensor_messages=[late], one=1,
        one_messages=[late], one_step=2)
    cases["event_truncated_first"] = record_refused("ab")
    cases["event_truncated_second"] = record_refused("b")
    cases["event_empty"] = record_refused("ab")
    cases["event_text"] = record_refused("ab")
    add(record_refused, "event_bad_length_crc", "event_bad_footer", "event_flipped_bit_crc", "event_huge_length",
        "event_max_length", "event_zero_length")

    add(record_refused, "proto_garbage", "proto_truncated", "proto_nested_overrun", "proto_long_varint",
        "proto_field_zero", "proto_no_summary", "proto_no_value", "proto_simple_value", "proto_other_tag")
    # Of two values, the one tagged a.
    for name in ("proto_group", "proto_unknown_fields", "proto_reversed_fields", "proto_split_message",
                 "proto_two_values", "proto_other_mode", "proto_mode_text", "proto_mode_nine", "proto_no_metadata"):
        cases[name] = read(ONE_TO_SIX)

    add(record_refused, "tensor_content_short", "tensor_content_long", "tensor_content_odd", "tensor_dim_minus_one",
        "tensor_dim_negative", "tensor_dim_overflow", "tensor_dim_wraps", "tensor_dim_huge_empty",
        "tensor_unknown_rank", "tensor_no_shape", "tensor_dtype_unknown", "tensor_dtype_zero", "tensor_dtype_ref",
        "tensor_string_missing", "tensor_string_surplus")
    # "Give the number" of a type that is not known.
    for name, number in (("tensor_dtype_unknown", 99), ("tensor_dtype_ref", 101)):
        message = damaged(f"{EVENTS}: byte *{number}")
        cases[name].tensor_messages = cases[name].one_messages = [message]
    cases["tensor_forty_dims"] = read(([1] * 40, ["1"]))
    # The 12 bytes of three float32 numbers 1, 2, 3, taken as six of 16 bits: 0000 3f80 0000 4000 0000 4040.
    cases["tensor_dtype_bfloat16"] = read(([2, 3], ["0", "1", "0", "2", "0", "3"]))
    cases["tensor_float_val"] = read(ONE_TO_SIX)
    cases["tensor_float_val_one"] = read(([2, 3], ["1"] * 6))
    cases["tensor_bool_val"] = read(([1], ["false"]))
    cases["tensor_bool_two"] = read(([2, 3], ["false", "true", "true", "true", "true", "false"]))
    cases["tensor_int_val_unpacked"] = read(([3], ["5", "-6", "7"]))
    cases["tensor_int8_val"] = read(([2], ["5", "-6"]))
    cases["tensor_string_dtype7"] = read(([2], ["x", "y"]))
    cases["tensor_string_2d"] = read(([1, 2], ["x", "y"]))
    no_numbers = ["warning: strings have no reductions: 'a'"]
    # The NULs are kept; text has them unescaped.
    cases["tensor_string_nul"] = read(([2], ["x\0", "\0y\0\0"]))
    cases["tensor_string_nul"].more = [
        ("smd-tensor --jsonl --columns value", ['{"value":["x\\u0000","\\u0000y\\u0000\\u0000"]}'], 0, [], "a -s 1")]

    # The bytes ff fe 00 7a: what is not UTF-8 is replaced, and that is said.
    replaced = ["warning: 'a' at step 1: *UTF-8*"]
    cases["tensor_string_bad_utf8"] = Case(
        values={("a", 1): ([1], ["\ufffd\ufffd\0z"])}, tensor_messages=replaced, one_messages=replaced,
        more=[("smd-tensor --jsonl --columns value", ['{"value":["\ufffd\ufffd\\u0000z"]}'], 0, replaced, "a -s 1")])

    for name in ("tensor_string_dtype7", "tensor_string_2d", "tensor_string_nul", "tensor_string_bad_utf8"):
        cases[name].strings = True
        cases[name].reduce_messages = no_numbers

    add(no_collections, "coll_missing_ended", "coll_missing_running", "trial_empty_dir")
    add(collections_lost, "coll_empty", "coll_truncated", "coll_empty_object", "coll_null")
    cases["coll_no_num_workers"] = Case(more=[("smd-ls --steps -H --columns step,complete",
                                               ["0\ttrue", "1\ttrue", "2\ttrue"], 0, [])])
    said = ["*worker*"]
    cases["coll_zero_workers"] = Case(ls_messages=said, tensor_messages=said, one_messages=said)
    missing = ["*1*2*"]
    cases["coll_workers_2_of_1_ended"] = Case(ls_messages=missing, tensor_messages=missing, one_messages=missing)
    cases["coll_workers_2_of_1_running"] = Case(
        ls_options="--incomplete", ls_messages=missing, tensor_messages=missing, one_messages=missing)
    cases["coll_bad_regex"] = bad_pattern("*([", [])
    # One entry bears the name that makes the pattern run on; its record is that of a, whose name the pattern matches.
    long_name = "a" * 40 + "b"
    cases["coll_slow_regex"] = bad_pattern(
        "^(a+)+$", ["a"], names=["a", long_name, "b"], values={("a", 1): None}, check_rows=[row_about(EVENTS)], one=1,
        one_messages=["TensorUnavailableForStep: *"])
    cases["coll_null_tensor_names"] = collection_is("default", 0, 2)
    cases["coll_name_only"] = collection_is("default", 0, 0)
    cases["coll_key_not_name"] = collection_is("renamed", 0, 2, ls_messages=NOTE, tensor_messages=NOTE,
                                               one_messages=NOTE)
    cases["coll_unknown_reduction"] = Case(
        more=[("smd-ls --collections -H --columns collection,reductions", ["default\tmedian,abs_mean"], 0, [])])
    cases["coll_no_worker_name"] = ignored("collections/000000000/collections.json")
    cases["end_is_directory"] = Case(more=[("smd-ls --summary --get status", ["ended"], 0, [])])
    # Nothing is damaged, but --check has a row about each.
    for name in ("coll_key_not_name", "coll_workers_2_of_1_ended", "coll_workers_2_of_1_running", "coll_zero_workers",
                 "event_missing_running_last", "index_dir_missing", "index_empty_payloads"):
        cases[name].check = 4
    return cases


def shortest(number, dtype):
    """Returns the shortest text that reads back equal in the type."""
    if dtype == "float64":
        text = repr(number)
        return text[:-2] if text.endswith(".0") else text
    assert dtype == "float32" and 1e-4 < abs(number) < 1e5
    for digits in range(1, 10):
        text = f"{number:.{digits}g}"
        if struct.pack("<f", float(text)) == struct.pack("<f", number):
            return text
    raise ValueError(number)


def recorded_values(answers):
    values = {}
    for name, tensor in answers.get("tensors", {}).items():
        for record in tensor["records"]:
            value = record["value"]
            if value.get("dtype") in ("float32", "float64") and name in "ab":
                texts = [shortest(number, value["dtype"]) for number in value["head"]]
                values[name, record["global_step"]] = (value["shape"], texts)
    return values


def reduced(name, step, mode_step, value):
    """Returns the row of smd-reduce: count, min, max, and the exact sum, rounded once."""
    _, texts = value
    own = "float64"
    if "false" in texts or "true" in texts:
        numbers = [int(text == "true") for text in texts]
    elif name == "a" and not all(text.lstrip("-").isdigit() for text in texts):
        # The text is the shortest, the number behind it has more digits.
        own = "float32"
        numbers = [struct.unpack("<f", struct.pack("<f", float(text)))[0] for text in texts]
    else:
        numbers = [float(text) for text in texts]
    statistics = [shortest(float(number), dtype) for number, dtype in
                  ((min(numbers), own), (max(numbers), own), (math.fsum(numbers), "float64" if numbers[1:] else own))]
    return "\t".join([name, str(step), str(mode_step), "computed", str(len(numbers)), *statistics])


def rows(name, step, mode_step, value):
    shape, texts = value
    for position, text in enumerate(texts):
        index = []
        for size in reversed(shape):
            index.insert(0, str(position % size))
            position //= size
        place = ",".join(index) or "NA"
        yield f"{name}\t{step}\t{mode_step}\t{place}\t{text}"


class Transcript:
    """The expected streams of a case, command by command."""

    def __init__(self):
        self.cmd, self.out, self.err = [], [], []

    def run(self, command, lines, status, messages):
        self.cmd.append("run " + command.replace("$TRIAL", '"$TRIAL"'))
        shown = "$ " + command.replace("$TRIAL", "$TRIALS/broken/" + self.name)
        self.out += [shown, *lines, f"= {status}"]
        self.err += [shown, *messages]


def write_case(name, case, sound, own, transcript):
    transcript.name = name
    # Nothing may be allocated because a file says so.
    transcript.cmd.append("memory_limit 524288")
    transcript.cmd.append(f'TRIAL="$TRIALS/broken/{name}"')
    options = f" {case.ls_options}" if case.ls_options else ""

    def messages(tool, texts):
        return ["..."] if texts is NOTE else [f"{tool}: {text}" for text in texts]

    transcript.run(f"smd-ls{options} $TRIAL", case.names, case.ls, messages("smd-ls", case.ls_messages))
    complete = "false" if case.ls_options else "true"
    transcript.run(
        f"smd-ls --steps{options} -H --columns step,mode,mode_step,tensors,workers,complete $TRIAL",
        [f"{step}\tTRAIN\t{mode_step}\t{tensors}\tworker_0\t{complete}"
         for step, (mode_step, tensors) in case.steps.items()],
        case.ls, messages("smd-ls", case.ls_messages))
    # Notes may be printed between the rows, and messages may say more.
    check_rows = ["..."]
    for row in case.check_rows:
        check_rows += [row, "..."]
    # Whatever there is a row about makes the status 4.
    transcript.run("smd-ls --check -H $TRIAL", check_rows, 4 if case.check_rows else case.check, ["..."])

    # What the trial itself has recorded (a flipped bit that nothing can notice), else the sound trial's.
    def printed(tensor, step):
        if (tensor, step) in case.values:
            return case.values[tensor, step]
        return own.get((tensor, step), sound[tensor, step])

    def value_rows(tensors, steps):
        return [row for step in steps for tensor in tensors if step in case.steps and printed(tensor, step)
                for row in rows(tensor, step, case.steps[step][0], printed(tensor, step))]

    columns = "tensor,step,mode_step,index,value"
    tensor = f"smd-tensor{options} -H --columns {columns}"
    transcript.run(f"{tensor} -s : $TRIAL a b", value_rows("ab", (0, 1, 2)), case.tensor,
                   messages("smd-tensor", case.tensor_messages))
    transcript.run(f"{tensor} -s {case.one_step} $TRIAL a", value_rows("a", (case.one_step,)), case.one,
                   messages("smd-tensor", case.one_messages))
    status = case.tensor if case.reduce is None else case.reduce
    texts = case.tensor_messages if case.reduce_messages is None else case.reduce_messages
    statistics = [reduced(name, step, case.steps[step][0], printed(name, step)) for step in (0, 1, 2) for name in "ab"
               if step in case.steps and printed(name, step) and not (case.strings and (name, step) == ("a", 1))]
    transcript.run(
        f"smd-reduce{options} -H -r count,min,max,sum --columns tensor,step,mode_step,source,count,min,max,sum "
        "-n a -n b $TRIAL", statistics, status, messages("smd-reduce", texts))
    for command, lines, status, texts, *operands in case.more:
        tool = command.split()[0]
        transcript.run(" ".join([command, "$TRIAL", *operands]), lines, status, messages(tool, texts))


def save(folder, name, lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
        file.write("".join(line + "\n" for line in lines))


def check(folder, options):
    """Returns what differs from the expected streams in a case's folder, as run.py checks it."""
    differences = runner.Case(folder, options).check()
    return "\n".join([f"FAILED {os.path.basename(folder)}", *differences, ""]) if differences else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", action="append", default=[])
    parser.add_argument("--trials", required=True)
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.timeout, options.fixtures, options.rewrite = 60, os.devnull, False
    trials = os.path.join(options.trials, "broken")
    with open(os.path.join(trials, "cases.json"), encoding="utf-8") as file:
        described = json.load(file)
    cases = table()
    missing = set(described) ^ set(cases)
    if missing:
        sys.exit(f"not in the table, or not a trial: {sorted(missing)}")

    def answers(name):
        with open(os.path.join(trials, name + ".expected.json"), encoding="utf-8") as file:
            return json.load(file)

    # A trial in which the reference notices nothing odd.
    sound = recorded_values(answers("index_bom"))
    with tempfile.TemporaryDirectory(prefix="smd-broken-") as work:
        folders = []
        for name in options.names or cases:
            folders.append(os.path.join(work, name))
            os.mkdir(folders[-1])
            own = recorded_values(answers(name)) if name == "event_flipped_bit_magic" else {}
            transcript = Transcript()
            write_case(name, cases[name], sound, own, transcript)
            save(folders[-1], "cmd", ["# " + described[name], *transcript.cmd])
            save(folders[-1], "stdout.glob", transcript.out)
            save(folders[-1], "stderr.glob", transcript.err)
            if options.show:
                print("# " + described[name], *transcript.cmd, "", *transcript.out, "", *transcript.err, sep="\n")
        if options.show:
            return 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failures = list(pool.map(lambda folder: check(folder, options), folders))
    print("".join(failures) + f"{len(folders)} damaged trials, {sum(map(bool, failures))} not as expected")
    return 1 if any(failures) else 0


if __name__ == "__main__":
    sys.exit(main())
