#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers that never answer: a signal or a deadline ends every command, with the status that the contract gives it.
Nothing here lets the server go on, so a command that waits for it never ends."""

import contextlib
import os
import signal
import socket
import subprocess
import time

from s3_case import Case, main

FOREVER = {"times": -1}
HANG = 100  # seconds: a command that has not ended by then is waiting for the server
TRIAL = "s3://recorded/pt_digits_train_eval"
RULE = ("smd-rule", "-r", "Threshold", "-p", "collection_names=losses", "-p", "reduction=max", "-p", "operator=>", "-p",
        "threshold=1e9")
FOLLOWING = (("smd-ls", "--steps"), ("smd-tensor", "-c", "losses", "-s", ":"),
             ("smd-reduce", "-c", "losses"), RULE)
#: Of a trial that is opened: the root, the collections, an index file, the events.
REQUESTS = ("list-type", "GET .*/collections/.*json", "GET .*/index/.*json", "GET .*/events/")


class Stopped(Case):
    def start(self, *command, **environment):
        self.server.log()  # requests that another one had under way when it was ended
        process = self.start_command(*command, **environment)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        process.kill()
        process.communicate()

    def reach(self, process, match="", act="hang"):
        """Waits until the server has received a request."""
        self.until(process, lambda entries: any(entry["act"] == act and match in entry["target"] for entry in entries))

    def check_ends(self, process, status):
        try:
            out, err = process.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            self.fail("waits for the server")
        self.assertEqual(process.returncode, status, err)
        return out, err

    def check_signal(self, process, number=signal.SIGTERM):
        process.send_signal(number)
        return self.check_ends(process, -number)

    def hanging_requests(self, *more):
        """Yields each kind of request, while the server never answers it, with each command that makes it: of those that
        follow, and of `more`."""
        for match in REQUESTS:
            self.server.faults({"match": match, "act": "hang", **FOREVER})
            for command in (*FOLLOWING, *more):
                if not (match.endswith("events/") and command[1].startswith("--")):  # which reads no values
                    yield match, command

    def listener(self):
        """A port that accepts connections and sends nothing, not even to begin TLS."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        listener.settimeout(HANG)
        return listener, f"127.0.0.1:{listener.getsockname()[1]}"


