#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small hostile trials: memory is bounded by their size on disk, not by the numbers in them.

    bounds_test.py --tools DIR... [--s3] [TEST...]
"""

import argparse
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
import zipfile

import s3_case

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from event_bytes import field, masked_crc, varint
from limits import under

MIB = 1 << 20
environment = {k: v for k, v in os.environ.items() if k == "LD_LIBRARY_PATH"}
OPTIONS = argparse.Namespace(s3=False)
COLLECTIONS = {"collections": {"all": {"name": "all", "include_regex": [".*"], "tensor_names": []}},
               "_meta": {"num_workers": 1}}


def run(mib, *command, stdin=b"", **more):
    """Runs a command with this many MiB of address space; `more` is added to its environment."""
    done = subprocess.run([*under((resource.RLIMIT_AS, mib * MIB)), *command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment | more, input=stdin, timeout=240, check=False)
    done.stderr = done.stderr.decode()
    done.stdout = done.stdout.decode()
    return done


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def header(payload_bytes):
    head = struct.pack("<Q", payload_bytes)
    return head + struct.pack("<I", masked_crc(head))


def framed(payload, footer=None):
    return header(len(payload)) + payload + struct.pack("<I", masked_crc(payload) if footer is None else footer)


def tensor_payload(step, name, tensor):
    return b"\x10" + varint(step) + field(5, field(1, field(1, name.encode()) + field(8, tensor)))


def repeated_record(step, name, value, elements):
    """Returns a float32 tensor with one float_val for all elements."""
    shape = field(2, b"\x08" + varint(elements))
    tensor = b"\x08\x01" + field(2, shape) + field(5, struct.pack("<f", value))
    return framed(tensor_payload(step, name, tensor))


UNPROTECTED = 0x062DC0B3  # the footer that the reference writes


def content_record(step, name, elements):
    """Returns a float32 tensor with these bytes, whose payload has no checksum."""
    shape = field(2, field(2, b"\x08" + varint(len(elements) // 4)))
    return framed(tensor_payload(step, name, b"\x08\x01" + shape + field(4, elements)), UNPROTECTED)


def content_pieces(step, name, elements, times):
    """Returns the record of `elements * times`, in pieces: as a whole it would take much memory to make."""
    size = len(elements) * times

    def opened(number, inside):
        """The begin of a field, of which `inside` are the bytes up to the elements."""
        return varint(number << 3 | 2) + varint(len(inside) + size) + inside

    shape = field(2, field(2, b"\x08" + varint(size // 4)))
    tensor = b"\x08\x01" + shape + opened(4, b"")
    begin = b"\x10" + varint(step) + opened(5, opened(1, field(1, name.encode()) + opened(8, tensor)))
    return [header(len(begin) + size) + begin, *[elements] * times, struct.pack("<I", UNPROTECTED)]


class Bounds(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="smd-bounds-")
        self.trial = os.path.join(self.folder, "trial")
        self.collections(COLLECTIONS)

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def collections(self, document):
        write(os.path.join(self.trial, "collections/000000000/worker_0_collections.json"),
              json.dumps(document, separators=(",", ":")).encode())

    def index(self, step, payload):
        meta = {"mode": "GLOBAL", "mode_step": step,
                "event_file_name": f"events/{step:012d}/{step:012d}_worker_0.tfevents"}
        text = f'{{"meta": {json.dumps(meta)}, "tensor_payload": [{payload}], "shape_payload": []}}'
        write(os.path.join(self.trial, f"index/000000000/{step:012d}_worker_0.json"), text.encode())

    def end(self):
        """Ends the job, so that unreadable data are damaged instead of not yet available."""
        write(os.path.join(self.trial, "training_job_end.ts"), b"1700000000\n")

    def test_refused_entries_are_counted(self):
        """A million invalid entries: a hundred are described. 2 MB of JSON used to take a gigabyte."""
        self.index(0, "0" + ",0" * 999_999)
        done = run(128, "smd-ls", "--json", self.trial)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("999900 more problems of this kind", done.stderr)

    def test_refused_names_are_counted(self):
        self.collections({"collections": {"c": {"tensor_names": [0] * 500_000}}, "_meta": {"num_workers": 1}})
        self.index(0, "")
        done = run(128, "smd-ls", "--collections", self.trial)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("'tensor_names' holds 500000 entries that are no texts", done.stderr)

    def test_very_many_tensors_and_collections(self):
        """10,000 lines, each with its own tensor and collection, in memory for them."""
        lines = "".join(f'{{"step":0,"tensor":"t{i}","value":1,"collections":["c{i}"]}}\n' for i in range(10_000))
        trial = os.path.join(self.folder, "saved")
        saved = subprocess.run(["smd-save", "--jsonl", trial], input=lines.encode(), env=environment, check=False, timeout=240)
        self.assertEqual(saved.returncode, 0)
        done = run(1024, "smd-ls", "--collections", "--csv", "-H", "--columns", "collection,tensors_saved", trial)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("c9999,1\n", done.stdout)
        self.assertIn("all,10000\n", done.stdout)
        npz = os.path.join(self.folder, "all.npz")
        done = run(1024, "smd-tensor", "-e", ".", "-f", "npz", "--stack", "-o", npz, trial)
        self.assertEqual(done.returncode, 0, done.stderr)
        with zipfile.ZipFile(npz) as archive:
            self.assertEqual(len(archive.namelist()), 20_000)

    def test_links_to_nowhere(self):
        """As many files as a folder holds: each is looked up, not searched for."""
        os.makedirs(os.path.join(self.trial, "index/000000000"))
        for step in range(20_000):
            os.symlink("/nonexistent", os.path.join(self.trial, f"index/000000000/{step:012d}_worker_0.json"))
        done = run(256, "smd-ls", "-q", self.trial)
        self.assertEqual(done.returncode, 4, done.stderr[-300:])

    def test_a_pattern_that_is_slow_from_everywhere(self):
        """Fewer steps than the limit of a name from each of 61,000 places, but 10^9 in total."""
        name = ("a" * 17 + "b") * 3400 + "Q"
        record = repeated_record(0, name, 0.5, 1)
        write(os.path.join(self.trial, "events/000000000000/000000000000_worker_0.tfevents"), record)
        self.index(0, json.dumps({"tensorname": name, "start_idx": 0, "length": len(record)}))
        done = run(256, "smd-ls", "-e", "(?:a|a)+[^b]Q", self.trial)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"pattern '\(\?:a\|a\)\+\[\^b\]Q' needs too many steps on 'a{17}ba.* \(61201 bytes\)'; make it")
        self.assertEqual(run(256, "smd-ls", "-q", "-e", "[ab]+bQ$", self.trial).returncode, 0)

    def test_many_slow_patterns_of_a_trial(self):
        """2,000 patterns, each with nearly as many steps as a name may take: all together were 10^9, and half a minute."""
        write(os.path.join(self.trial, "collections/000000000/worker_0_collections.json"), json.dumps(
            {"collections": {"c": {"tensor_names": ["loss"],
                                   "include_regex": [f"^(?:a|a)+[^b]{i}" for i in range(2000)]}}}).encode())
        payload = ",".join(json.dumps({"tensorname": name, "start_idx": 0, "length": 16})
                           for name in ("loss", "a" * 17 + "b0123456789"))
        self.index(0, payload)
        begun = os.times()
        done = run(256, "smd-ls", "-c", "c", self.trial)
        ended = os.times()
        self.assertEqual((done.returncode, done.stdout), (4, "loss\n"), done.stderr)
        self.assertRegex(done.stderr, r"collection 'c': pattern '\^\(\?:a\|a\)\+\[\^b\]\d+' and \d+ more were not looked for: the "
                                      r"patterns of the trial's collections need too many steps together "
                                      r"\(pattern_trial_steps\); its members by name are still used")
        self.assertLess(ended.children_user - begun.children_user, 10)

    def test_archive_members_that_inflate_to_more_than_their_header_asks_for(self):
        """400 MB of zeros in 400 KB: what is no array, or a small one, is refused before they are there."""
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10,), }"
        header += b" " * (117 - len(header)) + b"\n"
        small = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
        place = os.path.join(self.folder, "zeros.npz")
        zeros = bytes(MIB)
        for start, text in ((b"", "not a .npy file"), (small, f"its header asks for {128 + 80} bytes in all")):
            with self.subTest(text):
                with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.npy", "w") as member:
                    member.write(start)
                    for _ in range(400):
                        member.write(zeros)
                done = run(256, "smd-save", self.trial, "--step", "9", "n=@" + place)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn(text, done.stderr)

    def repeated(self, steps, tensors):
        """64 MiB of elements for each record of 70 bytes."""
        for step in range(steps):
            content = b""
            payload = []
            for i in range(tensors):
                record = repeated_record(step, f"w{i}", 0.5, 1 << 24)
                payload.append(json.dumps({"tensorname": f"w{i}", "start_idx": len(content), "length": len(record)}))
                content += record
            write(os.path.join(self.trial, f"events/{step:012d}/{step:012d}_worker_0.tfevents"), content)
            self.index(step, ",".join(payload))

    def test_repeated_elements_are_reduced_at_once(self):
        self.repeated(1, 200)
        done = run(256, "smd-reduce", "-j2", "-r", "count,mean,std,sum", "--csv", "--columns", "count,mean,std,sum", "-H",
                   self.trial)
        self.assertEqual(done.returncode, 0, done.stderr)
        # 2^24 elements of 0.5: the sum is 2^23.
        self.assertEqual(set(done.stdout.split()), {"16777216,0.5,0,8388608"})
        self.assertEqual(len(done.stdout.split()), 200)

    def test_repeated_elements_are_looked_at_in_little_memory(self):
        """2.5 GiB of elements in 400 MiB of memory."""
        self.repeated(1, 40)
        for command in (["smd-ls", "--check"], ["smd-ls", "-l"], ["smd-rule", "-r", "ExplodingTensor"]):
            with self.subTest(command):
                done = run(400, *command, self.trial)
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_repeated_elements_are_printed_one_value_at_a_time(self):
        self.repeated(1, 4)
        done = run(400, "smd-tensor", "-j2", "-f", "raw", "-o", "/dev/null", self.trial, "w0")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_rules_that_hold_values_say_what_they_cannot_hold(self):
        """600 values of 64 MiB: a rule that needs three of each reports it, and does not run out of memory."""
        self.repeated(3, 200)
        done = run(1024, "smd-rule", "-j2", "-r", "UnchangedTensor", "-p", "tensor_regex=w", "--json", self.trial)
        self.assertIn(done.returncode, (1, 4), done.stderr)
        self.assertIn("repeated from a few that are stored", done.stdout + done.stderr)


    def message_lines(self, done, status):
        self.assertEqual(done.returncode, status, done.stderr[-500:])
        self.assertTrue(done.stderr)
        for line in done.stderr.splitlines():
            self.assertLess(len(line), 2000)

    def test_deep_json(self):
        """Nested 100,000 levels deep, in JSON of every origin: a message, and no stack overflow."""
        deep = "[" * 100_000 + "]" * 100_000
        config = os.path.join(self.folder, "config.json")
        for document in (deep, '{"RuleConfigurationName":"a","RuleParameters":{"rule_to_invoke":"AllZero","x":%s}}' % deep,
                         '{"RuleConfigurationName":"a","RuleParameters":{"x":%s}}' % deep.replace("[", '{"x":').replace("]", "}")):
            write(config, document.encode())
            for command in (["smd-rule", "--check-config", "-C", config], ["smd-rule", "--hook-config", "-C", config],
                            ["smd-save", "--config", config, "--step", "1", self.trial + "-new", "x=1"]):
                with self.subTest(command[:2]):
                    self.message_lines(run(256, *command), 2)
        for value in (deep, f"[1,{deep}]", f'{{"x":{deep}}}'):
            line = f'{{"step":0,"tensor":"x","value":{value}}}\n'
            self.message_lines(run(256, "smd-save", "--jsonl", self.trial + "-new", stdin=line.encode()), 4)
        self.index(0, deep)
        self.end()
        self.message_lines(run(256, "smd-ls", self.trial), 4)
        write(os.path.join(self.trial, "collections/000000000/worker_0_collections.json"), deep.encode())
        self.message_lines(run(256, "smd-ls", self.trial), 4)

    def test_messages_quote_a_line(self):
        """A name, value, pattern or key of a megabyte is quoted by its beginning and its length."""
        long = "n" * 1_000_000
        record = content_record(0, "w", bytes(4))
        self.compressed([record], [("w", 0, len(record))])
        config = os.path.join(self.folder, "config.json")
        for parameters in ({"rule_to_invoke": long}, {"rule_to_invoke": "AllZero", "x": [long, 1]}, {long: "1"},
                           {"rule_to_invoke": "AllZero", "tensor_regex": {"a": [long]}},
                           {"rule_to_invoke": "ExplodingTensor", "only_nan": long}, {"rule_to_invoke": "AllZero", long: "1"}):
            with self.subTest(str(parameters)[:40]):
                write(config, json.dumps({"RuleConfigurationName": long, "RuleParameters": parameters}).encode())
                self.message_lines(run(256, "smd-rule", "--check-config", "-C", config), 2)
        for hook in ({long: 1}, {"HookParameters": {"save_interval": long}}, {"HookParameters": {"save_interval": [1] * 100_000}},
                     {"HookParameters": {"reductions": long}}, {"HookParameters": {"include_workers": long}}):
            with self.subTest(str(hook)[:40]):
                write(config, json.dumps(hook).encode())
                self.message_lines(run(256, "smd-save", "--config", config, "--step", "1", self.trial + "-new", "x=1"), 2)
        for line in ({"value": [[1], long]}, {"value": long}, {"value": 1, "dtype": long}, {"value": 1, "mode": long},
                     {"value": "\U0001F600" * 100_000, "dtype": "int8"}):
            with self.subTest(str(line)[:40]):
                text = json.dumps({"step": 0, "tensor": "x", **line}).encode()
                self.message_lines(run(256, "smd-save", "--jsonl", self.trial + "-new", stdin=text), 4)
        name = "n" * 120_000  # the maximum for one word of a command line
        for command, status in ((["smd-tensor", self.trial, name], 1), (["smd-ls", "-n", name, self.trial], 1),
                                (["smd-ls", "-e", "(" + name, self.trial], 2), (["smd-ls", "-s", name, self.trial], 2),
                                (["smd-rule", "-r", name, self.trial], 2), (["smd-reduce", "-r", name, self.trial], 2),
                                (["smd-save", self.trial, name], 2), (["smd-ls", "--" + name, self.trial], 2)):
            with self.subTest(command[:2]):
                self.message_lines(run(256, *command), status)
        self.collections({"collections": {"k" * 65_000: {"tensor_names": 1}, "m" * 1_000_000: 0}})
        meta = {"mode": "GLOBAL", "mode_step": 0, "event_file_name": "events/" + long}
        entry = {"tensorname": "n" * 60_000, "start_idx": -1, "length": 1}
        index = {"meta": meta, "tensor_payload": [entry, {**entry, "start_idx": 0}], "shape_payload": []}
        write(os.path.join(self.trial, "index/000000000/000000000000_worker_0.json"), json.dumps(index).encode())
        for command in (["smd-ls", "--check"], ["smd-tensor", "-e", "n"]):
            done = run(256, *command, self.trial)
            self.assertEqual(done.returncode, 4, done.stderr[-300:])
            for line in done.stderr.splitlines():
                self.assertLess(len(line), 6000)  # a path is quoted in full up to PATH_MAX

    def test_a_collections_file_of_brackets(self):
        """15 MB of [] instead of names: counted, not kept."""
        text = '{"collections":{"c":{"tensor_names":[' + "[]," * 5_000_000 + '"x"]}},"_meta":{"num_workers":1}}'
        write(os.path.join(self.trial, "collections/000000000/worker_0_collections.json"), text.encode())
        self.index(0, "")
        done = run(128, "smd-ls", "--collections", self.trial)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("'tensor_names' holds 5000000 entries that are no texts", done.stderr)
        self.assertIn("\n" + "c", done.stdout)

    def compressed(self, content, entries):
        """Makes step 0 with a compressed event file and these (name, start, length) in its index file."""
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        data = b"".join(packer.compress(piece) for piece in content) + packer.flush()
        write(os.path.join(self.trial, "events/000000000000/000000000000_worker_0.tfevents"), data)
        self.index(0, ",".join(json.dumps({"tensorname": name, "start_idx": start, "length": length})
                               for name, start, length in entries))
        return len(data)

    def test_a_compressed_range_that_is_no_record(self):
        """1 MB that inflates to a gigabyte, which the index file declares to be one record."""
        record = content_record(0, "w", bytes(4000))
        pieces = [record, *[bytes(MIB)] * 1024]
        self.assertLess(self.compressed(pieces, [("w", 0, 1 << 30)]), 2 * MIB)
        for command in (["smd-tensor"], ["smd-reduce", "-r", "mean"], ["smd-ls", "--check"]):
            with self.subTest(command):
                done = run(128, *command, self.trial)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn("does not fill its range of 1073741824", done.stderr + done.stdout)

    def test_compressed_records_at_descending_offsets(self):
        """Each is found from a restart place near it: 400 of them cost less than ten from the start."""
        record = content_record(0, "w", bytes(4000))
        pieces = 400
        gap = bytes(2 * MIB)
        entries = [(f"w{i}", (pieces - 1 - i) * (len(record) + len(gap)), len(record)) for i in range(pieces)]
        entries = [("w" if i == pieces - 1 else name, start, length) for i, (name, start, length) in enumerate(entries)]
        self.compressed((part for _ in range(pieces) for part in (record, gap)), entries)
        done = run(128, "smd-tensor", "--stat", "--csv", self.trial, "w")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(128, "smd-reduce", "-r", "sum", "--csv", self.trial)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("record holds tensor 'w', not 'w", done.stderr)

    def test_a_large_compressed_tensor_is_streamed(self):
        """64 MiB of float32 that a reduction never holds at once; 2^24 times 0.5 is 2^23."""
        pieces = content_pieces(0, "w", struct.pack("<f", 0.5) * (1 << 18), 64)
        self.compressed(pieces, [("w", 0, sum(map(len, pieces)))])
        done = run(96, "smd-reduce", "-j1", "-r", "count,mean,sum", "--csv", "--columns", "count,mean,sum", "-H", self.trial)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "16777216,0.5,8388608"), done.stderr)

    def test_a_large_array_is_saved_in_pieces(self):
        """128 MiB of float32 that smd-save never holds; 2^25 times 0.5 is 2^24. Nothing is left of a file that ends."""
        array = os.path.join(self.folder, "w.npy")
        shape = b"{'descr': '<f4', 'fortran_order': False, 'shape': (33554432,), }"
        with open(array, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + shape.ljust(117) + b"\n")
            file.writelines([struct.pack("<f", 0.5) * (1 << 18)] * 128)
        saved = os.path.join(self.folder, "saved")
        done = run(96, "smd-save", saved, "--step", "0", "w=@" + array)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = run(96, "smd-reduce", "-j1", "-r", "count,sum", "--csv", "--columns", "count,sum", "-H", saved)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "33554432,16777216"), done.stderr)

    def test_endless_index_objects(self):
        """Four endless objects, requested at once: together they use the memory of one."""
        if not OPTIONS.s3:
            self.skipTest("built without S3")
        root = os.path.join(self.folder, "root")
        for step in range(4):
            self.index(step, "")
        self.end()
        os.makedirs(root)
        os.rename(self.trial, os.path.join(root, "bucket"))
        server = s3_case.Server(root)
        self.addCleanup(server.close)
        server.faults({"match": "GET .*index/.*json", "act": "no-length", "endless": "body", "times": -1})
        done = run(900, "smd-ls", "-j8", "s3://bucket", AWS_ACCESS_KEY_ID=s3_case.KEY, AWS_SECRET_ACCESS_KEY=s3_case.SECRET,
                   AWS_ENDPOINT_URL=server.url, AWS_EC2_METADATA_DISABLED="true")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(done.stderr.count("is longer than 268435456 bytes"), 4, done.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", action="append", default=[])
    parser.add_argument("--s3", action="store_true", help="the commands read S3")
    options, names = parser.parse_known_args(namespace=OPTIONS)
    path = os.pathsep.join([*(os.path.abspath(tool) for tool in options.tools), os.environ["PATH"]])
    environment.update({"PATH": path, "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "TERM": "dumb"})
    unittest.main(argv=[sys.argv[0], *names], verbosity=2)


if __name__ == "__main__":
    main()
