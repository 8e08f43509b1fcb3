# SPDX-License-Identifier: Apache-2.0
"""seeds.py FOLDER: makes FOLDER/TARGET/* for every fuzz target, from the recorded trials, logs and checkpoints, the commands' tests
and the short lists below. The output is always the same."""
import gzip
import hashlib
import io
import itertools
import os
import pathlib
import re
import shlex
import struct
import sys
import tarfile
import zipfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ARCHIVE = os.path.join(HERE, "..", "fixtures", "recorded-trials.tar.xz")
LOGS = os.path.join(HERE, "..", "fixtures", "tb-logs")
METRIC_LOGS = os.path.join(HERE, "..", "fixtures", "metric-logs")
CHECKPOINTS = os.path.join(HERE, "..", "fixtures", "checkpoints")
PYTORCH = os.path.join(HERE, "..", "fixtures", "pytorch")
SEPARATOR = b"%%NEXT%%"
LARGEST = 16384  # as run.sh's -max_len
RECORD = re.compile(r"(.*?)/((?:index|events|collections)/.*|training_job_end\.ts)$")


class Seeds:
    def __init__(self, root):
        self.root = root

    def clear(self):
        """Removes the output of earlier versions of this script."""
        for folder, _, files in os.walk(self.root):
            for name in files:
                if re.fullmatch("[0-9a-f]{16}", name):
                    os.remove(os.path.join(folder, name))

    def add(self, target, content):
        if len(content) > LARGEST:
            return
        folder = os.path.join(self.root, target)
        os.makedirs(folder, exist_ok=True)
        name = hashlib.sha256(content).hexdigest()[:16]
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


def recorded_trials():
    """Returns for each trial its files by name."""
    trials = {}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            match = RECORD.match(member.name.removeprefix("./"))
            if match and member.isfile() and member.size <= LARGEST:
                trials.setdefault(match[1], {})[match[2]] = archive.extractfile(member).read()
    return trials


def records(events):
    while len(events) >= 16:
        length = struct.unpack_from("<Q", events)[0]
        if length > len(events) - 16:
            return
        yield events[12 : 12 + length]
        events = events[16 + length :]


def end_of_records(events, most):
    """Where the last record ends that does so before `most`."""
    end = 0
    for payload in records(events):
        if end + len(payload) + 16 > most:
            break
        end += len(payload) + 16
    return end


def from_trials(seeds):
    # The actions of trial.cpp by its second byte: checks, queries, reading, rules, and each of its 29 command lines.
    works = itertools.cycle([0, 10, 30, *range(40, 46), *range(87, 116)])
    flags = itertools.cycle([1, 0, 2, 1])
    few = {}
    for trial, files in sorted(recorded_trials().items()):
        kept = []
        size = 2
        for name, content in sorted(files.items()):
            kind = name.split("/")[0]
            # A few files of each kind are enough for valid trials.
            few[trial, kind] = few.get((trial, kind), 0) + 1
            if few[trial, kind] <= (1 if trial.startswith("rules/") else 2):
                if kind == "index":
                    seeds.add("index", content)
                elif kind == "collections":
                    seeds.add("collections", content)
                elif kind == "events":
                    if len(content) <= 4096:
                        seeds.add("framing", content)
                    for payload in itertools.islice(records(content), 2):
                        if len(payload) <= 2048:
                            seeds.add("event", b"\x20" + payload)
            if size + len(content) <= LARGEST - 1000:
                kept.append(name.encode() + b"\n" + content)
                size += len(kept[-1]) + len(SEPARATOR)
        if kept:
            seeds.add("trial", bytes([next(flags), next(works)]) + SEPARATOR.join(kept))


def from_logs(seeds):
    for name in ("mixed_values", "pt_add_tensor", "pt_media", "pt_histograms", "pt_hparams/1700000003.25", "odd_tags"):
        for file in sorted(os.listdir(os.path.join(LOGS, name))):
            with open(os.path.join(LOGS, name, file), "rb") as log:
                small = (payload for payload in records(log.read()) if len(payload) <= 1024)
                for payload in itertools.islice(small, 40):
                    seeds.add("summary", b"\x20" + payload)


