# SPDX-License-Identifier: Apache-2.0
"""What tests of the commands on S3 share: the test server as a child, and the commands run against it. Nothing leaves
this machine."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, "..", "support", "s3_server.py")
KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
OPTIONS = argparse.Namespace(tools=[], trials=".")


class Server:
    def __init__(self, root, *arguments):
        self.folder = tempfile.mkdtemp()
        self.log_file = os.path.join(self.folder, "log")
        self.fault_file = os.path.join(self.folder, "faults")
        self.faults()
        open(self.log_file, "w", encoding="utf-8").close()
        self.process = subprocess.Popen(
            [sys.executable, "-B", SERVER, root, "--log", self.log_file, "--faults", self.fault_file, *arguments],
            stdout=subprocess.PIPE)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self.seen = 0

    def faults(self, *faults):
        with open(self.fault_file + ".new", "w", encoding="utf-8") as file:
            json.dump(faults, file)
        os.rename(self.fault_file + ".new", self.fault_file)

    def log(self):
        """Returns the requests since the last call. Ignores a line that is not complete."""
        with open(self.log_file, "rb") as file:
            file.seek(self.seen)
            lines = file.read()
        lines = lines[:lines.rfind(b"\n") + 1]
        self.seen += len(lines)
        return [json.loads(line) for line in lines.splitlines()]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder)


class Case(unittest.TestCase):
    server_arguments = ()

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.root = os.path.join(self.folder, "root")
        os.mkdir(self.root)
        os.symlink(os.path.abspath(OPTIONS.trials), os.path.join(self.root, "recorded"))
        self.server = Server(self.root, *self.server_arguments)
        self.addCleanup(self.server.close)

    def environment(self, **more):
        path = os.pathsep.join([*map(os.path.abspath, OPTIONS.tools), os.environ["PATH"]])
        return {"PATH": path, "LC_ALL": "C.UTF-8", "HOME": self.folder, "AWS_EC2_METADATA_DISABLED": "true",
                "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL": self.server.url,
                "SMDEBUG_TRAINING_END_DELAY_REFRESH": "0", **more}

    def put(self, source, name):
        """Writes an object, which appears complete, as on S3."""
        target = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, os.path.join(self.folder, "next-object"))
        os.rename(os.path.join(self.folder, "next-object"), target)

    def start_command(self, *command, **more):
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.environment(**more))

    def until(self, process, reached):
        """Waits until `reached` is among the requests since the last call, and returns these."""
        entries = self.server.log()
        while not reached(entries):
            try:
                process.wait(0.01)
            except subprocess.TimeoutExpired:
                entries += self.server.log()
                continue
            self.fail(("ended too early", process.returncode, process.communicate()))
        return entries

    def run_command(self, *command, feed=b"", **more):
        """`feed`: standard input of the command."""
        return subprocess.run(command, input=feed, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment(**more), check=False, timeout=120)


def main(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tools", action="append", default=[], metavar="DIR")
    parser.add_argument("--trials", required=True, metavar="DIR")
    parser.add_argument("--sanitized", action="store_true", help="memory is not measured")
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
