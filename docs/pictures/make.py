#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make.py --tools DIR: makes twenty-runs.png, the page of twenty invented runs, with smd-report, Chromium and ImageMagick. Each run is a
metrics.csv and an hparams.yaml as Lightning writes them; one run has a spike, one a NaN, some overfit."""

import argparse
import math
import os
import random
import subprocess
import tempfile

SIZE = (1080, 1150)


def write_run(folder, number):
    chance = random.Random(number)
    rate = [1e-4, 3e-4, 1e-3, 3e-3][number % 4]
    dropout = [0.0, 0.1, 0.2, 0.3, 0.5][number % 5]
    os.makedirs(folder)
    with open(os.path.join(folder, "hparams.yaml"), "w", encoding="utf-8") as file:
        file.write(f"lr: {rate}\ndropout: {dropout}\nbatch_size: 64\n")
    with open(os.path.join(folder, "metrics.csv"), "w", encoding="utf-8") as file:
        file.write("epoch,step,train/loss,val/loss\n")
        for epoch in range(60):
            fall = 2.2 * math.exp(-epoch * (0.03 + 18 * rate * (1 - 120 * rate)))
            train = 0.12 + 0.25 * dropout + fall + chance.gauss(0, 0.005)
            overfit = max(0.0, 0.15 - dropout) * 0.0018 * max(0, epoch - 15)**1.6
            val = 0.13 + 0.25 * dropout + fall + overfit + chance.gauss(0, 0.005)
            if number == 7 and epoch == 31:
                train = 61.0
            if number == 15 and epoch >= 44:
                train = val = math.nan
            file.write(f"{epoch},{epoch * 100},{train:.5f},{val:.5f}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", required=True)
    tools = os.path.abspath(parser.parse_args().tools)
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        names = [f"sweep/run_{number:02}" for number in range(1, 21)]
        for number, name in enumerate(names, 1):
            write_run(os.path.join(folder, name), number)
        subprocess.run([os.path.join(tools, "smd-report"), *names, "-r", "ExplodingTensor,Overfit,LossNotDecreasing", "-o",
                        "page.html"], cwd=folder, check=False)
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        f"--user-data-dir={folder}/profile", f"--window-size={SIZE[0]},{SIZE[1]}",
                        f"--screenshot={folder}/page.png", f"file://{folder}/page.html"], check=True,
                       stderr=subprocess.DEVNULL)
        subprocess.run(["convert", f"{folder}/page.png", "+dither", "-colors", "64", f"{here}/twenty-runs.png"], check=True)


if __name__ == "__main__":
    main()
