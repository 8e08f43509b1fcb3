#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""s3_test.py --tools DIR... --trials DIR: the commands on trials at s3://, served by tests/support/s3_server.py. Every
recorded trial gives the same answers as from disk; how many requests that takes; what is said of failures; following.
Nothing leaves this machine."""

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

from s3_case import KEY, OPTIONS, SECRET, Case, Server, main

# S3 has no links, directories or empty folders, which are the subject of these trials.
ONLY_ON_DISK = {"end_is_directory", "index_event_name_directory", "event_dir_missing", "index_dir_missing"}


class SameAnswers(Case):
    # Without the age, which changes between two commands.
    SUMMARY = "status,tensors,collections,workers,modes,steps,first_step,last_step,last_complete_step,bytes"
    COMMANDS = [("smd-ls", "--summary", "--json", "--columns", SUMMARY), ("smd-ls", "--long", "--incomplete", "--jsonl"),
                ("smd-ls", "--steps", "--incomplete", "--jsonl"), ("smd-ls", "--locations", "--incomplete", "--jsonl"),
                ("smd-tensor", "-s", ":", "-w", "all", "--incomplete", "--jsonl"),
                ("smd-reduce", "-s", ":", "-w", "all", "-r", "min,max,mean,l2,nan,saved", "--incomplete", "--jsonl"),
                ("smd-rule", "-k", "-f", "text", "-r", "AllZero", "-r", "ExplodingTensor", "-r", "UnchangedTensor",
                 "-r", "VanishingGradient"),
                ("smd-wait", "--end", "--timeout", "0")]

    def compare(self, name, command, bucket="recorded"):
        disk, store = os.path.join(self.root, bucket, name), "s3://" + bucket + "/" + name
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
            for folder, _, files in os.walk(os.path.join(OPTIONS.trials, name)):
                for file in files:  # how old an incomplete step is, is known on disk only
                    if os.path.exists(os.path.join(folder, file)):
                        os.utime(os.path.join(folder, file))
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

    def test_log_directories(self):
        logs = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures", "tb-logs")
        names = sorted(name for name in os.listdir(logs) if os.path.isdir(os.path.join(logs, name)))
        self.assertGreater(len(names), 30)
        os.symlink(logs, os.path.join(self.root, "logs"))
        output = 0
        for name in names:
            for command in self.COMMANDS[:5]:
                output += len(self.compare(name, command, "logs"))
        self.assertGreater(output, 300_000)
        found = self.run_command("smd-ls", "--find", "s3://logs/sweep").stdout.decode().splitlines()
        self.assertEqual(found, ["s3://logs/sweep/" + run
                                 for run in ("deep/run_a", "deep/run_b", "exp1", "exp2", "exp3", "keras_like")])

    def test_checkpoint_folders(self):
        fixtures = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures", "checkpoints")
        models = os.path.join(self.root, "models")
        shutil.copytree(fixtures, models)
        an_hour_ago = time.time() - 3600  # young files that are too short are not yet complete
        for folder, _, files in os.walk(models):
            for file in files:
                os.utime(os.path.join(folder, file), (an_hour_ago, an_hour_ago))
        suffix = ".expected.json"
        output = 0
        for file in sorted(os.listdir(models)):
            if file.endswith(suffix):
                with open(os.path.join(models, file), encoding="utf-8") as text:
                    right = json.load(text)
                if not right["prepare"]:  # S3 has neither links nor pipes
                    for command in self.COMMANDS[:6]:
                        output += len(self.compare(right["operand"], command, "models"))
        self.assertGreater(output, 300_000)
        found = self.run_command("smd-ls", "--find", "s3://models/trainer_run").stdout.decode().splitlines()
        self.assertEqual(found, ["s3://models/trainer_run"])

    def test_unfinished_copies(self):
        """They are left out as on disk, with the same notes."""
        fixtures = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures")
        logs = os.path.join(self.root, "copies", "logs")
        for folder in ("", "run.tmp", "run.tmp/deep", "sub/.~tmp~", "sub/good", "old~"):
            shutil.copytree(os.path.join(fixtures, "small-logs", "seed-1"), os.path.join(logs, folder),
                            dirs_exist_ok=True)
        for folder in ("checkpoint-10", "checkpoint-10/unet.tmp", "checkpoint-20.tmp", "tmp-checkpoint-30"):
            shutil.copytree(os.path.join(fixtures, "checkpoints", "trainer_run", "checkpoint-10"),
                            os.path.join(self.root, "copies", "models", folder))
        for place, tensor, copies in (("logs", b"sub/good/", 3), ("models", b"lm_head", 3)):
            here = self.run_command("smd-ls", os.path.join(self.root, "copies", place))
            there = self.run_command("smd-ls", "s3://copies/" + place)
            self.assertEqual((there.returncode, there.stdout), (0, here.stdout))
            self.assertIn(tensor, there.stdout)
            notes = there.stderr.replace(b"s3://", self.root.encode() + b"/")
            self.assertEqual(sorted(notes.splitlines()), sorted(here.stderr.splitlines()))
            self.assertEqual(notes.count(b"its name is that of an unfinished copy"), copies, notes)

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

    def test_folders_in_checkpoints_that_are_not_read(self):
        """A note names them; their files are not asked for."""
        fixtures = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures", "checkpoints")
        trial = os.path.join(self.root, "inner", "run")
        os.makedirs(os.path.join(trial, "best", "unet"))
        shutil.copy(os.path.join(fixtures, "root_only", "model.safetensors"), os.path.join(trial, "best"))
        with open(os.path.join(trial, "best", "unet", "model.pt"), "wb") as file:
            file.write(b"no tensors")
        here = self.run_command("smd-ls", trial)
        self.server.log()
        there = self.run_command("smd-ls", "s3://inner/run")
        asked = [entry["target"] for entry in self.server.log()]
        self.assertEqual((there.returncode, there.stdout), (0, here.stdout))
        for done in (here, there):
            self.assertIn(b"folders in checkpoints are not read: best/unet; name one to read it", done.stderr)
        self.assertEqual([target for target in asked if "unet" in target and "list-type" not in target], [])

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

    def test_echo(self):
        """A server that repeats parts of the request, in an error of any kind."""
        token = "IQoJb3JpZ2luX2Vj+/" + "t" * 300 + "=="
        for status, code in ((400, "Odd"), (403, "AccessDenied"), (500, "InternalError"), (400, KEY)):
            self.fault(act="echo", status=status, code=code)
            said = self.check(self.TRIAL, AWS_SESSION_TOKEN=token)
            for secret in (KEY, token[:18], "tttt", "IQoJb3JpZ2luX2Vj%2B"):
                self.assertNotIn(secret.encode(), said)
            signatures = [entry["headers"]["authorization"].split("Signature=")[1] for entry in self.server.log()]
            self.assertTrue(signatures)
            self.assertFalse([signature for signature in signatures if signature.encode() in said])

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

    def test_rules_say_what_they_could_not_read(self):
        """One event object is missing, or short: no rule may report that it found nothing."""
        source = os.path.join(OPTIONS.trials, "pt_two_workers")
        for name, spoil in (("gone", os.remove), ("short", lambda path: os.truncate(path, 20))):
            shutil.copytree(source, os.path.join(self.root, "bucket", name))
            events = sorted(os.path.join(folder, file) for folder, _, files in
                            os.walk(os.path.join(self.root, "bucket", name, "events")) for file in files)
            spoil(events[-1])
            done = self.run_command("smd-rule", f"s3://bucket/{name}", "-r", "ExplodingTensor", "--json")
            result, = json.loads(done.stdout)
            self.assertEqual((done.returncode, result["status"], result["kind"]), (4, "Error", "unread"), done.stderr)
            self.assertRegex(result["message"], r"^\d+ of \d+ steps evaluated; \d+ records could not be read: events/")

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


class FailingObject(Case):
    """The server fails for one object, whatever is asked of it."""

    def test_a_hundred_records_do_not_take_a_hundred_rounds(self):
        trial = os.path.join(self.root, "bucket", "many")
        lines = "".join(json.dumps({"step": 0, "tensor": f"t{i}", "value": i}) + "\n" for i in range(100))
        subprocess.run(("smd-save", trial, "--jsonl", "--end"), input=lines.encode(), env=self.environment(), check=True)
        self.server.faults({"match": "GET .*/events/", "act": "error", "status": 500, "times": -1})
        self.server.log()
        done = self.run_command("smd-tensor", "s3://bucket/many", "-e", "^t", "-j1", "--columns", "value",
                                AWS_MAX_ATTEMPTS="1")
        self.assertEqual(done.returncode, 3, done.stderr)
        asked = sum("/events/" in entry["target"] for entry in self.server.log())
        self.assertTrue(0 < asked <= 5, asked)


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
            for name in [] if folder == cache else names:
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


    def test_cache_of_another(self):
        """A folder with a user's own files is not a cache: SMD_CACHE_DIR=$HOME must not remove any file."""
        home = os.path.join(self.folder, "home")
        files = {"go/main.go": b"package main", "ab/thesis.tex": b"text", "notes": b"n"}
        for name, content in files.items():
            os.makedirs(os.path.dirname(os.path.join(home, name)), exist_ok=True)
            with open(os.path.join(home, name), "wb") as file:
                file.write(content)
        trial = "s3://recorded/dtypes"
        for done in (self.run_command("smd-ls", trial, "--cache", home), self.run_command("smd-ls", trial, SMD_CACHE_DIR=home),
                     self.run_command("smd-ls", "--find", "s3://recorded/", "--cache", home)):
            self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
            self.assertIn(b"Usage: ", done.stderr)
            self.assertIn(f"the cache folder '{home}' holds files, but no marker of a cache (CACHEDIR.TAG)".encode(),
                          done.stderr)
            self.assertIn(b"name a new or an empty folder", done.stderr)
        self.assertEqual(self.server.log(), [])
        found = {os.path.relpath(os.path.join(folder, name), home) for folder, _, names in os.walk(home) for name in names}
        self.assertEqual(found, set(files))
        # A local trial needs no cache.
        done = self.run_command("smd-ls", os.path.join(self.root, "recorded", "dtypes"), SMD_CACHE_DIR=home)
        self.assertEqual(done.returncode, 0, done.stderr)


