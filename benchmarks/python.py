#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python.py --build DIR [--python PYTHON] [--turns N]: the module smd and rules in Python, as ratios to what stands beside
them, measured in turns in one run. DIR is a release build with SMD_BUILD_PYTHON and generate_logs (the target
`benchmarks`); the best of all turns counts."""

import argparse
import os
import subprocess
import sys
import tempfile
import time

IN_PROCESS = """
import sys, time, numpy
import smd
best = {}
for turn in range(int(sys.argv[2])):
    for name, options in (("two arrays", {}), ("with times", {"wall_time": True})):
        begin = time.perf_counter()
        log = smd.open(sys.argv[1])
        name_of, = log
        arrays = log[name_of].values(**options)
        best[name] = min(best.get(name, 9), time.perf_counter() - begin)
        assert all(len(array) == 1_000_000 for array in arrays)
        del log, arrays
    try:
        import pandas
        begin = time.perf_counter()
        pandas.DataFrame(smd.open(sys.argv[1]).scalars(wide=True))
        best["DataFrame"] = min(best.get("DataFrame", 9), time.perf_counter() - begin)
    except ImportError:
        pass
print(best)
"""
RULE = """
from smdebug.rules import Rule
class Never(Rule):
    def invoke_at_step(self, step):
        return False
"""
REFERENCE = """
import sys, time
from smdebug.trials import create_trial
begin = time.perf_counter()
trial = create_trial(sys.argv[1])
trial.tensor(sys.argv[2]).value(trial.steps()[-1])
print(time.perf_counter() - begin)
"""


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.bin = os.path.join(options.build, "bin")
        package = os.path.join(options.build, "lib/python3/dist-packages")
        self.environment = {**os.environ, "PYTHONPATH": package}
        subprocess.run(self.python("-m", "compileall", "-q", package), check=True)  # as when it is installed

    def python(self, *arguments):
        return [self.options.python, *arguments]

    def tool(self, name, *arguments):
        return [os.path.join(self.bin, name), *arguments]

    def run(self, command):
        begin = time.perf_counter()
        subprocess.run(command, stdout=subprocess.PIPE, check=True, env=self.environment)
        return time.perf_counter() - begin

    def best(self, *commands, turns=None):
        """Returns the best times of commands that are run in turns."""
        times = [[self.run(command) for command in commands] for _ in range(turns or self.options.turns)]
        return [min(column) for column in zip(*times)]

    @staticmethod
    def row(name, ours, limit, what):
        print(f"{name:52} {ours * 1000:9.2f} ms {limit * 1000:9.2f} ms  {ours / limit:5.2f}  "
              f"{'ok' if ours <= limit else 'MISSED'}  {what}", flush=True)

    def start(self):
        empty, ours, library, numpy = self.best(
            *(self.python("-c", program) for program in ("pass", "import smd", "import smd; smd.Trial", "import numpy")),
            turns=4 * self.options.turns)
        self.row("import smd", ours - empty, 0.004, "beside python3 -c pass, at most 4 ms")
        print(f"{'with the library, which the first use loads':52} {(library - empty) * 1000:9.2f} ms")
        loaded = subprocess.run(self.python("-c", "import smd, sys; print('numpy' in sys.modules)"), env=self.environment,
                                stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        print(f"{'it loads NumPy':52} {loaded}")
        return numpy

    def last_loss(self, numpy):
        trial = os.path.join(self.folder, "trial")
        program = ("from smd.compat.smdebug import Hook\nimport sys\nhook = Hook(sys.argv[1])\n"
                   "for step in range(20000):\n  hook.save_scalar('loss', step)\n  hook.next_step()\nhook.close()\n")
        self.run(self.python("-c", program, trial))
        last = "import smd, sys; print(smd.open(sys.argv[1], newest=1)['scalar/loss'].value())"
        ours, tensor = self.best(self.python("-c", last, trial),
                                 self.tool("smd-tensor", trial, "-n", "scalar/loss", "-s", "last"))
        self.row("the last loss of 20,000 steps", ours, numpy + 2 * tensor, "import numpy + 2 x smd-tensor -s last")
        if subprocess.run(self.python("-c", "import smdebug"), stderr=subprocess.DEVNULL, check=False).returncode != 0:
            print(f"{'against the reference':52} not measured: smdebug is not installed")
            return trial
        reference = float(subprocess.run(self.python("-c", REFERENCE, trial, "scalar/loss"), stdout=subprocess.PIPE,
                                         text=True, check=True).stdout)
        self.row("against the reference's Trial", ours, reference / 100, "a hundredth of it")
        return trial

    def columns(self):
        log = os.path.join(self.folder, "log")
        self.run([os.path.join(self.options.build, "benchmarks", "generate_logs"), "--tags", "1", "--steps", "1000000", log])
        listing, = self.best(self.tool("smd-ls", log))
        best = eval(subprocess.run(self.python("-c", IN_PROCESS, log, str(self.options.turns)), stdout=subprocess.PIPE,
                                   text=True, check=True, env=self.environment).stdout)
        again, = self.best(self.tool("smd-ls", log))
        listing = min(listing, again)
        self.row("10^6 scalars as two arrays, in process", best["two arrays"], 1.5 * listing, "1.5 x smd-ls of the log")
        self.row("the same with times", best["with times"], 2 * listing, "2 x smd-ls")
        if "DataFrame" in best:
            self.row("as a DataFrame of pandas", best["DataFrame"], 1.5 * listing, "1.5 x smd-ls")
        else:
            print(f"{'as a DataFrame of pandas':52} not measured: pandas is not installed")

    def rule(self, trial):
        path = os.path.join(self.folder, "never.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(RULE)
        command = self.tool("smd-rule", trial, "--python", path, "--python-command", self.options.python)
        whole, one = self.best(command, [*command, "-s", "0"])
        self.row("a Python rule's step", (whole - one) / 19999, 50e-6, "50 us, reads and its own work apart")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--python", default="/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable)
    parser.add_argument("--turns", type=int, default=7)
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        print(f"{'':52} {'ours':>12} {'limit':>12}  ratio")
        trial = bench.last_loss(bench.start())
        bench.columns()
        bench.rule(trial)


if __name__ == "__main__":
    main()