def from_whole_logs(seeds):
    """The first events of each file; the fuzz target has names of its own, those of runs below are its fifth and sixth."""
    cut = itertools.cycle([0, 0x4000, 0x8000, 0xc000, 0xffff])
    for name in ("restart_plain", "restart_purge", "ranks_two", "same_step", "mixed_values", "odd_steps", "pt_histograms",
                 "pt_media", "keras_overfit", "pt_add_scalars", "garbage", "bad_length", "bad_payload", "short_tail",
                 "zero_tail", "sick"):
        pieces = []
        for folder, _, files in sorted(os.walk(os.path.join(LOGS, name))):
            for file in sorted(files)[:4]:
                with open(os.path.join(folder, file), "rb") as log:
                    content = log.read()
                below = folder != os.path.join(LOGS, name)
                number = 4 + len(pieces) % 2 if below else len(pieces)
                if not name.startswith(("bad", "short", "zero", "garbage")):
                    content = content[:end_of_records(content, 2500)]
                pieces.append(bytes([number]) + struct.pack("<H", next(cut)) + content)
        for flags in (0, 1):
            seeds.add("logs", bytes([flags]) + SEPARATOR.join(pieces))


def from_metric_logs(seeds):
    """Run files of W&B, CSV and JSON lines, cut in the middle; the bit 4 of the flags repairs checksums."""
    for place, _, files in os.walk(METRIC_LOGS):
        for file in files:
            form = {".wandb": 0, ".csv": 1, ".txt": 1, ".jsonl": 2, ".json": 3}.get(os.path.splitext(file)[1])
            if form is None or "expected" in file or place.endswith("lines"):
                continue
            with open(os.path.join(place, file), "rb") as log:
                content = log.read()
            if len(content) < 20000:
                seeds.add("metric_logs", bytes([form | 4, 0, 128]) + content)


def from_checkpoints(seeds):
    """Adds each safetensors file, each index of shards and each trainer state."""
    for folder, _, files in sorted(os.walk(CHECKPOINTS)):
        for file in sorted(files):
            if file.endswith((".safetensors", ".index.json")) or file == "trainer_state.json":
                with open(os.path.join(folder, file), "rb") as content:
                    seeds.add("safetensors", content.read())


def from_distributed(seeds):
    """Each checkpoint of torch.distributed.checkpoint, with the files of chunks that the target knows."""
    for folder, _, files in sorted(os.walk(PYTORCH)):
        if ".metadata" in files:
            pieces = []
            for name in (".metadata", "__0_0.distcp", "__1_0.distcp"):
                path = pathlib.Path(folder, name)
                pieces.append(path.read_bytes() if path.exists() else b"")
            seeds.add("distributed", SEPARATOR.join(pieces))


def from_pytorch(seeds):
    """Adds each small file of PyTorch, and the pickles in archives."""
    for folder, _, files in sorted(os.walk(PYTORCH)):
        for file in sorted(files):
            path = os.path.join(folder, file)
            if not file.endswith((".pt", ".pth", ".bin", ".ckpt", ".distcp", ".metadata")) or os.path.getsize(path) > 20000:
                continue
            with open(path, "rb") as file:
                content = file.read()
            seeds.add("torch_file", content)
            seeds.add("archive" if content.startswith(b"PK") else "pickle", content)
            try:
                with zipfile.ZipFile(path) as archive:
                    for name in archive.namelist():
                        if name.endswith("/data.pkl") and archive.getinfo(name).file_size < 20000:
                            seeds.add("pickle", archive.read(name))
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError):
                pass  # damaged, as it should be