class Configurations(Case):
    """What a file of rules may request."""

    def test_configuration_names_no_bucket(self):
        for bucket in ("mine", "evil"):
            shutil.copytree(os.path.join(self.root, "recorded", "dtypes"), os.path.join(self.root, bucket, "job"))
        config = os.path.join(self.folder, "rules.json")

        def write(other):
            with open(config, "w", encoding="utf-8") as file:
                json.dump([{"RuleConfigurationName": "similar", "RuleParameters": {
                    "rule_to_invoke": "SimilarAcrossRuns", "other_trial": other}},
                    {"RuleConfigurationName": "nan", "RuleParameters": {"rule_to_invoke": "ExplodingTensor"}}], file)

        def hosts():
            return {entry["target"].split("/")[1].split("?")[0] for entry in self.server.log()}

        local = os.path.join(self.root, "recorded", "dtypes")
        write("s3://evil/job")
        for trial in ("s3://mine/job", local):
            done = self.run_command("smd-rule", trial, "-C", config, "--jsonl")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(b"Usage: the other trial 's3://evil/job' lies in a bucket that the command line does not name; "
                          b"--other s3://evil/job allows it", done.stderr)
            results = {result["rule"]: result for result in map(json.loads, done.stdout.splitlines())}
            self.assertEqual(results["similar"]["status"], "Error")
            self.assertEqual((results["similar"]["kind"], results["similar"]["parameter"]), ("bad_trial", "other_trial"))
            self.assertNotEqual(results["nan"]["status"], "Error")  # the others are evaluated
            self.assertNotIn("evil", hosts())
        # Named by the user, in each possible way.
        for words in (("--other", "s3://evil/job"), ("-p", "similar.other_trial=s3://evil/job"), ("s3://evil/job",)):
            done = self.run_command("smd-rule", "s3://mine/job", "-C", config, "--jsonl", *words)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertIn("evil", hosts())
        done = self.run_command("smd-rule", "-C", config, "--jsonl", "-", feed=b"s3://evil/job\n")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        # The runs of a real job are in one bucket.
        write("s3://mine/job")
        done = self.run_command("smd-rule", "s3://mine/job", "-C", config, "--jsonl")
        self.assertIn(done.returncode, (0, 1), done.stderr)


