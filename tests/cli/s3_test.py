#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""s3_test.py --tools DIR... --trials DIR: the commands on trials at s3://, served by tests/support/s3_server.py. Every
recorded trial gives the same answers as from disk; how many requests that takes; what is said of failures; following.
Nothing leaves this machine."""

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
OPTIONS = None
# On S3 there are no links, directories or empty folders: what these trials are about cannot be there.
ONLY_ON_DISK = {"end_is_directory", "index_event_name_directory", "event_dir_missing", "index_dir_missing"}


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
        """What was asked for since the last call."""
        with open(self.log_file, encoding="utf-8") as file:
            entries = [json.loads(line) for line in file]
        new, self.seen = entries[self.seen:], len(entries)
        return new

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

    def run_command(self, *command, **more):
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment(**more), check=False, timeout=120)


class SameAnswers(Case):
    COMMANDS = [("smd-ls", "--summary", "--json"), ("smd-ls", "--long", "--incomplete", "--jsonl"),
                ("smd-ls", "--steps", "--incomplete", "--jsonl"), ("smd-ls", "--locations", "--incomplete", "--jsonl"),
                ("smd-tensor", "-s", ":", "-w", "all", "--incomplete", "--jsonl")]

    def compare(self, name, command):
        disk, store = os.path.join(self.root, "recorded", name), "s3://recorded/" + name
        here, there = self.run_command(*command, disk), self.run_command(*command, store)
        self.assertEqual(there.returncode, here.returncode, (name, command, there.stderr))
        self.assertEqual(there.stdout.replace(store.encode(), b"TRIAL"), here.stdout.replace(disk.encode(), b"TRIAL"),
                         (name, command))
        return here.stdout

    def test_recorded_trials(self):
        suffix = ".expected.json"
        names = sorted(name[:-len(suffix)] for name in os.listdir(OPTIONS.trials) if name.endswith(suffix))
        self.assertEqual(len(names), 41)
        output = 0
        for name in names:
            for command in self.COMMANDS:
                output += len(self.compare(name, command))
        self.assertGreater(output, 1_000_000)

    def test_broken_trials(self):
        names = sorted(name for name in os.listdir(os.path.join(OPTIONS.trials, "broken"))
                       if os.path.isdir(os.path.join(OPTIONS.trials, "broken", name)))
        self.assertGreater(len(names), 130)
        for name in names:
            if name not in ONLY_ON_DISK:
                self.compare("broken/" + name, ("smd-tensor", "-s", ":", "--incomplete", "--jsonl"))

    def test_find(self):
        found = self.run_command("smd-ls", "--find", "s3://recorded/")
        self.assertEqual(found.returncode, 0)
        expected = self.run_command("smd-ls", "--find", os.path.join(self.root, "recorded") + "/").stdout
        self.assertEqual(found.stdout.replace(b"s3://recorded", b""),
                         expected.replace(os.path.join(self.root, "recorded").encode(), b""))


class Requests(Case):
    def test_one_value(self):
        self.run_command("smd-ls", "s3://recorded/dtypes")
        tensor = self.run_command("smd-ls", "s3://recorded/dtypes").stdout.decode().splitlines()[0]
        self.server.log()
        done = self.run_command("smd-tensor", "-s", "last", "s3://recorded/dtypes", tensor)
        self.assertEqual(done.returncode, 0, done.stderr)
        asked = [entry["method"] + " " + entry["target"].split("?")[0].split("/")[-1][-20:] + " " +
                 ("list" if "list-type" in entry["target"] else "get") for entry in self.server.log()]
        # The root, index/ and collections/ are listed; one collections file, one index file, one record.
        self.assertEqual([entry.split(" ")[-1] for entry in asked].count("list"), 3, asked)
        self.assertEqual([entry.split(" ")[-1] for entry in asked].count("get"), 3, asked)

    def test_parallel(self):
        for jobs in ("1", "64"):
            done = self.run_command("smd-tensor", "-j", jobs, "-s", ":", "--jsonl", "s3://recorded/dtypes")
            self.assertEqual(done.returncode, 0, done.stderr)


class Failures(Case):
    TRIAL = "s3://recorded/dtypes"

    def check(self, text, status=3, *options, **environment):
        for verbosity in ((), ("-vv",)):
            done = self.run_command("smd-ls", *verbosity, *options, self.TRIAL, **environment)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(text.encode(), done.stderr)
            self.assertNotIn(SECRET.encode(), done.stderr + done.stdout)
            self.assertNotIn(b"SESSION-TOKEN", done.stderr + done.stdout)
            self.assertEqual(done.stdout, b"")
        return done.stderr

    def fault(self, **fault):
        self.server.faults({"times": -1, **fault})

    def test_messages(self):
        done = self.run_command("smd-ls", "s3://no-such-bucket/x")
        self.assertEqual((done.returncode, b"there is no bucket 'no-such-bucket'" in done.stderr), (3, True))
        done = self.run_command("smd-ls", "s3://recorded/nothing/here")
        self.assertEqual((done.returncode, b"NotFound" in done.stderr), (3, True), done.stderr)
        self.check("AccessDenied: " + self.TRIAL + ": the secret key of the environment does not belong",
                   AWS_SECRET_ACCESS_KEY="x" * 40)
        self.check("the access key of the environment is not known", AWS_ACCESS_KEY_ID="AKIDOTHER")
        self.check("access is denied to unsigned requests", 3, "--no-sign-request")
        self.check("no AWS credentials", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
        self.check("there is no profile 'nobody'", 3, "--profile", "nobody")
        self.fault(act="error", status=403, code="AccessDenied", text="Access Denied")
        self.check("AccessDenied: " + self.TRIAL + ": access is denied to the credentials of the environment")
        self.fault(act="error", status=400, code="ExpiredToken", text="The provided token has expired.")
        self.check("have expired; get new ones", AWS_SESSION_TOKEN="SESSION-TOKEN")
        self.fault(act="error", status=301, code="PermanentRedirect", text="x")
        self.check("the bucket is in another region than 'us-east-1'")
        self.fault(act="error", status=503, code="SlowDown")
        said = self.check("Network: " + self.TRIAL + ": the server asks for fewer requests")
        self.assertIn(b"503 SlowDown; attempt 3 of 3", said)
        self.fault(act="bad-xml", match="list-type")
        self.check("Network: ")

    def test_one_bad_object_costs_itself(self):
        self.server.faults({"act": "error", "status": 403, "code": "AccessDenied", "match": "/events/", "times": 1})
        done = self.run_command("smd-tensor", "-s", ":", "--jsonl", "-j", "1", self.TRIAL)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"AccessDenied", done.stderr)
        self.assertGreater(len(done.stdout), 0)

    def test_flipped_bits_are_damage(self):
        self.fault(act="flip", match="/index/")
        done = self.run_command("smd-ls", self.TRIAL)
        self.assertIn(done.returncode, (1, 4), done.stderr)

    def test_tls(self):
        certificate, key = os.path.join(self.folder, "cert.pem"), os.path.join(self.folder, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, stderr=subprocess.DEVNULL)
        server = Server(self.root, "--tls", certificate, key)
        self.addCleanup(server.close)
        url = server.url.replace("http:", "https:")
        self.check("Network: " + self.TRIAL + ": no trustworthy TLS connection", 3, AWS_ENDPOINT_URL=url)
        self.assertEqual(server.log(), [])
        done = self.run_command("smd-ls", self.TRIAL, AWS_ENDPOINT_URL=url, AWS_CA_BUNDLE=certificate)
        self.assertEqual(done.returncode, 0, done.stderr)


class Cached(Case):
    def test_cache(self):
        cache = os.path.join(self.folder, "cache")
        command = ("smd-tensor", "--cache", cache, "-s", ":", "--jsonl", "s3://recorded/dtypes")
        first = self.run_command(*command)
        bytes_first = sum(entry["bytes"] for entry in self.server.log() if "list-type" not in entry["target"])
        second = self.run_command(*command)
        log = [entry for entry in self.server.log() if "list-type" not in entry["target"]]
        self.assertEqual(first.stdout, second.stdout)
        self.assertEqual([entry["target"] for entry in log if "/index/" in entry["target"]], [])
        self.assertGreater(bytes_first, 1000)
        self.assertEqual(sum(entry["bytes"] for entry in log), 0)
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, env=self.environment()) for _ in range(8)]
        for process in running:
            self.assertEqual(process.communicate()[0], first.stdout)
        for folder, _, names in os.walk(cache):
            for name in names:
                with open(os.path.join(folder, name), "r+b") as file:
                    file.seek(30)
                    file.write(b"damage")
        third = self.run_command(*command)
        self.assertEqual(third.stdout, first.stdout)
        self.assertIn(b"damaged entries of the cache", third.stderr)
        for folder, _, names in os.walk(cache):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
                self.assertNotIn(SECRET.encode(), content)


class SecondOpinion(Case):
    """What botocore makes of the server: else client and server might share a mistake."""

    def test_botocore(self):
        try:
            import botocore.exceptions
            import botocore.session
        except ImportError:
            self.skipTest("python3-botocore is not installed")

        def client(secret):
            return botocore.session.get_session().create_client(
                "s3", region_name="us-east-1", endpoint_url=self.server.url, aws_access_key_id=KEY,
                aws_secret_access_key=secret)

        odd = "odd/a b+%&=?~'()*,;:@$\u00e9"
        os.makedirs(os.path.join(self.root, "bucket", "odd"))
        with open(os.path.join(self.root, "bucket", odd), "wb") as file:
            file.write(b"0123456789")
        for number in range(5):
            open(os.path.join(self.root, "bucket", f"key-{number}"), "wb").close()
        s3 = client(SECRET)
        self.assertEqual(s3.get_object(Bucket="bucket", Key=odd, Range="bytes=2-4")["Body"].read(), b"234")
        self.assertEqual(s3.head_object(Bucket="bucket", Key=odd)["ContentLength"], 10)
        pages = list(s3.get_paginator("list_objects_v2").paginate(Bucket="bucket", PaginationConfig={"PageSize": 2}))
        self.assertEqual([item["Key"] for page in pages for item in page["Contents"]],
                         [f"key-{number}" for number in range(5)] + [odd])
        self.assertEqual(len(pages), 3)
        level = s3.list_objects_v2(Bucket="bucket", Delimiter="/", StartAfter="key-3")
        self.assertEqual([item["Key"] for item in level["Contents"]], ["key-4"])
        self.assertEqual([item["Prefix"] for item in level["CommonPrefixes"]], ["odd/"])
        for refused, code in ((lambda: client("wrong").list_objects_v2(Bucket="bucket"), "SignatureDoesNotMatch"),
                              (lambda: s3.get_object(Bucket="bucket", Key="none"), "NoSuchKey"),
                              (lambda: s3.list_objects_v2(Bucket="none"), "NoSuchBucket")):
            with self.assertRaises(botocore.exceptions.ClientError) as raised:
                refused()
            self.assertEqual(raised.exception.response["Error"]["Code"], code)


class Following(Case):
    """A trial that grows: in its bucket an object appears whole, its index file perhaps before its event file."""

    def setUp(self):
        super().setUp()
        self.source = os.path.join(OPTIONS.trials, "dtypes")
        self.trial = os.path.join(self.root, "live", "trial")
        self.files = sorted(os.path.relpath(os.path.join(folder, name), self.source)
                            for folder, _, names in os.walk(self.source) for name in names)

    def add(self, part):
        for name in self.files:
            if name.startswith(part):
                os.makedirs(os.path.dirname(os.path.join(self.trial, name)), exist_ok=True)
                shutil.copyfile(os.path.join(self.source, name), os.path.join(self.trial, name))

    def until_asked(self, process, part, times):
        """Returns when the command has asked that often, so that it has seen what is there."""
        seen = 0
        while seen < times and process.poll() is None:
            self.asked = self.server.log()
            seen += sum(part in entry["target"] for entry in self.asked)
        self.assertIsNone(process.poll(), "ended too early")

    def test_wait_and_follow(self):
        os.makedirs(os.path.join(self.root, "live"))
        wait = subprocess.Popen(["smd-wait", "--end", "--interval", "0.02", "--timeout", "100", "s3://live/trial"],
                                env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.until_asked(wait, "/live", 2)  # nothing is there yet
        self.add("collections/")
        self.until_asked(wait, "index", 2)
        self.add("index/")
        self.until_asked(wait, "index", 2)
        self.until_asked(wait, "start-after", 2)  # what is known is not listed again
        self.assertEqual([entry["target"] for entry in self.asked if "/index/" in entry["target"]], [])
        self.add("events/")
        self.add("training_job_end.ts")
        out, err = wait.communicate(timeout=100)
        self.assertEqual((wait.returncode, err), (0, b""), out)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", action="append", default=[], metavar="DIR")
    parser.add_argument("--trials", required=True, metavar="DIR")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