def from_command_tests(seeds):
    with open(os.path.join(HERE, "..", "..", "cmake", "SmdCommands.cmake"), encoding="utf-8") as file:
        commands = ["smd-" + name for name in re.search(r"set\(SMD_COMMANDS (.*)\)", file.read())[1].split()]
    root = os.path.join(HERE, "..", "cli")
    for folder, _, files in sorted(os.walk(root)):
        if "cmd" not in files:
            continue
        with open(os.path.join(folder, "cmd"), encoding="utf-8") as file:
            for line in file:
                match = re.match(r"run (smd-[a-z]+)\s+(.*)", line)
                if match and match[1] in commands:
                    try:
                        words = shlex.split(match[2])
                    except ValueError:  # goes on in the next line
                        continue
                    seeds.add("command_line", bytes([commands.index(match[1])]) + "\n".join(words).encode())


SPECS = [
    ["first", "last", "all", ":", "0", "-1", "5:10", "::2", "-3:", "1,5,last", "10:0:-2", ":-1", "7:", "-5:-2", "first,3:9:3"],
    ["0", "...", "1:8:2", "::-1", "-1", "0,...,1", ":,0", "..., ::2", "2:1", "-9:9:3"],
    ["mean", "abs_l2", "p99.9", "median", "nan_fraction", "l1_norm", "min,max , abs_mean", "saved", "p101", "p1e-5"],
    ["c", "cs- 0 0", "c 0 1"],
    ["10", "4:-1:1", "1:0:0", "3:1e308:inf", "TRAIN", "global", "16777216:0:1"],
]
PATTERNS = ["a.*b\nxaab", "(a+)+$\n" + "a" * 30 + "b", "(?i)Loss\nmy_loss", r"\d{2,3}\b" + "\n12 x", "[[:alpha:]]\n:]",
            "(?P<n>x)(?P=n)\nxx", r"^gradient/(?!bias)" + "\ngradient/w", "\\Z\n", "(\nx", r"\u00e9|\x41" + "\né",
            "(?:relu|tanh)_output\nrelu_output", "[^-a\\]]\n]", "a{1,70000}\na", "(?<=a)b\nab", "x*+\nxx", "(?s:.)\n\n"]
HOOKS = [
    '{"LocalPath": "/tmp/t", "HookParameters": {"save_interval": "10", "include_regex": "relu,tanh", "train.save_interval": "5"},'
    ' "CollectionConfigurations": [{"CollectionName": "weights", "CollectionParameters": {"reductions": "min,abs_mean", "save_raw_tensor": "True"}}]}',
    '{"DebugHookConfig": {"S3OutputPath": "s3://b/p", "CollectionConfigurations": [{"CollectionName": "all"}]},'
    ' "TensorBoardOutputConfig": {"LocalPath": "/tb"}}',
    '{"CollectionConfigurations": [{"CollectionName": "mine", "CollectionParameters": {"include_regex": "(", "eval.end_step": 9}}]}',
    '{"HookParameters": {"save_steps": "1,2,30", "save_all": true, "export_tensorboard": "true", "num_workers": 2}}',
]
RULES = [
    '{"RuleConfigurationName": "v", "RuleParameters": {"rule_to_invoke": "VanishingGradient", "threshold": "1e-7"}}',
    '[{"RuleConfigurationName": "a", "RuleParameters": {"rule_to_invoke": "Threshold", "tensor_regex": ".*", "percentile": "50"}},'
    ' {"RuleParameters": {"rule_to_invoke": "nope"}}, {"RuleConfigurationName": 1}]',
    '{"DebugRuleConfigurations": [{"RuleConfigurationName": "x", "RuleEvaluatorImage": "i", "RuleParameters":'
    ' {"rule_to_invoke": "LossNotDecreasing", "num_steps": "3", "start_step": "0", "end_step": "None", "action_json": "{}"}}]}',
    '{"DebugRuleConfiguration": {"a": {"RuleParameters": {"source_s3_uri": "s3://x/y.py", "rule_to_invoke": "Mine"}}}}',
]
LISTINGS = [
    '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>'
    '<Prefix>run/</Prefix><KeyCount>2</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>true</IsTruncated><EncodingType>url</EncodingType>'
    '<NextContinuationToken>a+/=</NextContinuationToken><Contents><Key>run/index/0/a%20b.json</Key><ETag>&quot;0123&quot;</ETag>'
    '<Size>12</Size></Contents><CommonPrefixes><Prefix>run/x/</Prefix></CommonPrefixes></ListBucketResult>',
    '<Error><Code>SlowDown</Code><Message>Please &lt;slow&gt; &#100;own</Message><RequestId>4</RequestId><Region>eu-west-1</Region></Error>',
    '<!DOCTYPE a [<!ENTITY b "c">]><ListBucketResult>&b;</ListBucketResult>',
    '<ListBucketResult><IsTruncated>false</IsTruncated><!-- no --><Contents><Key><![CDATA[a]]></Key></Contents></ListBucketResult>',
]