class Strays(Case):
    server_arguments = ("--frozen",)

    def test_stray_keys(self):
        """More keys that do not belong in a trial than are described: in order of their names, whichever comes
        first."""
        shutil.copytree(os.path.join(self.root, "recorded", "dtypes"), os.path.join(self.root, "strays", "job"))
        for i in range(12_000):
            folder = os.path.join(self.root, "strays", "job", "index", f"{i % 4:09}")
            os.makedirs(folder, exist_ok=True)
            open(os.path.join(folder, f"stray-{i:06}"), "w", encoding="ascii").close()
        texts = set()
        for _ in range(2):
            done = self.run_command("smd-ls", "-v", "s3://strays/job", "-j", "8")
            self.assertEqual(done.returncode, 0, done.stderr)
            notes = [line for line in done.stderr.decode().splitlines() if "the name is not that of an index file" in line]
            self.assertEqual(len(notes), 10_000)
            self.assertIn("2000 more problems of this kind", done.stderr.decode())
            self.assertTrue(any("index/000000000/stray-000000:" in line for line in notes))
            self.assertFalse(any("index/000000003/stray-011999:" in line for line in notes))
            texts.add("\n".join(notes))
        self.assertEqual(len(texts), 1)


class SecondOpinion(Case):
    """botocore's results with the test server: otherwise client and server might share a mistake."""

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
    """A growing trial: in its bucket an object appears complete, its index file perhaps before its event file."""

    def setUp(self):
        super().setUp()
        os.makedirs(os.path.join(self.root, "live"))

    def files(self, trial):
        source = os.path.join(OPTIONS.trials, trial)
        return source, sorted(os.path.relpath(os.path.join(folder, name), source)
                              for folder, _, names in os.walk(source) for name in names)

    def add(self, source, names):
        for name in names:
            self.put(os.path.join(source, name), os.path.join("live", "trial", name))

    def test_wait(self):
        source, files = self.files("dtypes")
        index = [name for name in files if name.startswith("index/")]
        wait = self.start_command("smd-wait", "--end", "--interval", "0.02", "--timeout", "100", "s3://live/trial")

        def listings(part, times):
            return lambda entries: sum("list-type" in entry["target"] and part in entry["target"]
                                       for entry in entries) >= times

        self.until(wait, listings("/live", 2))  # nothing exists yet
        self.add(source, [name for name in files if name.startswith("collections/")])
        self.until(wait, listings("index", 2))
        self.add(source, index)

        def fetched(entries):
            return [entry["target"] for entry in entries if "/index/" in entry["target"]]

        seen = self.until(wait, lambda entries: len(set(fetched(entries))) == len(index))
        seen += self.until(wait, listings("start-after", 2))
        self.assertEqual(len(fetched(seen)), len(index), fetched(seen))  # known files are not read again
        self.add(source, [name for name in files if name.startswith("events/")])
        self.add(source, ["training_job_end.ts"])
        out, err = wait.communicate(timeout=100)
        self.assertEqual((wait.returncode, err), (0, b""), out)

    def test_following_waits_for_the_trial(self):
        source, files = self.files("dtypes")
        command = ("smd-ls", "--steps", "--columns", "step")
        expected = self.run_command(*command, os.path.join(OPTIONS.trials, "dtypes")).stdout
        follower = self.start_command(*command, "-F", "--interval", "0.02", "--timeout", "100", "s3://live/trial")
        self.until(follower, lambda entries: sum("list-type" in entry["target"] for entry in entries) >= 6)
        self.add(source, sorted(files, key=lambda name: not name.startswith("events/")))
        out, err = follower.communicate(timeout=100)
        self.assertEqual((follower.returncode, out), (0, expected))
        self.assertEqual(err, b"smd-ls: note: s3://live/trial: does not exist yet; waiting for it\n")
        late = self.run_command("smd-tensor", "-F", "--interval", "0.02", "--timeout", "0.1", "s3://live/none", "loss")
        self.assertEqual(late.returncode, 124)
        self.assertIn(b"Timeout: s3://live/none: no trial appeared within 0.1s", late.stderr)

    def test_rows_come_as_steps_complete(self):
        source, files = self.files("pt_digits_train_eval")
        index = [name for name in files if name.startswith("index/")]
        self.assertGreater(len(index), 3)
        commands = [("smd-tensor", "-c", "losses", "-s", ":", "--columns", "step,tensor,value", "-f", "jsonl"),
                    ("smd-reduce", "-c", "losses", "-s", ":", "-r", "mean", "--columns", "step,mean", "-f", "jsonl"),
                    ("smd-ls", "--steps", "--columns", "step,tensors,bytes", "-f", "jsonl"),
                    ("smd-rule", "-k", "-r", "Threshold", "-p", "collection_names=losses", "-p", "reduction=max",
                     "-p", "threshold=0", "-p", "operator=>", "-f", "text")]
        expected = [self.run_command(*command, os.path.join(OPTIONS.trials, "pt_digits_train_eval")).stdout
                    for command in commands]
        self.add(source, [name for name in files if name.startswith("collections/")])
        following = [self.start_command(*command, "-F", "--interval", "0.02", "s3://live/trial",
                                        SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT="1000000") for command in commands]
        tensor, reduce = following[0], following[1]
        for name in index:
            with open(os.path.join(source, name), encoding="utf-8") as file:
                events = json.load(file)["meta"]["event_file_name"]
            self.add(source, [name])
            # Commands that read values repeatedly request files that do not exist yet.
            self.until(tensor, lambda entries, part=events: sum(
                part in entry["target"] and entry["status"] == 404 for entry in entries) >= 4)
            self.add(source, [events])
            step = int(os.path.basename(name).split("_")[0])
            for process, column in ((tensor, "step"), (reduce, "step")):
                self.assertEqual(json.loads(process.stdout.readline())[column], step)
        self.add(source, ["training_job_end.ts"])
        for command, process, wanted in zip(commands, following, expected):
            out, err = process.communicate(timeout=100)
            self.assertEqual(err, b"", command)
            if process not in (tensor, reduce):
                disk = os.path.join(OPTIONS.trials, "pt_digits_train_eval").encode()
                self.assertEqual(sorted(out.replace(b"s3://live/trial", b"").splitlines()),
                                 sorted(wanted.replace(disk, b"").splitlines()), command)
            self.assertEqual(out.count(b"\n") + (len(index) if process in (tensor, reduce) else 0),
                             wanted.count(b"\n"), command)

    def test_replaced_between_index_and_value(self):
        """Another run rewrites the trial after a command has read its index files."""
        source, files = self.files("pt_digits_train_eval")
        self.add(source, files)
        command = ("smd-tensor", "-s", ":", "--columns", "tensor,step,value", "-f", "jsonl", "s3://live/trial")
        expected = self.run_command(*command).stdout
        moved = os.path.join(self.folder, "moved")
        events = [name for name in files if name.startswith("events/")]
        index = [name for name in files if name.startswith("index/")]
        # The same records after another one, so that the index file must change.
        for name in events:
            with open(os.path.join(source, name), "rb") as file:
                content = file.read()
            first = 16 + int.from_bytes(content[:8], "little")
            with open(moved, "wb") as file:
                file.write(content[:first] + content)
            self.put(moved, "live/trial/" + name)
        stale = self.run_command(*command, "-j", "1")
        self.assertNotEqual(stale.returncode, 0)  # the index files are still the old ones
        shifts = {}
        for name in events:
            with open(os.path.join(source, name), "rb") as file:
                shifts[name] = 16 + int.from_bytes(file.read(8), "little")
        # The server gives the old index file once, then the new one.
        self.server.log()
        for name in index:
            with open(os.path.join(source, name), encoding="utf-8") as file:
                content = json.load(file)
            for item in content["tensor_payload"]:
                item["start_idx"] += shifts[content["meta"]["event_file_name"]]
            with open(moved, "w", encoding="utf-8") as file:
                json.dump(content, file)
            self.put(moved, "live/trial/" + name)
        self.server.faults(*({"match": f"GET .*/{name}", "act": "old", "times": 1, "file": os.path.join(source, name)}
                             for name in index))
        done = self.run_command(*command)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout, expected)
        asked = [entry["target"] for entry in self.server.log()]
        for name in index:
            self.assertEqual(sum(name in target for target in asked), 2, name)


