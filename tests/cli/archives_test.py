#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What -f npz and -f npy write of tensors with harmful names or texts, and what smd-save takes of harmful archives.

    archives_test.py --tools DIR... [TEST...]
"""

import argparse
import io
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import zipfile

environment = {}

# For each array its member, derived by hand from the rule in smd-tensor(1).
MEMBERS = {
    "layer1/conv/weight:0": "layer1/conv/weight:0",
    "gradient/fc.bias": "gradient/fc.bias",
    "../../etc/x": "%2E%2E/%2E%2E/etc/x",
    "/abs/x": "%2Fabs/x",
    "a//b": "a/%2Fb",
    "a/./..": "a/%2E/%2E%2E",
    "...": "...",
    "": "",
    "..\\up": "..%5Cup",
    "C:/x": "C%3A/x",
    "c:x": "c%3Ax",
    "con/a": "%63on/a",
    "x/Nul.weight": "x/%4Eul.weight",
    "console": "console",
    "dir. /x": "dir.%20/x",
    "100%": "100%25",
    "%2E%2E": "%252E%252E",
    "a*b?": "a%2Ab%3F",
    "a\nb\x7f": "a%0Ab%7F",
    "\u0085": "%C2%85",
    "\u00e9/\u5c42:0": "\u00e9/\u5c42:0",
}


def run(*command, stdin=b""):
    return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                          timeout=240, check=False)


def npy(elements, descr, shape):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + elements


def archive(members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, content in members:
            file.writestr(name, content)
    return bytearray(out.getvalue())


def directory_entries(data):
    """Returns the offset of each entry of the directory."""
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        yield at
        at = data.find(b"PK\x01\x02", at + 46)


class Archives(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="smd-archives-")
        self.trial = os.path.join(self.folder, "trial")
        self.out = os.path.join(self.folder, "out")

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def save(self, values):
        """Saves tensors by name; texts become string tensors."""
        lines = "".join(json.dumps({"step": 0, "tensor": name, "value": value,
                                    **({"dtype": "string"} if isinstance(value, list) else {})}) + "\n"
                        for name, value in values)
        done = run("smd-save", "--jsonl", self.trial, stdin=lines.encode())
        self.assertEqual(done.returncode, 0, done.stderr)

    def members(self):
        done = run("smd-tensor", "-e", "^", "-f", "npz", "-o", self.out, self.trial)
        self.assertEqual(done.returncode, 0, done.stderr)
        with zipfile.ZipFile(self.out) as file:
            self.assertIsNone(file.testzip())
            return file.namelist(), done.stderr.decode()

    def test_names(self):
        self.save([(name, i) for i, name in enumerate(MEMBERS)])
        members, messages = self.members()
        self.assertEqual(sorted(members), sorted(member + ".npy" for member in MEMBERS.values()))
        self.assertEqual(sorted(urllib.parse.unquote(member[:-4]) for member in members), sorted(MEMBERS))
        changed = sum(name != member for name, member in MEMBERS.items())
        self.assertIn(f"note: -f npz: {changed} keys are percent-encoded, so that NumPy finds them and unpacking does no harm "
                      "('%", messages)

    def test_names_that_differ_in_case(self):
        names = ["Loss", "LOSS", "loss", "lOSS", "w"]
        self.save([(name, i) for i, name in enumerate(names)])
        members, _ = self.members()
        self.assertEqual(len({member.lower() for member in members}), len(names))
        self.assertEqual(sorted(urllib.parse.unquote(member[:-4]) for member in members), sorted(names))
        self.assertIn("LOSS.npy", members)  # the first by name
        self.assertIn("w.npy", members)

    def test_names_that_are_plain_stay(self):
        names = ["layer1/conv/weight:0", "CrossEntropyLoss_output_0", "a-b (c) [d] {e} #1 ~x=1,2;+&'`$!"]
        self.save([(name, i) for i, name in enumerate(names)])
        members, messages = self.members()
        self.assertEqual(sorted(members), sorted(name + ".npy" for name in names))
        self.assertEqual(messages, "")

    def test_text_that_would_be_padded_to_gigabytes(self):
        # 12,001 texts, the longest of 100,000 characters of 4 bytes: 4.8 GB from 160 KB.
        self.save([("labels", ["x" * 100_000] + ["y"] * 12_000), ("few", ["y", "zz"])])
        for options in (["-f", "npy"], ["-f", "npz"], ["-f", "npy", "--stack"], ["-f", "npz", "--stack"]):
            with self.subTest(options):
                done = run("smd-tensor", *options, "-o", self.out, self.trial, "labels")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("12001 texts, each as wide as the longest of 100000 characters, would take more than 64 MiB "
                              "(padded_text_bytes); use -f jsonl", done.stderr.decode())
        done = run("smd-tensor", "-f", "jsonl", self.trial, "labels")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["value"]), 12_001)
        self.assertEqual(run("smd-tensor", "-f", "npy", self.trial, "few").stdout[128:],
                         "y".encode("utf-32-le") + bytes(4) + "zz".encode("utf-32-le"))

    def refused(self, data, text):
        path = os.path.join(self.folder, "a.npz")
        with open(path, "wb") as file:
            file.write(data)
        done = run("smd-save", self.trial, "--step", "0", "n=@" + path)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn(text, done.stderr.decode())
        self.assertFalse(os.path.exists(os.path.join(self.trial, "index")))

    def test_members_that_share_bytes(self):
        data = archive([("a.npy", npy(bytes(800), "<f8", "(100,)")), ("b.npy", npy(bytes(800), "<f8", "(100,)"))])
        first, second = directory_entries(data)
        self.assertEqual(data[first + 42:first + 46], bytes(4))
        shared = bytearray(data)
        shared[second + 42:second + 46] = bytes(4)  # both with the place of the first one
        self.refused(shared, "member 'a.npy' reaches into 'b.npy'")

    def test_a_member_that_reaches_into_the_next(self):
        data = archive([("a.npy", npy(bytes(800), "<f8", "(100,)")), ("b.npy", npy(bytes(800), "<f8", "(100,)"))])
        first, _ = directory_entries(data)
        data[first + 20:first + 28] = struct.pack("<II", 1000, 1000)
        self.refused(data, "member 'a.npy' reaches into 'b.npy'")

    def test_a_member_that_reaches_into_the_directory(self):
        data = archive([("a.npy", npy(bytes(800), "<f8", "(100,)"))])
        first, = directory_entries(data)
        data[first + 20:first + 28] = struct.pack("<II", 940, 940)
        self.refused(data, "member 'a.npy' reaches into the directory")

    def test_members_that_unpack_to_gigabytes(self):
        """Sizes larger than their data, according to the directory; they are not unpacked."""
        data = archive([(f"{i}.npy", npy(bytes(8000), "<f8", "(1000,)")) for i in range(2)], zipfile.ZIP_DEFLATED)
        for entry in directory_entries(data):
            data[entry + 24:entry + 28] = struct.pack("<I", 700 << 20)
        self.refused(data, "its members would be more than 1024 MiB (unpacked_bytes)")

    def test_a_size_that_is_not_true(self):
        data = archive([("a.npy", npy(bytes(8000), "<f8", "(1000,)"))], zipfile.ZIP_DEFLATED)
        first, = directory_entries(data)
        data[first + 24:first + 28] = struct.pack("<I", 700 << 20)
        self.refused(data, f"its header asks for {8000 + 128} bytes in all, and the archive has {700 << 20}")

    def test_sound_archives_are_taken(self):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            path = os.path.join(self.folder, "sound.npz")
            with open(path, "wb") as file:
                file.write(archive([("a.npy", npy(bytes(1 << 20), "<f8", "(131072,)")),
                                    ("b.npy", npy(struct.pack("<d", 2.5), "<f8", "()"))], method))
            done = run("smd-save", self.trial, "--step", str(method), "n=@" + path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(run("smd-tensor", "-s", str(method), "--columns", "value", self.trial, "n/b").stdout, b"2.5\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", action="append", default=[])
    options, names = parser.parse_known_args()
    path = os.pathsep.join([*(os.path.abspath(tool) for tool in options.tools), os.environ["PATH"]])
    environment.update({"PATH": path, "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "TERM": "dumb"})
    unittest.main(argv=[sys.argv[0], *names], verbosity=2)


if __name__ == "__main__":
    main()
