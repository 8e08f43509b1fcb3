#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""s3_write_test.py --tools DIR... --trials DIR: trials that smd-save writes to s3://, to tests/support/s3_server.py, and
what the other commands read of them. Requests fail, one after the other, and within: no index file is left whose event
file is not whole."""

import json
import os
import re
import socket
import struct
import subprocess
import threading

from s3_case import KEY, OPTIONS, SECRET, Case, Server, main

TRIAL = "s3://bucket/job/debug-output"
CONFIG = {"CollectionConfigurations": [
    {"CollectionName": "gradients", "CollectionParameters": {"include_regex": "gradient", "reductions": "mean,l2"}},
    {"CollectionName": "losses", "CollectionParameters": {"save_interval": "1"}}],
    "HookParameters": {"save_interval": "1"}}


def lines(steps):
    """A job of two workers: each step saves a gradient, whose mean is its number, and a loss."""
    rows = []
    for step in steps:
        for worker in ("worker_0", "worker_1"):
            place = {"step": step, "mode": "train" if step % 2 == 0 else "eval", "worker": worker}
            rows.append({**place, "tensor": "gradient/w", "value": [step - 1.0, float(step), step + 1.0],
                         "collections": ["gradients"]})
            rows.append({**place, "tensor": "loss", "value": 1.0 / (step + 1), "collections": ["losses"]})
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def write_npy(path, count):
    """Writes float32, count elements: 0, 1, 2, ... modulo 1000. In pieces, because a child begins with its parent's
    memory."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    block = struct.pack("<1000f", *range(1000))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for _ in range(count // 1000):
            file.write(block)


class Writing(Case):
    def setUp(self):
        super().setUp()
        self.bucket = os.path.join(self.root, "bucket")
        os.mkdir(self.bucket)

    def save(self, *words, trial=TRIAL, feed=b"", **environment):
        return self.run_command("smd-save", trial, *words, feed=feed, **environment)

    def saved(self, *words, **more):
        done = self.save(*words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, b""), words)

    def keys(self, below="job/debug-output"):
        top = os.path.join(self.bucket, below)
        return sorted(os.path.relpath(os.path.join(folder, name), top)
                      for folder, _, names in os.walk(top) for name in names)

    def content(self, key):
        with open(os.path.join(self.bucket, "job/debug-output", key), "rb") as file:
            return file.read()

    def writes(self):
        """Returns the uploads since the last call that were answered with 200."""
        return [entry["target"].split("/debug-output/")[1] for entry in self.server.log()
                if entry["method"] == "PUT" and entry["status"] == 200]

    def steps(self):
        done = self.run_command("smd-ls", TRIAL, "--steps", "--incomplete", "--jsonl")
        return [json.loads(line)["step"] for line in done.stdout.splitlines()]

    def check_sound(self):
        """Checks with the files alone, then with smd-ls, that every index file's event file exists and has all its
        records."""
        keys = self.keys()
        for key in keys:
            self.assertRegex(key, r"^(index|events|collections)/\d{9}(\d{3})?/[\w.]+$|^training_job_end\.ts$")
            if key.startswith("index/"):
                index = json.loads(self.content(key))
                events = self.content(index["meta"]["event_file_name"])
                end = max(entry["start_idx"] + entry["length"] for entry in index["tensor_payload"])
                self.assertEqual(end, len(events), key)
            if key.startswith("collections/"):
                json.loads(self.content(key))
        if any(key.startswith("collections/") for key in keys):
            checked = self.run_command("smd-ls", TRIAL, "--check", "-H", "--columns", "problem")
            # An event file may exist before its index file; nothing else may be wrong.
            self.assertIn(checked.stdout.splitlines()[:1], ([], [b"no readable index file names this file"]))
            self.assertEqual(len(set(checked.stdout.splitlines())), 1 if checked.stdout else 0)
            # 1: nothing saved yet.
            self.assertIn(checked.returncode, (4,) if checked.stdout else (0, 1), checked.stdout + checked.stderr)