class StopTraining(Case):
    """smd-rule stops a SageMaker job: only if there is exactly one, only on request, with --profile and --region."""
    server_arguments = ("--region", "eu-west-3", "--key", "AKIDLAB:lab-secret-of-forty-characters-0123456789")

    def setUp(self):
        self.jobs = tempfile.NamedTemporaryFile("w", suffix=".json")
        self.addCleanup(self.jobs.close)
        self.server_arguments = (*StopTraining.server_arguments, "--jobs", self.jobs.name)
        super().setUp()
        # A job that is still running, but saved its last step long ago.
        source = os.path.join(OPTIONS.trials, "pt_digits_train_eval")
        shutil.copytree(source, os.path.join(self.root, "live", "trial"))
        os.remove(os.path.join(self.root, "live", "trial", "training_job_end.ts"))
        os.mkdir(os.path.join(self.folder, ".aws"))
        with open(os.path.join(self.folder, ".aws", "credentials"), "w", encoding="utf-8") as file:
            file.write("[lab]\naws_access_key_id = AKIDLAB\n"
                       "aws_secret_access_key = lab-secret-of-forty-characters-0123456789\n")

    def rule(self, jobs, *words, trial="s3://live/trial", account=("--profile", "lab", "--region", "eu-west-3")):
        with open(self.jobs.name, "w", encoding="utf-8") as file:
            json.dump(jobs, file)
        self.server.log()
        done = self.run_command("smd-rule", "-f", "text", *account, *words, trial)
        self.calls = [entry["headers"]["x-amz-target"] for entry in self.server.log()
                      if "x-amz-target" in entry["headers"]]
        with open(self.jobs.name, encoding="utf-8") as file:
            self.after = json.load(file)
        return done

    ASKED = ("-r", "StalledTrainingRule", "-p", "stop_training_on_fire=True", "-p", "training_job_name_prefix=train-")

    def test_no_region(self):
        done = self.rule({"train-1": "InProgress"}, *self.ASKED, account=("--profile", "lab"))
        self.assertIn(b"in which region is not said; give --region, AWS_REGION or the profile's", done.stdout + done.stderr)
        self.assertEqual((self.calls, self.after), ([], {"train-1": "InProgress"}))

    def test_exactly_one(self):
        jobs = {"a-train-1": "InProgress", "train-1": "Completed", "train-2": "InProgress"}
        for trial in ("s3://live/trial", os.path.join(self.root, "live", "trial")):
            done = self.rule(jobs, *self.ASKED, trial=trial)
            self.assertEqual(done.returncode, 1, done.stderr)  # the rule triggered
            self.assertIn(b"StopTraining: the training job 'train-2' is being stopped", done.stdout + done.stderr)
            self.assertEqual(self.after, {**jobs, "train-2": "Stopping"})
            self.assertEqual(self.calls[-1], "SageMaker.StopTrainingJob")
            self.assertEqual(self.calls.count("SageMaker.StopTrainingJob"), 1)

    def test_several(self):
        jobs = {"train-1": "InProgress", "train-2": "InProgress"}
        done = self.rule(jobs, *self.ASKED)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"2 training jobs in progress have names that begin with 'train-' ('train-1', 'train-2'); "
                      b"nothing was stopped", done.stdout + done.stderr)
        self.assertEqual(self.after, jobs)
        self.assertEqual(self.calls, ["SageMaker.ListTrainingJobs"])

    def test_none(self):
        jobs = {"other": "InProgress", "train-1": "Stopped"}
        done = self.rule(jobs, *self.ASKED)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"no training job in progress has a name that begins with 'train-'; nothing was stopped",
                      done.stdout + done.stderr)
        self.assertEqual(self.after, jobs)

    def test_only_when_asked(self):
        jobs = {"train-1": "InProgress"}
        configuration = os.path.join(self.folder, "rules.json")
        with open(configuration, "w", encoding="utf-8") as file:
            json.dump([{"RuleConfigurationName": "stalled", "RuleParameters": {
                "rule_to_invoke": "StalledTrainingRule", "stop_training_on_fire": "True",
                "training_job_name_prefix": "train-"}}], file)
        for words in (("-r", "StalledTrainingRule"), ("-C", configuration),
                      ("-r", "StalledTrainingRule", "-p", "training_job_name_prefix=train-"),
                      ("-r", "StalledTrainingRule", "-p", "stop_training_on_fire=True")):
            done = self.rule(jobs, *words)
            self.assertEqual((done.returncode, self.calls, self.after), (1, [], jobs), (words, done.stderr))
        # A job that has ended, or does not stall, is not stopped either.
        done = self.rule(jobs, *self.ASKED, trial=os.path.join(OPTIONS.trials, "pt_digits_train_eval"))
        self.assertEqual((self.calls, self.after), ([], jobs), done.stderr)
        done = self.rule(jobs, *self.ASKED, "-p", "threshold=9000000000")
        self.assertEqual((self.calls, self.after), ([], jobs), done.stderr)

    def test_refused(self):
        jobs = {"train-1": "InProgress"}
        done = self.rule(jobs, *self.ASKED, account=("--region", "eu-west-3"))  # the environment's keys are not valid
                                                                                # here
        self.assertEqual(done.returncode, 3, done.stderr)
        local = os.path.join(self.root, "live", "trial")
        done = self.rule(jobs, *self.ASKED, trial=local, account=("--region", "eu-west-3"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"StopTraining was asked for and failed: SageMaker ListTrainingJobs: the access key of the "
                      b"environment is not known", done.stdout + done.stderr)
        self.assertEqual(self.after, jobs)


class Places(Case):
    """Possible places of a trial: unusual keys, the bucket's root, a bucket with dots; behind a proxy."""
    LONG = ("smd-tensor", "-s", ":", "-w", "all", "--jsonl", "--columns", "tensor,step,worker,value")

    def setUp(self):
        super().setUp()
        self.trial = os.path.join(OPTIONS.trials, "pt_digits_train_eval")
        self.expected = self.run_command(*self.LONG, self.trial).stdout
        self.assertGreater(len(self.expected), 10_000)

    def check(self, url, **environment):
        done = self.run_command(*self.LONG, url, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, b""), url)
        self.assertEqual(done.stdout, self.expected, url)

    def test_odd_keys(self):
        odd = "a b+c%2B%&=?#~'()*,;:@$!\u00e9\u20ac\\|\"<>[]{}^`/ /+/%"
        shutil.copytree(self.trial, os.path.join(self.root, "odd-keys", odd, "trial"))
        self.check(f"s3://odd-keys/{odd}/trial")
        self.check(f"s3://odd-keys/{odd}/trial/")

    def test_roots_and_dots(self):
        shutil.copytree(self.trial, os.path.join(self.root, "root-bucket"))
        self.check("s3://root-bucket")
        self.check("s3://root-bucket/")
        shutil.copytree(self.trial, os.path.join(self.root, "bucket.with.dots", "a", "debug-output"))
        self.check("s3://bucket.with.dots/a/debug-output/")
        done = self.run_command("smd-ls", "--find", "s3://bucket.with.dots")
        self.assertEqual(done.stdout, b"s3://bucket.with.dots/a/debug-output\n", done.stderr)
        # Folders as the console creates them: objects with the folder's name.
        self.server.faults({"match": "list-type", "act": "folders", "times": -1})
        self.check("s3://root-bucket")
        self.check("s3://bucket.with.dots/a/debug-output")

    def test_listing_pages(self):
        """Valid and invalid listings."""
        page = ("<ListBucketResult><Name>b</Name><IsTruncated>{}</IsTruncated><EncodingType>url</EncodingType>{}"
                "</ListBucketResult>")
        thing = "<Contents><Key>{}</Key><Size>1</Size><ETag>e</ETag></Contents>"
        for body, text in (("", "the listing is no XML"), ("<html>Sign in</html>", "the listing is another document"),
                           (page.format("true", ""), "the listing says that there is more, but not how to get it"),
                           (page.format("perhaps", ""), "the listing does not say whether there is more"),
                           (page.format("false", thing.format("elsewhere/x")), "the listing names 'elsewhere/x', which"),
                           (page.format("false", "<Contents><Key>a"), "the listing is no XML"),
                           (page.format("false", "<a>" * 100_000), "the listing is no XML"),
                           ('<!DOCTYPE x [<!ENTITY a "b">]>' + page.format("false", ""), "document type")):
            self.server.faults({"match": "list-type", "act": "body", "body": body, "times": -1})
            done = self.run_command("smd-ls", "s3://recorded/dtypes")
            self.assertEqual((done.returncode, done.stdout), (3, b""), (body[:200], done.stderr))
            self.assertIn(b"Network: ", done.stderr)
            self.assertIn(text.encode(), done.stderr)
        # Deleted objects may leave pages without names.
        self.server.faults({"match": "list-type", "act": "body", "times": 1, "body": page.format(
            "true", "<NextContinuationToken>+/===</NextContinuationToken>")})
        self.check("s3://recorded/pt_digits_train_eval")

    def test_no_credentials_and_no_metadata(self):
        """A metadata service that accepts connections and does not answer causes no delay."""
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        done = self.run_command("smd-ls", "s3://recorded/dtypes", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="",
                                AWS_EC2_METADATA_DISABLED="",
                                AWS_EC2_METADATA_SERVICE_ENDPOINT="http://127.0.0.1:%d" % silent.getsockname()[1])
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"no AWS credentials", done.stderr)

    def test_proxy(self):
        away = {"AWS_ENDPOINT_URL": "http://s3.nowhere.invalid:9000"}
        self.check("s3://recorded/pt_digits_train_eval", http_proxy=self.server.url, **away)
        self.assertEqual({entry["host"] for entry in self.server.log()[-3:]}, {"s3.nowhere.invalid:9000"})
        self.check("s3://recorded/pt_digits_train_eval", http_proxy="http://127.0.0.1:1", no_proxy="127.0.0.1")
        for proxy in ("http://user:PROXYPASSWORD@127.0.0.1:1", "odd://user:PROXYPASSWORD@127.0.0.1:1",
                      "http://user:PROXYPASSWORD@[::1", "http://user:PROXYPASSWORD@host:port"):
            done = self.run_command("smd-ls", "-vv", "s3://recorded/dtypes", http_proxy=proxy, AWS_MAX_ATTEMPTS="1",
                                    **away)
            self.assertEqual(done.returncode, 3, (proxy, done.stderr))
            self.assertIn(b"Network: ", done.stderr)
            self.assertNotIn(b"PROXYPASSWORD", done.stderr + done.stdout, proxy)


