#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""s3.py --tools DIR: requests, bytes and times of reading a trial of 1,000 steps from the test server, with 20 ms before
each answer. The peers, in the same run: a reader that sends the same requests one by one; a reader that lists the event
files for each value, as the reference does; and `curl --parallel --parallel-max 16` for 2,000 objects, and for the same
requests as for 1,000 trials.
Needs curl. Nothing leaves this machine."""

import argparse
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "..", "tests", "fixtures", "good-pytorch-digits")


def make_trial(folder, steps):
    """One step of a recorded trial, repeated; its index file and the paths in it are adapted."""
    shutil.copytree(os.path.join(MODEL, "collections"), os.path.join(folder, "collections"))
    source = os.path.join(MODEL, "index", "000000000", sorted(os.listdir(os.path.join(MODEL, "index", "000000000")))[1])
    with open(source, encoding="ascii") as file:
        index = json.load(file)
    with open(os.path.join(MODEL, index["meta"]["event_file_name"]), "rb") as file:
        events = file.read()
    for step in range(steps):
        name = f"events/{step:012}/{step:012}_worker_0.tfevents"
        index["meta"] = {"mode": "TRAIN", "mode_step": step, "event_file_name": name}
        os.makedirs(os.path.join(folder, os.path.dirname(name)))
        with open(os.path.join(folder, name), "wb") as file:
            file.write(events)
        path = os.path.join(folder, "index", f"{step // 1000:09}", f"{step:012}_worker_0.json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            json.dump(index, file)
    with open(os.path.join(folder, "training_job_end.ts"), "w", encoding="ascii"):
        pass
    return next(item["tensorname"] for item in index["tensor_payload"] if item["tensorname"].endswith("Loss_output_0"))


class Bench:
    def __init__(self, tools, root, latency, jobs=None):
        self.tools = os.path.abspath(tools)
        self.jobs = ["--jobs", jobs] if jobs else []
        self.root = root
        self.log_file = os.path.join(root, "log")
        self.process = subprocess.Popen(
            [sys.executable, "-B", os.path.join(HERE, "..", "tests", "support", "s3_server.py"), self.root,
             "--anonymous", "--latency", str(latency), "--log", self.log_file, "--processes", "2"],
            stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())
        self.seen = 0

    def close(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        with open(self.log_file, encoding="utf-8") as file:
            entries = [json.loads(line) for line in file]
        new, self.seen = entries[self.seen:], len(entries)
        return new

    def command(self, *words):
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "AWS_EC2_METADATA_DISABLED": "true"}
        jobs = [] if "-j" in words else self.jobs
        start = time.monotonic()
        done = subprocess.run([os.path.join(self.tools, words[0]), "--endpoint-url", f"http://127.0.0.1:{self.port}",
                               "--no-sign-request", *jobs, *words[1:]], env=environment, stdout=subprocess.PIPE, check=True)
        return time.monotonic() - start, self.log(), done.stdout

    def sequential(self, entries):
        """The same requests, one by one over one connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        start = time.monotonic()
        for entry in entries:
            headers = {"Range": entry["headers"]["range"]} if "range" in entry["headers"] else {}
            connection.request("GET", entry["target"], headers=headers)
            connection.getresponse().read()
        connection.close()
        seconds = time.monotonic() - start
        self.log()
        return seconds

    def curl(self, entries):
        config = os.path.join(self.root, "curl-config")
        with open(config, "w", encoding="utf-8") as file:
            for entry in entries:
                file.write(f'url = "http://127.0.0.1:{self.port}{entry["target"]}"\noutput = "/dev/null"\n')
        start = time.monotonic()
        subprocess.run(["curl", "--silent", "--no-progress-meter", "--parallel", "--parallel-max", "16", "--config", config], check=True,
                       stderr=subprocess.DEVNULL)
        seconds = time.monotonic() - start
        self.log()
        return seconds


def timed(seconds):
    """Times in the form of run.py: the best and the median."""
    return {"best": min(seconds), "median": statistics.median(seconds), "rounds": len(seconds)}


def say(name, **measurements):
    print("  " + name.ljust(46), "  ".join(f"{key} {value}" for key, value in measurements.items()), flush=True)


def measure(tools, quick=False, jobs=None):
    """Returns the times of `timed` by name; `last_requests` is a number. Prints the measurements."""
    steps, objects, trials, latency = (100, 200, 20, 5) if quick else (1000, 2000, 1000, 20)
    root = tempfile.mkdtemp(prefix="smd-s3-")
    bench = None
    try:
        loss = make_trial(os.path.join(root, "bench", "trial"), steps)
        make_trial(os.path.join(root, "bench", "long"), objects)
        trial = "s3://bench/trial"
        bench = Bench(tools, root, latency, jobs)
        found = {}

        def measurements(entries, seconds):
            return {"requests": len(entries), "bytes": sum(entry["bytes"] for entry in entries), "s": f"{seconds:.2f}"}

        seconds, log, _ = bench.command("smd-ls", "--summary", trial)
        say(f"open a trial of {steps} steps, all index files", **measurements(log, seconds))
        seconds, log, _ = bench.command("smd-tensor", "-s", "last", trial, loss)
        say("one value at the last step", **measurements(log, seconds))
        found["last_requests"] = len(log)
        seconds, log, out = bench.command("smd-tensor", "-s", ":", "--tsv", "-H", trial, loss)
        assert out.count(b"\n") == steps, out.count(b"\n")
        say(f"{steps} values of one scalar", **measurements(log, seconds))
        found["values"] = timed([seconds])
        found["one_by_one"] = timed([bench.sequential(log)])
        # The reference: a listing of the event files (a page for each 1,000) before each value.
        listing = {"target": "/bench/?list-type=2&prefix=trial%2Fevents%2F", "headers": {}}
        values = [entry for entry in log if "/events/" in entry["target"]]
        others = [entry for entry in log if "/events/" not in entry["target"]]
        sample = 50
        part = bench.sequential([each for value in values[:sample] for each in (listing, value)])
        found["reference"] = timed([bench.sequential(others) + part * len(values) / sample])
        ours, peer = [], []
        for _ in range(3):
            seconds, log, _ = bench.command("smd-ls", "-j", "16", "--summary", "s3://bench/long")  # as many as curl
            entries = [entry for entry in log if "/index/" in entry["target"]]
            assert len(entries) == objects, len(entries)
            ours.append(seconds)
            peer.append(bench.curl(entries))
        found["objects"], found["curl"] = timed(ours), timed(peer)
        runs = [f"run-{run:04}" for run in range(trials)]
        for run in runs:
            make_trial(os.path.join(root, "bench", run), 2)
        ours, peer = [], []
        for _ in range(3):
            seconds, log, _ = bench.command("smd-ls", "-j", "16", "--summary", *[f"s3://bench/{run}" for run in runs])
            ours.append(seconds)
            peer.append(bench.curl(log))
        say(f"{trials} trials of 2 steps", **measurements(log, min(ours)))
        found["fleet"], found["curl_fleet"] = timed(ours), timed(peer)
        return found
    finally:
        if bench is not None:
            bench.close()
        shutil.rmtree(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, metavar="DIR", help="folder of smd-ls and smd-tensor")
    parser.add_argument("--quick", action="store_true", help="small, to check that it works")
    parser.add_argument("--jobs", metavar="N", help="requests at once; default: the commands' own")
    options = parser.parse_args()
    for name, measurement in measure(options.tools, options.quick, options.jobs).items():
        print(f"{name:14} {measurement if isinstance(measurement, int) else measurement['best']}")


if __name__ == "__main__":
    main()