class WhatIsWritten(Writing):
    def test_as_on_disk(self):
        """Objects equal the files of a local trial, except the times in event files, and read the same."""
        config = os.path.join(self.folder, "hook.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(CONFIG, file)
        disk = os.path.join(self.folder, "trial")
        words = ("--jsonl", "--workers", "2", "-C", config, "--end")
        self.assertEqual(self.save(*words, trial=disk, feed=lines(range(4))).returncode, 0)
        self.saved(*words, feed=lines(range(4)))
        here = sorted(os.path.relpath(os.path.join(folder, name), disk)
                      for folder, _, names in os.walk(disk) for name in names)
        self.assertEqual(self.keys(), here)
        self.assertEqual(len(here), 4 * 2 * 2 + 2 + 1)
        for name in here:
            with open(os.path.join(disk, name), "rb") as file:
                content = file.read()
            if name.startswith("events/"):
                self.assertEqual(len(self.content(name)), len(content), name)
            else:
                self.assertEqual(self.content(name), content, name)
        output = 0
        for command in (("smd-ls", "--check"), ("smd-ls", "--steps", "--jsonl"), ("smd-ls", "--locations", "--jsonl"),
                        ("smd-tensor", "-s", ":", "-w", "all", "--jsonl"), ("smd-ls", "--collections", "--jsonl"),
                        ("smd-rule", "-r", "LossNotDecreasing", "-r", "VanishingGradient", "-f", "text")):
            local, store = self.run_command(*command, disk), self.run_command(*command, TRIAL)
            self.assertEqual((store.returncode, store.stdout.replace(TRIAL.encode(), b"TRIAL")),
                             (local.returncode, local.stdout.replace(disk.encode(), b"TRIAL")), command)
            output += len(local.stdout)
        self.assertGreater(output, 1000)

    def test_order(self):
        self.saved("--jsonl", "--end", feed=lines(range(3)))
        writes = self.writes()
        self.assertEqual(writes[-1], "training_job_end.ts")
        self.assertEqual(len(writes), len(set(writes)))  # one request each
        for number, key in enumerate(writes):
            if key.startswith("index/"):
                event = key.replace("index/000000000", "events/" + re.search(r"/(\d{12})_", key)[1])
                self.assertIn(event.replace(".json", ".tfevents"), writes[:number])
                worker = re.search(r"worker_\d", key)[0]
                self.assertIn(f"collections/000000000/{worker}_collections.json", writes[:number])

    def test_few_requests(self):
        """Besides what is put, a job asks five times for each worker: for the end marker of an earlier job, its steps,
        index files and event files, and for its collections at both ends."""
        self.saved("--jsonl", feed=lines(range(50)))
        asked = [entry for entry in self.server.log() if entry["method"] != "PUT"]
        self.assertEqual(["list-type" in entry["target"] for entry in asked], [True] * len(asked))
        # And once for what the folder holds, and once for the steps there are, by which those of a mode are numbered.
        self.assertLessEqual(len(asked), 2 * 5 + 2, [entry["target"] for entry in asked])

    def test_large(self):
        """An object larger than 64 MiB is uploaded in parts. Read back, its elements are those of the file."""
        count = 18_000_000
        array = os.path.join(self.folder, "w.npy")
        write_npy(array, count)
        self.saved("--step", "0", "w=@" + array)
        requests = [(entry["method"], entry["target"].split("?")[-1].split("=")[0]) for entry in self.server.log()
                    if "/events/" in entry["target"]]
        self.assertEqual(sorted(requests), [("POST", "uploadId"), ("POST", "uploads")] + [("PUT", "partNumber")] * 5)
        done = self.run_command("smd-reduce", TRIAL, "-r", "min,max,mean,count", "--jsonl")
        row = json.loads(done.stdout)
        # The mean of 0 to 999, in complete cycles.
        self.assertEqual((row["min"], row["max"], row["mean"], row["count"]), (0, 999, 499.5, count))
        self.check_sound()

    def test_memory(self):
        """In addition to the array, at most 64 MiB of the object, and the memory that any command needs."""
        if OPTIONS.sanitized:
            self.skipTest("sanitizers take memory of their own")
        count = 50_000_000
        array = os.path.join(self.folder, "w.npy")
        write_npy(array, count)
        process = subprocess.Popen(["smd-save", TRIAL, "--step", "0", "w=@" + array], env=self.environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertLess(usage.ru_maxrss / 1024, count * 4 / 2**20 + 64 + 32)

    def test_places(self):
        for trial, below in (("s3://bucket", ""), ("s3://bucket/a b+%&=?~'()*,;:@$\u00e9/", "a b+%&=?~'()*,;:@$\u00e9")):
            self.saved("--step", "3", "loss=0.25", trial=trial)
            done = self.run_command("smd-tensor", trial, "loss", "-s", "3", "-H", "--columns", "value")
            self.assertEqual((done.returncode, done.stdout.strip()), (0, b"0.25"), done.stderr)
            self.assertTrue(os.path.isfile(os.path.join(self.bucket, below, "index/000000000/000000000003_worker_0.json")))

    def test_tensorboard(self):
        config = os.path.join(self.folder, "hook.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"HookParameters": {"save_interval": "1", "export_tensorboard": "true"}}, file)
        self.saved("-C", config, "--step", "0", "-c", "losses", "loss=0.5")
        self.assertEqual([key for key in self.keys() if key.startswith("tensorboard/")],
                         [key for key in self.keys() if key.endswith(".tfevents") and key.startswith("tensorboard/GLOBAL/")])
        self.assertEqual(sum(key.startswith("tensorboard/") for key in self.keys()), 1)


class WhatIsThere(Writing):
    def test_saved_before(self):
        self.saved("--step", "1", "w=1")
        before = [self.content(key) for key in self.keys()]
        self.server.log()
        done = self.save("--step", "1", "w=2")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"step 1 of worker 'worker_0' has been saved before; nothing is changed; --append joins it",
                      done.stderr)
        self.assertEqual([self.content(key) for key in self.keys()], before)
        self.assertEqual(self.writes(), [])
        self.saved("--step", "1", "-w", "worker_1", "w=2")
        self.saved("--step", "0", "w=3")  # steps may go back
        self.assertEqual(self.steps(), [0, 1])

    def test_append(self):
        self.saved("--step", "1", "w=1", "-c", "mine")
        self.server.log()
        self.saved("--step", "1", "--append", "v=2", "-c", "other")
        # The event file with both first, and then the index file with both.
        self.assertEqual([key.split("/")[0] for key in self.writes()], ["events", "collections", "index"])
        done = self.run_command("smd-tensor", TRIAL, "-s", "1", "--columns", "tensor,value", "--tsv", "-H")
        self.assertEqual(done.stdout, b"v\t2\nw\t1\n", done.stderr)
        collections = json.loads(self.content("collections/000000000/worker_0_collections.json"))["collections"]
        self.assertEqual((collections["mine"]["tensor_names"], collections["other"]["tensor_names"]), (["w"], ["v"]))
        self.check_sound()

    def test_steps_of_a_mode_count_on(self):
        for step in (10, 20, 30):
            self.saved("--step", str(step), "-m", "train", "loss=1")
        self.saved("--step", "25", "-m", "eval", "loss=1")
        done = self.run_command("smd-ls", TRIAL, "--steps", "--columns", "mode,mode_step,step", "--tsv", "-H")
        self.assertEqual(sorted(done.stdout.splitlines()),
                         [b"EVAL\t0\t25", b"TRAIN\t0\t10", b"TRAIN\t1\t20", b"TRAIN\t2\t30"], done.stderr)

    def test_end(self):
        done = self.save("--end")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"no such trial to end", done.stderr)
        self.assertEqual(self.keys(), [])
        self.saved("--step", "1", "w=1")
        self.assertNotIn("training_job_end.ts", self.keys())
        self.saved("--end")
        self.assertIn("training_job_end.ts", self.keys())
        self.assertEqual(self.run_command("smd-wait", TRIAL, "--end", "--timeout", "0").returncode, 0)


class Refused(Writing):
    def fails(self, text, *words, status=3, trial=TRIAL, **environment):
        for verbosity in ((), ("-vv",)):
            done = self.save("--step", "0", "w=1", "--end", *words, *verbosity, trial=trial, **environment)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(text.encode(), done.stderr)
            self.assertNotIn(SECRET.encode(), done.stderr + done.stdout)
            self.assertNotIn(b"THE-TOKEN", done.stderr + done.stdout)
        return done.stderr

    def test_messages(self):
        self.fails("there is no bucket 'no-such-bucket'", trial="s3://no-such-bucket/x")
        self.fails("should look like s3://bucket/prefix", status=2, trial="s3://")
        self.fails("the secret key of the environment does not belong", AWS_SECRET_ACCESS_KEY="x" * 40)
        self.fails("no AWS credentials", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
        self.fails("access is denied to unsigned requests", "--no-sign-request")
        self.fails("--request-payer", "--request-payer", "requester", "--no-sign-request", status=2)
        self.fails("is not one of requester", "--request-payer", "owner", status=2)
        self.server.faults({"match": "^PUT", "times": -1, "act": "error", "status": 403, "code": "AccessDenied"})
        self.fails(f"{TRIAL}/events/000000000000/000000000000_worker_0.tfevents: cannot be written: access is denied to "
                   "the credentials of the environment")
        self.server.faults({"match": "^PUT", "times": -1, "act": "error", "status": 400, "code": "ExpiredToken"})
        self.fails("cannot be written: the credentials of the environment have expired")
        # If it cannot be determined whether an object exists, nothing is uploaded over it.
        self.server.faults({"match": "list-type.*index", "times": -1, "act": "error", "status": 403, "code": "AccessDenied"})
        self.fails("cannot tell whether it is there: access is denied")
        self.assertEqual([key for key in self.keys() if not key.startswith("collections/")], [])

    def test_requester_pays(self):
        server = Server(self.root, "--requester-pays", "bucket")
        self.addCleanup(server.close)
        there = {"AWS_ENDPOINT_URL": server.url}
        self.fails("access is denied", **there)
        self.saved("--step", "0", "--request-payer", "requester", "w=1", **there)
        self.assertEqual(self.run_command("smd-ls", TRIAL, **there).returncode, 3)
        done = self.run_command("smd-tensor", "--request-payer", "requester", TRIAL, "w", "-s", "0", "-H", "--columns", "value", **there)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, b"1"), done.stderr)

    def test_web_identity(self):
        """The credentials of a pod: a token in a file, and the names of a role and a session."""
        server = Server(self.root, "--key", "ASIAPOD:pod-secret-0123456789:pod-token", "--serve-key", "ASIAPOD",
                        "--web-identity", "THE-TOKEN-OF-THE-POD")
        self.addCleanup(server.close)
        token = os.path.join(self.folder, "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write("THE-TOKEN-OF-THE-POD")
        pod = {"AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
               "AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:aws:iam::1:role/pod",
               "AWS_ROLE_SESSION_NAME": "pod-1", "AWS_REGION": "us-east-1"}
        done = self.save("--step", "0", "w=1", "-vv", **pod)
        self.assertEqual(done.returncode, 0, done.stderr)
        for secret in (b"THE-TOKEN", b"pod-secret", b"pod-token"):
            self.assertNotIn(secret, done.stderr)
        self.assertEqual(self.run_command("smd-tensor", TRIAL, "w", "-s", "0", "-H", "--columns", "value", **pod).stdout.strip(), b"1")
        with open(token, "w", encoding="utf-8") as file:
            file.write("THE-TOKEN-OF-ANOTHER")
        self.fails("cannot take on the role 'arn:aws:iam::1:role/pod': status 400 "
                   "InvalidIdentityToken", **pod)

    def test_fips(self):
        """The requested host, as a proxy sees it."""
        proxy = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(proxy.close)
        asked = []

        def serve():
            while True:
                try:
                    connection, _ = proxy.accept()
                except OSError:
                    return
                with connection:
                    asked.append(connection.recv(4096).split(b"\r\n")[0])
                    connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        away = {"AWS_ENDPOINT_URL": "", "AWS_MAX_ATTEMPTS": "1", "AWS_REGION": "us-west-2",
                "https_proxy": "http://127.0.0.1:%d" % proxy.getsockname()[1]}
        for value, host in (("true", b"my-bucket.s3-fips.us-west-2.amazonaws.com:443"),
                            ("false", b"my-bucket.s3.us-west-2.amazonaws.com:443")):
            for command in (("smd-ls", "s3://my-bucket/x"), ("smd-save", "s3://my-bucket/x", "--step", "0", "w=1")):
                asked.clear()
                self.assertEqual(self.run_command(*command, AWS_USE_FIPS_ENDPOINT=value, **away).returncode, 3)
                self.assertEqual(asked, [b"CONNECT " + host + b" HTTP/1.1"])
        self.fails("AWS_USE_FIPS_ENDPOINT 'yes' is neither true nor false", AWS_USE_FIPS_ENDPOINT="yes")


class Faults(Writing):
    """Each request of a job fails: permanently, or once."""
    ACTS = ({"act": "reset"}, {"act": "reset-upload"}, {"act": "flip-upload"}, {"act": "lose"},
            {"act": "error", "status": 500, "code": "InternalError"})
    JOB = ("--jsonl", "--end")
    STEPS = range(3)

    def setUp(self):
        super().setUp()
        self.saved(*self.JOB, feed=lines(self.STEPS))
        self.whole = self.keys()
        self.requests = len(self.server.log())
        self.assertEqual(self.steps(), list(self.STEPS))
        self.clear()

    def clear(self):
        for key in self.keys():
            os.remove(os.path.join(self.bucket, "job/debug-output", key))

    def test_for_good(self):
        for act in self.ACTS:
            for number in range(self.requests):
                with self.subTest(act=act, request=number):
                    self.server.faults({**act, "skip": number, "times": -1})
                    done = self.save(*self.JOB, feed=lines(self.STEPS), AWS_MAX_ATTEMPTS="1")
                    self.server.faults()
                    if act["act"] == "flip-upload" and done.returncode == 0:
                        self.assertEqual(self.keys(), self.whole)  # later requests have no body, so nothing can change
                        self.clear()
                        continue
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertIn(TRIAL.encode(), done.stderr)
                    self.check_sound()
                    lost = act["act"] == "lose"  # executed, but without an answer
                    self.assertEqual("training_job_end.ts" in self.keys(), lost and number == self.requests - 1)
                    if number == self.requests - 1:  # the end marker: everything else exists
                        self.assertEqual([key for key in self.whole if key not in self.keys()],
                                         [] if lost else ["training_job_end.ts"])
                    self.clear()
            self.clear()

    def test_once(self):
        for act in self.ACTS:
            for number in range(self.requests):
                with self.subTest(act=act, request=number):
                    self.server.faults({**act, "skip": number, "times": 1})
                    self.saved(*self.JOB, feed=lines(self.STEPS))
                    self.assertEqual(self.keys(), self.whole)
                    self.check_sound()
                    self.clear()

    def test_within_an_upload_in_parts(self):
        array = os.path.join(self.folder, "w.npy")
        write_npy(array, 18_000_000)
        for match in ("uploads=", "partNumber=3", "^POST .*uploadId"):
            self.server.faults({"match": match, "act": "reset-upload" if "part" in match else "reset", "times": -1})
            done = self.save("--step", "0", "w=@" + array, "--end", AWS_MAX_ATTEMPTS="1")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertEqual([key for key in self.keys() if not key.startswith("collections/")], [], match)

    def test_killed(self):
        for number in range(1, self.requests + 1):
            with self.subTest(requests=number):
                process = subprocess.Popen(["smd-save", TRIAL, *self.JOB], env=self.environment(), stdin=subprocess.PIPE)
                process.stdin.write(lines(self.STEPS))
                process.stdin.close()
                asked = 0
                while asked < number and process.poll() is None:
                    asked += len(self.server.log())
                process.kill()
                process.wait()
                self.check_sound()
                self.clear()
                self.server.log()


class SecondOpinion(Writing):
    """botocore reads what smd-save wrote, and the commands read what botocore uploaded: otherwise client and server
    might share a mistake."""

    def test_botocore(self):
        try:
            import botocore.config
            import botocore.session
        except ImportError:
            self.skipTest("python3-botocore is not installed")
        try:
            config = botocore.config.Config(request_checksum_calculation="when_required")
        except TypeError:  # an older version, which adds no checksums by default
            config = botocore.config.Config()
        s3 = botocore.session.get_session().create_client(
            "s3", region_name="us-east-1", endpoint_url=self.server.url, aws_access_key_id=KEY,
            aws_secret_access_key=SECRET, config=config)
        source = os.path.join(OPTIONS.trials, "pt_digits_train_eval")
        for folder, _, names in os.walk(source):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    s3.put_object(Bucket="bucket", Key="boto/" + os.path.relpath(path, source), Body=file.read())
        command = ("smd-tensor", "-s", ":", "-w", "all", "--jsonl", "--columns", "tensor,step,worker,value")
        expected = self.run_command(*command, source).stdout
        self.assertGreater(len(expected), 10_000)
        self.assertEqual(self.run_command(*command, "s3://bucket/boto").stdout, expected)

        parts = [b"a" * (5 << 20), b"b" * 10]
        begun = s3.create_multipart_upload(Bucket="bucket", Key="parts")["UploadId"]
        self.assertEqual(len(s3.list_multipart_uploads(Bucket="bucket")["Uploads"]), 1)
        etags = [s3.upload_part(Bucket="bucket", Key="parts", UploadId=begun, PartNumber=number, Body=body)["ETag"]
                 for number, body in enumerate(parts, 1)]
        s3.complete_multipart_upload(Bucket="bucket", Key="parts", UploadId=begun, MultipartUpload={
            "Parts": [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(etags, 1)]})
        self.assertEqual(s3.get_object(Bucket="bucket", Key="parts")["Body"].read(), b"".join(parts))
        given_up = s3.create_multipart_upload(Bucket="bucket", Key="given-up")["UploadId"]
        s3.abort_multipart_upload(Bucket="bucket", Key="given-up", UploadId=given_up)

        array = os.path.join(self.folder, "w.npy")
        write_npy(array, 18_000_000)
        self.saved("--step", "0", "w=@" + array)
        key = "job/debug-output/events/000000000000/000000000000_worker_0.tfevents"
        there = s3.get_object(Bucket="bucket", Key=key)
        self.assertRegex(there["ETag"], "-5\"$")
        body = there["Body"].read()
        with open(array, "rb") as file:
            self.assertIn(file.read()[128:], body)
        self.assertEqual(s3.list_multipart_uploads(Bucket="bucket").get("Uploads", []), [])
        # A permanently failed upload is removed.
        self.server.faults({"match": "partNumber=2", "act": "error", "status": 500, "code": "InternalError", "times": -1})
        self.assertEqual(self.save("--step", "1", "w=@" + array, AWS_MAX_ATTEMPTS="1").returncode, 3)
        self.assertEqual(s3.list_multipart_uploads(Bucket="bucket").get("Uploads", []), [])


if __name__ == "__main__":
    main(__doc__)