class Deadlines(Stopped):
    """After --timeout: 124, whatever the command is waiting for."""

    def test_requests(self):
        for match, command in self.hanging_requests():
            with self.subTest(match=match, command=command[0]):
                process = self.start(*command, "-F", "--timeout", "0.5", TRIAL)
                _, err = self.check_ends(process, 124)
                self.assertIn(b"Timeout: " + TRIAL.encode(), err)
                self.assertNotIn(b"Network", err)

    def test_wait(self):
        for match in REQUESTS[:3]:
            with self.subTest(match=match):
                self.server.faults({"match": match, "act": "hang", **FOREVER})
                process = self.start("smd-wait", "--timeout", "0.5", "--columns", "state", TRIAL)
                out, err = self.check_ends(process, 124)
                self.assertEqual(out, b"NOT_YET_AVAILABLE\n")
                self.assertIn(b"Timeout: " + TRIAL.encode(), err)

    def test_two_trials(self):
        """The second request may take only the remaining time."""
        self.server.faults({"act": "hang", **FOREVER})
        self.check_ends(self.start("smd-wait", "--timeout", "0.5", TRIAL, "s3://recorded/dtypes"), 124)
        self.check_ends(self.start("smd-tensor", "-F", "--timeout", "0.5", TRIAL, "s3://recorded/dtypes", "-n", "x"), 124)

    def test_trickle(self):
        self.server.faults({"match": "GET .*/index/.*json", "act": "trickle", **FOREVER})
        self.check_ends(self.start("smd-wait", "--timeout", "0.5", "--end", TRIAL), 124)
        self.check_ends(self.start("smd-tensor", "-F", "--timeout", "0.5", TRIAL, "-c", "losses"), 124)

    def test_between_attempts(self):
        self.server.faults({"act": "error", "status": 503, "headers": {"Retry-After": "20"}, **FOREVER})
        self.check_ends(self.start("smd-wait", "--timeout", "0.5", TRIAL, AWS_MAX_ATTEMPTS="100"), 124)

    def test_tls(self):
        _, place = self.listener()
        self.check_ends(self.start("smd-wait", "--timeout", "0.5", TRIAL, AWS_ENDPOINT_URL="https://" + place), 124)

    def test_credentials(self):
        _, place = self.listener()
        config = os.path.join(self.folder, "config")
        with open(config, "w", encoding="utf-8") as file:
            file.write("[profile role]\nrole_arn=arn:aws:iam::1:role/r\ncredential_source=Environment\n"
                       "[profile command]\ncredential_process=sleep 1000\n")
        keys = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
        for more in ({"AWS_PROFILE": "role", "AWS_ENDPOINT_URL_STS": "http://" + place},
                     {"AWS_PROFILE": "command"},
                     {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://" + place + "/c"},
                     {"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://" + place}):
            with self.subTest(**more):
                # A profile from an option takes precedence over the keys in the environment.
                words = ("--profile", more["AWS_PROFILE"]) if "AWS_PROFILE" in more else ()
                environment = {**({} if words else keys), "AWS_CONFIG_FILE": config, **more}
                process = self.start("smd-wait", "--timeout", "0.5", *words, TRIAL, **environment)
                _, err = self.check_ends(process, 124)
                self.assertNotIn(b"AccessDenied", err)

    def test_asked_once(self):
        """A timeout of 0 checks once, for as long as an answer takes."""
        self.server.faults({"match": "list-type", "act": "delay", "seconds": 0.3, **FOREVER})
        self.check_ends(self.start("smd-wait", "--timeout", "0", "--end", TRIAL), 0)

    def test_job_that_has_ended(self):
        """No time is left to check for further steps: the end marker counts."""
        command = ("smd-tensor", "-c", "losses", "-s", ":", "--columns", "step,value")
        expected = self.run_command(*command, TRIAL)
        followed = self.run_command(*command, "-F", "--timeout", "10", TRIAL, SMDEBUG_TRAINING_END_DELAY_REFRESH="1000")
        self.assertEqual((followed.returncode, followed.stdout), (0, expected.stdout), followed.stderr)


class Idle(Stopped):
    def test_no_step_comes(self):
        """A listing that lasts longer than --idle has seen no step."""
        process = self.start("smd-tensor", "-F", "--idle", "0.5", "--interval", "0.02", "-c", "losses", "-s", ":",
                             "s3://recorded/mw2_one_writer_running")
        self.until(process, lambda entries: sum("list-type" in entry["target"] for entry in entries) >= 4)
        self.server.faults({"act": "hang", **FOREVER})
        self.check_ends(process, 124)

    def test_reads_that_stall(self):
        """A server that does not answer for as long as --idle says ends the following, whatever was asked of it."""
        for match in REQUESTS:
            self.server.faults({"match": match, "act": "hang", **FOREVER})
            for command in FOLLOWING:
                if match.endswith("events/") and command[1] == "--steps":
                    continue
                with self.subTest(match=match, command=command[0]):
                    begun = time.monotonic()
                    _, err = self.check_ends(self.start(*command, "-F", "--idle", "0.7", TRIAL), 124)
                    self.assertIn(b"Timeout: " + TRIAL.encode(), err)
                    self.assertNotIn(b"Network", err)
                    # A server that says nothing is given up after 20 s, three times over.
                    self.assertLess(time.monotonic() - begun, 20)

    def test_answers_go_on(self):
        """A step of many records that takes longer than --idle altogether is read to its end."""
        self.server.faults({"match": "GET .*/events/", "act": "delay", "seconds": 0.3, **FOREVER})
        command = ("smd-tensor", "-c", "losses", "-s", ":", "--columns", "step,value", "-j1")
        expected = self.run_command(*command, TRIAL)
        followed = self.run_command(*command, "-F", "--idle", "1.5", TRIAL)
        self.assertEqual((followed.returncode, followed.stdout), (0, expected.stdout), followed.stderr)


class Signals(Stopped):
    def test_followed(self):
        for match, command in self.hanging_requests():
            with self.subTest(match=match, command=command[0]):
                process = self.start(*command, "-F", TRIAL)
                self.reach(process)
                _, err = self.check_signal(process)
                self.assertNotIn(b"Network", err)
                self.assertNotIn(b"Timeout", err)

    def test_every_signal(self):
        self.server.faults({"act": "hang", **FOREVER})
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            process = self.start("smd-tensor", "-F", TRIAL, "loss")
            self.reach(process)
            self.check_signal(process, number)

    def test_snapshot(self):
        for match, command in self.hanging_requests(("smd-wait", "--end")):
            with self.subTest(match=match, command=command[0]):
                process = self.start(*command, TRIAL)
                self.reach(process)
                self.check_signal(process)

    def test_reports_are_closed(self):
        """A rule that was interrupted during a request has no result, and the complete report says so."""
        report = os.path.join(self.folder, "report.xml")
        self.server.faults({"match": "GET .*/events/", "skip": 3, "act": "hang", **FOREVER})
        for follow in ((), ("-F",)):
            process = self.start(*RULE, *follow, "--columns", "status", "--report", "junit=" + report, TRIAL)
            self.reach(process)
            out, _ = self.check_signal(process)
            self.assertEqual(out, b"InProgress\n")
            with open(report, encoding="utf-8") as file:
                self.assertTrue(file.read().endswith("</testsuites>\n"))
            os.remove(report)
            self.server.faults({"match": "GET .*/events/", "skip": 3, "act": "hang", **FOREVER})

    def test_other_trial(self):
        other = "s3://recorded/dtypes"
        self.server.faults({"match": "dtypes", "act": "hang", **FOREVER})
        for follow in ((), ("-F",)):
            process = self.start("smd-rule", *follow, "-r", "SimilarAcrossRuns", "--other", other, TRIAL)
            self.reach(process)
            self.check_signal(process)

    def test_tls(self):
        listener, place = self.listener()
        process = self.start("smd-tensor", "-F", TRIAL, "loss", AWS_ENDPOINT_URL="https://" + place)
        with contextlib.closing(listener.accept()[0]):
            self.check_signal(process)

    def test_between_attempts(self):
        self.server.faults({"act": "error", "status": 503, "headers": {"Retry-After": "20"}, **FOREVER})
        process = self.start("smd-tensor", "-F", TRIAL, "loss", AWS_MAX_ATTEMPTS="100")
        self.reach(process, act="error")
        self.check_signal(process)


class Saving(Stopped):
    SAVE = ("smd-save", "s3://bucket/job", "--step", "1", "loss=1")

    def setUp(self):
        super().setUp()
        self.bucket = os.path.join(self.root, "bucket")
        os.mkdir(self.bucket)

    def keys(self):
        return sorted(name.split("_")[-1] for _, _, names in os.walk(self.bucket) for name in names)

    def test_a_server_that_takes_nothing(self):
        for match in ("PUT .*events", "PUT .*index", "PUT .*collections", "GET .*collections"):
            for act in ("hang", "hang-upload"):
                if act == "hang-upload" and match.startswith("GET"):
                    continue
                with self.subTest(match=match, act=act):
                    self.server.faults({"match": match, "act": act, **FOREVER})
                    process = self.start(*self.SAVE)
                    self.reach(process, act=act)
                    _, err = self.check_signal(process)
                    self.assertIn(b"WriteError: s3://bucket/job", err)  # the values to save are not saved
                    self.assertNotIn(b"Network", err)

    def test_the_end_marker(self):
        self.assertEqual(self.run_command(*self.SAVE).returncode, 0)
        self.server.faults({"match": "PUT .*training_job_end", "act": "hang", **FOREVER})
        process = self.start("smd-save", "s3://bucket/job", "--end")
        self.reach(process)
        self.check_signal(process)

    def test_what_had_come_is_put(self):
        """What had arrived is saved to a server that answers, although the signal came first."""
        gate = os.path.join(self.folder, "gate")
        self.server.faults({"match": "PUT .*events", "act": "gate", "file": gate, **FOREVER})
        process = subprocess.Popen(("smd-save", "s3://bucket/job", "--jsonl", "--end"), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment())
        self.addCleanup(self.end, process)
        process.stdin.write(b'{"step": 0, "tensor": "loss", "value": 1}\n{"step": 1, "tensor": "loss", "value": 2}\n')
        process.stdin.flush()
        self.until(process, lambda entries: any("collections" in entry["target"] for entry in entries))
        process.send_signal(signal.SIGTERM)
        with open(gate, "w", encoding="utf-8"):
            pass
        self.check_ends(process, -signal.SIGTERM)
        self.assertIn("000000000000", os.listdir(os.path.join(self.bucket, "job", "events")))
        self.assertFalse(os.path.exists(os.path.join(self.bucket, "job", "training_job_end.ts")))


class Listings(Stopped):
    def test_a_token_that_comes_again(self):
        for command in (("smd-ls",), ("smd-ls", "--check"), ("smd-tensor", "-c", "losses"), ("smd-reduce",), RULE,
                        ("smd-wait", "--timeout", "0")):
            for match in ("list-type", "list-type.*index", "list-type.*collections"):
                with self.subTest(command=command, match=match):
                    self.server.faults({"match": match, "act": "stuck", **FOREVER})
                    done = self.run_command(*command, TRIAL)
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertRegex(done.stderr, b"Network: .*the listing gives the same continuation token again")

    def test_a_body_that_is_shorter_than_listed(self):
        whole = self.run_command("smd-ls", "-l", TRIAL)
        for match in ("GET .*/index/.*json", "GET .*/collections/.*json"):
            with self.subTest(match=match):
                self.server.faults({"match": match, "act": "short", "times": 1})
                once = self.run_command("smd-ls", "-l", TRIAL)
                self.assertEqual((once.returncode, once.stdout), (0, whole.stdout), once.stderr)
                self.server.log()
                self.server.faults({"match": match, "act": "short", **FOREVER})
                always = self.run_command("smd-ls", "-l", TRIAL)
                self.assertEqual(always.returncode, 3, always.stderr)
                self.assertRegex(always.stderr, rb"Network: .*the answer has \d+ bytes, and the listing says \d+")
                asked = [entry["target"] for entry in self.server.log() if entry["act"] == "short"]
                self.assertEqual({asked.count(target) % 3 for target in asked}, {0})  # three attempts for each request


if __name__ == "__main__":
    main(__doc__)