def npy(header, content=b"", version=1):
    text = header.encode()
    size = struct.pack("<H" if version == 1 else "<I", len(text) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + b"\n" + content


def arrays(seeds):
    files = [
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", struct.pack("<6f", *range(6))),
        npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }", struct.pack(">4h", 1, 2, 3, -4)),
        npy("{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }", "ab\0xyz".encode("utf-32-le"), 3),
        npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", b"\1", 2),
        npy("{'descr': '<c16', 'fortran_order': False, 'shape': (0, 4), }"),
    ]
    for file in files:
        seeds.add("npy", b"\0" + file)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", method) as out:
            for i, file in enumerate(files[:3]):
                out.writestr(zipfile.ZipInfo(f"a{i}.npy"), file, method)
        seeds.add("npy", b"\1" + archive.getvalue())
    for dtype in range(15):
        seeds.add("npy", bytes([2, dtype, 2, 2, 3]) + bytes(range(100)))
    special = struct.pack("<8f", 0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1e-45, 3.4e38, -1.5)
    doubles = struct.pack("<6d", 1e308, 1e308, -1e308, 5e-324, 2.0**53 + 2, -0.1)
    for dtype in range(15):
        for repeat in range(4):
            for content in (special, doubles, bytes(range(0, 256, 3))):
                if repeat in (0, dtype % 3 + 1):
                    seeds.add("reductions", bytes([dtype, 90, repeat]) + content)
    for flags in range(8):
        calls = bytes([3, 4]) + b"loss" + bytes([flags, 1, 3]) + bytes(range(12)) + bytes([0, 1, 2, 3, 5])
        seeds.add("hook_round_trip", bytes([flags]) + calls + b"w/\xc3\xa9s" + bytes([1, 2, 2, 1]) + bytes(range(40)))


def compressed(seeds):
    text = b"a record, and another record, and more of it " * 40
    for content in (b"", b"x", text, bytes(range(256)) * 8):
        seeds.add("inflate", gzip.compress(content, 9, mtime=0))
        seeds.add("inflate", zlib.compress(content, 0))
        seeds.add("inflate", gzip.compress(content, 1, mtime=0) + gzip.compress(b"second", mtime=0))


def main():
    seeds = Seeds(sys.argv[1])
    seeds.clear()
    from_trials(seeds)
    from_logs(seeds)
    from_whole_logs(seeds)
    from_metric_logs(seeds)
    from_checkpoints(seeds)
    from_pytorch(seeds)
    from_distributed(seeds)
    from_command_tests(seeds)
    for kind, texts in enumerate(SPECS):
        for text in texts:
            lead = {0: b"\x03" + b"\1\0\0\0\0\0\0\0\5\2\0\0\0\0\0\0\0", 1: b"\x03\2\3\4"}.get(kind, b"")
            seeds.add("specs", bytes([kind]) + lead + text.encode())
    for text in PATTERNS:
        seeds.add("patterns", text.encode())
    for text in HOOKS:
        seeds.add("hook_config", b"\0" + text.encode())
        seeds.add("hook_config", b"\1" + text.encode())
    for text in RULES:
        seeds.add("rule_config", text.encode())
    for text in LISTINGS:
        seeds.add("s3_listing", text.encode())
    arrays(seeds)
    compressed(seeds)


main()