class Progress(Case):
    def test_of_trials(self):
        """A line says how many of the trials are done once a second has passed, and is gone at the end."""
        self.server.faults({"match": "list-type", "act": "delay", "seconds": 0.25, "times": -1})
        trials = ["s3://recorded/mw2_one_writer_running"] * 6
        command = ("smd-ls", "--summary", "--columns", "trial,steps", *trials)
        for jobs in ("-j1", "-j2"):
            with self.subTest(jobs):
                quiet = self.run_command(*command, jobs)
                shown = self.run_command(*command, jobs, "--progress")
                self.assertEqual(shown.stdout, quiet.stdout)
                self.assertNotIn(b"listing", quiet.stderr)
                *lines, end = shown.stderr.split(b"\x1b[K")
                self.assertEqual((lines[-1], end), (b"\r", b""), shown.stderr)
                counts = [re.fullmatch(rb"\rlisting trials (\d) of 6 \((\d+)%\)", line) for line in lines[:-1]]
                self.assertTrue(counts and all(counts), shown.stderr)
                self.assertTrue(all(int(one[2]) == int(one[1]) * 100 // 6 for one in counts), shown.stderr)


class CacheKilled(Case):
    def test_killed_at_any_request(self):
        """A process that ends while it fills the cache leaves nothing that misleads the next."""
        command = ("smd-tensor", "-s", ":", "--jsonl", "s3://recorded/pt_digits_train_eval")
        expected = self.run_command(*command)
        requests = len(self.server.log())
        self.assertGreater(requests, 15)
        cache = os.path.join(self.folder, "cache")
        for number in range(1, requests + 1, 3):
            with self.subTest(requests=number):
                process = subprocess.Popen([*command, "--cache", cache, "-j", "4"], env=self.environment(),
                                           stdout=subprocess.DEVNULL)
                asked = 0
                while asked < number and process.poll() is None:
                    asked += len(self.server.log())
                process.kill()
                process.wait()
                self.server.log()
                if number % 2 == 0:
                    done = self.run_command(*command, "--cache", cache)
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, expected.stdout, b""))
                    self.server.log()
                    shutil.rmtree(cache)


if __name__ == "__main__":
    main(__doc__)
