#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""svg_test.py --tools DIR --trials DIR: the pictures of -f svg are well-formed, hold names as text, and show the numbers
that the same command prints as rows: what is drawn is scaled back from the ticks of the axes."""

import argparse
import base64
import bisect
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zlib

TRIALS = ""
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TERM": "dumb"}
SVG = "{http://www.w3.org/2000/svg}"
NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
HOSTILE = ["</script><img src=x onerror=alert(1)>", "]]>", "\"quotes' & <b>&amp;", "ab\u202ecd\u200f", "a\x01\x1b[31m\x7f",
           "n" * 10000, "重み/größe", "<!--", "%s%n{}", "--", "\ufffe"]


def run(*command, status=0, stdin=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, env=ENVIRONMENT,
                          input=stdin)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(command)}: {done.returncode}, not {status}: {done.stderr.decode()}")
    return done.stdout, done.stderr.decode()


def rows(*command):
    return [json.loads(line) for line in run(*command, "--jsonl")[0].splitlines()]


def number(value):
    return NON_FINITE.get(value, value) if isinstance(value, str) else value


def parse(svg):
    """Well-formed, and nothing that runs or that is fetched."""
    root = ElementTree.fromstring(svg)
    assert root.tag == SVG + "svg"
    allowed = {SVG + name for name in ("svg", "title", "desc", "style", "rect", "g", "text", "path", "image", "a")}
    for element in root.iter():
        assert element.tag in allowed, element.tag
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on") and name not in ("style", "id"), name
            if name.endswith("href"):
                assert value.startswith("data:image/png;base64,"), value[:40]
    style = root.find(SVG + "style").text
    assert "url(" not in style and "@import" not in style
    return root


def texts(element):
    return ["".join(text.itertext()) for text in element.iter(SVG + "text")]


def panels(root):
    return [group for group in root.iter(SVG + "g") if group.get("class") == "panel"]


def axis_of(panel, horizontal, log=False):
    """A function from a coordinate to a number, by the first and last tick of an axis."""
    ticks = []
    for text in panel.iter(SVG + "text"):
        if text.get("class") == "tick" and (text.get("text-anchor") == "middle") == horizontal:
            value = float(text.text)
            # The label of a y axis stands 4.5 below its line.
            ticks.append((float(text.get("x")) if horizontal else float(text.get("y")) - 4.5,
                          math.log10(value) if log else value))
    (x0, v0), (x1, v1) = ticks[0], ticks[-1]

    def back(place):
        value = v0 + (place - x0) / (x1 - x0) * (v1 - v0)
        return 10 ** value if log else value
    back.unit = abs((v1 - v0) / (x1 - x0))
    return back


def paths_of(panel, kind):
    """The paths of a kind for each curve, by the curve's name."""
    found = {}
    for group in panel.iter(SVG + "g"):
        title = group.find(SVG + "title")
        for path in group.findall(SVG + "path"):
            if title is not None and path.get("class").split()[0] == kind:
                found.setdefault(title.text, []).append(path.get("d"))
    return found


def lines_of(path):
    """The lines of a curve's path, as lists of places."""
    lines = []
    for command, x, y in re.findall(r"([Ml])(-?[\d.]+) (-?[\d.]+)", path):
        if command == "M":
            lines.append([])
        before = (0, 0) if command == "M" else lines[-1][-1]
        lines[-1].append((before[0] + float(x), before[1] + float(y)))
    return lines


def decode_png(url):
    """The pixels of a PNG with a palette and no filters, as rows of (red, green, blue, alpha)."""
    data = base64.b64decode(url.removeprefix("data:image/png;base64,"), validate=True)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        body = data[at + 4:at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(body)
        chunks[body[:4]] = body[4:]
        at += size + 12
    width, height, bits, kind = struct.unpack_from(">IIBB", chunks[b"IHDR"])
    assert (bits, kind) == (8, 3)
    colors = [tuple(chunks[b"PLTE"][i:i + 3]) for i in range(0, len(chunks[b"PLTE"]), 3)]
    alpha = chunks.get(b"tRNS", b"")
    pixels = zlib.decompress(chunks[b"IDAT"])
    assert len(pixels) == height * (width + 1)
    rows_of_pixels = [pixels[i * (width + 1):(i + 1) * (width + 1)] for i in range(height)]
    assert all(row[0] == 0 for row in rows_of_pixels)
    return [[(*colors[index], alpha[index] if index < len(alpha) else 255) for index in row[1:]]
            for row in rows_of_pixels]


class Pictures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="smd_svg_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self, name, saved):
        lines = "".join(json.dumps(row) + "\n" for row in saved)
        run("smd-save", self.path(name), "--jsonl", stdin=lines.encode())
        return self.path(name)

    def svg(self, *command):
        file = self.path("picture.svg")
        run(*command, "-f", "svg", "-o", file)
        with open(file, "rb") as picture:
            return parse(picture.read())

    def check_curve(self, panel, name, expected, log=False):
        """Every point drawn is one of the rows', to a twentieth of a unit; of few points, all are drawn."""
        to_step = axis_of(panel, True)
        to_value = axis_of(panel, False, log)
        shown = {step: value for step, value in expected if math.isfinite(value) and (not log or value > 0)}
        places = [place for path in paths_of(panel, "curve").get(name, []) + paths_of(panel, "dot").get(name, [])
                  for line in lines_of(path) for place in line]
        drawn = {}
        steps = sorted(shown)
        for x, y in places:
            after = bisect.bisect(steps, to_step(x))
            step = min(steps[max(after - 1, 0):after + 1], key=lambda one: abs(one - to_step(x)))
            drawn.setdefault(step, to_value(y))
        for step, value in drawn.items():
            got, wanted = (math.log10(value), math.log10(shown[step])) if log else (value, shown[step])
            self.assertAlmostEqual(got, wanted, delta=0.05 * to_value.unit)
        if len(shown) <= 200:
            self.assertEqual(sorted(drawn), sorted(shown))
        return drawn

    def test_recorded_curves(self):
        """The curves of recorded trials are the rows of smd-reduce: all points, exact ends in the description."""
        for trial, chosen in (("pt_digits_train_eval", ("-c", "losses")), ("pt_digits_train_eval", ("-e", "fc")),
                              ("xgb_cancer", ("-e", "."))):
            for log in (False, True):
                command = ("smd-reduce", os.path.join(TRIALS, trial), *chosen, "-r", "mean,l2")
                expected = {}
                for row in rows(*command):
                    for reduction in ("mean", "l2"):
                        if row[reduction] is not None:
                            key = (reduction, row["tensor"], row["mode"])
                            expected.setdefault(key, []).append((row["step"], number(row[reduction])))
                root = self.svg(*command, *(["--log"] if log else []))
                drawn = panels(root)
                self.assertEqual(len(drawn), 2)
                tensors = sorted({key[1] for key in expected})
                modes = {key[2] for key in expected}
                for reduction, panel in zip(("mean", "l2"), drawn):
                    for (of, tensor, mode), points in expected.items():
                        if of != reduction or (log and all(value <= 0 for _, value in points)):
                            continue
                        parts = ([tensor] if len(tensors) > 1 else []) + ([mode.lower()] if len(modes) > 1 else [])
                        name = ", ".join(parts) or tensor
                        with self.subTest(trial=trial, curve=name, reduction=reduction, log=log):
                            if len(tensors) * len(modes) > 1 or paths_of(panel, "curve"):
                                self.check_curve(panel, name, points, log)
                    words = panel.find(SVG + "desc").text
                    first = next(key for key in expected if key[0] == reduction)
                    value = expected[first][0][1]
                    # In rows, the mean of one element is in its own type.
                    first = float(re.search(r"first ([^ ,]+), last step", words).group(1))
                    self.assertTrue(first == value or struct.pack("f", first) == struct.pack("f", value), (first, value))

    def test_scalars(self):
        """smd-tensor draws a scalar at all of its steps, also without -s."""
        points = [(step, math.sin(step / 7) - 0.25) for step in range(0, 90, 3)]
        trial = self.save("scalar", [{"step": step, "tensor": "loss", "value": value} for step, value in points])
        for steps in ((), ("-s", ":")):
            root = self.svg("smd-tensor", trial, "loss", *steps)
            self.assertEqual(len(self.check_curve(panels(root)[0], "loss", points)), len(points))
            self.assertEqual(root.find(SVG + "title").text, "loss")

    def test_thinned(self):
        """Of many points, the spike is drawn, and both ends."""
        points = [(step, 9.0 if step == 1777 else (step * 7919 % 1000) / 1000) for step in range(4000)]
        trial = self.save("long", [{"step": step, "tensor": "x", "value": value} for step, value in points])
        drawn = self.check_curve(panels(self.svg("smd-tensor", trial, "x"))[0], "x", points)
        self.assertAlmostEqual(max(drawn.values()), 9, delta=0.01)
        self.assertIn(0, drawn)
        self.assertIn(3999, drawn)
        self.assertLess(len(drawn), 4 * 600)

    def test_breaks(self):
        """NaN, infinities, and steps without a value break the line and are marked at their step."""
        saved = []
        for step in range(60):
            value = {10: "NaN", 20: "Infinity", 30: "-Infinity"}.get(step, step % 7)
            if not 40 <= step < 45:
                saved.append({"step": step, "tensor": "x", "value": value})
        trial = self.save("broken", saved)
        panel = panels(self.svg("smd-tensor", trial, "x"))[0]
        to_step = axis_of(panel, True)
        lines = [line for path in paths_of(panel, "curve")["x"] for line in lines_of(path)]
        ends = [(round(to_step(line[0][0])), round(to_step(line[-1][0]))) for line in lines]
        self.assertEqual(ends, [(0, 9), (11, 19), (21, 29), (31, 39), (45, 59)])
        marks = sorted(round(to_step(float(x))) for path in paths_of(panel, "mark")["x"]
                       for x in re.findall(r"M(-?[\d.]+) ", path))
        self.assertEqual(marks, [10, 20, 30, 39, 45])
        legend = " ".join(texts(panel))
        for meaning in ("NaN", "infinite", "minus infinite", "gap"):
            self.assertIn(meaning, legend)

    def test_logarithm(self):
        """Zero and negative numbers have no place on a logarithmic axis, and are marked."""
        values = [1, 10, 100, 0, -5, 1000, 1]
        trial = self.save("log", [{"step": step, "tensor": "x", "value": value} for step, value in enumerate(values)])
        panel = panels(self.svg("smd-tensor", trial, "x", "--log"))[0]
        drawn = self.check_curve(panel, "x", list(enumerate(values)), log=True)
        self.assertEqual(sorted(drawn), [0, 1, 2, 5, 6])
        to_step = axis_of(panel, True)
        self.assertEqual([round(to_step(float(x))) for x in re.findall(r"M(-?[\d.]+) ", paths_of(panel, "mark")["x"][0])],
                         [3, 4])

    def test_hostile_names(self):
        """Names are text, whatever they hold; in the heading too."""
        trial = self.save("hostile", [{"step": step, "tensor": name, "value": step + place} for step in range(3)
                                      for place, name in enumerate(HOSTILE)])
        for name in HOSTILE:
            root = self.svg("smd-tensor", trial, "-n", name, "--title", name)
            readable = "".join({"\u202e": "\\u{202e}", "\u200f": "\\u{200f}", "\x01": "\\x01", "\x1b": "\\x1b",
                                "\x7f": "\\x7f", "\ufffe": "\\u{fffe}"}.get(letter, letter) for letter in name)
            self.assertEqual(root.find(SVG + "title").text, readable)
            if len(name) < 100:
                self.assertIn(readable, texts(root))
        root = self.svg("smd-tensor", trial)
        self.assertEqual(len(paths_of(panels(root)[0], "curve")), len(HOSTILE))
        self.assertTrue(all(len(text) < 200 for text in texts(root)))

    def test_names_that_are_not_utf8(self):
        root = ElementTree.fromstring(run("smd-tensor", self.save("plain", [{"step": 0, "tensor": "x", "value": 1}]), "x",
                                          "-f", "svg", "--title", b"a\xffb")[0])
        self.assertEqual(root.find(SVG + "title").text, "a\\xffb")

    def test_several_trials(self):
        for name, slope in (("a", 1), ("b", 2)):
            self.save(name, [{"step": step, "tensor": "loss", "value": slope * step + 1} for step in range(9)])
        root = self.svg("smd-reduce", self.path("a"), self.path("b"), "-r", "mean", "-n", "loss")
        for name, slope in (("a", 1), ("b", 2)):
            points = [(step, slope * step + 1) for step in range(9)]
            self.check_curve(panels(root)[0], self.path(name), points)

    def test_bars(self):
        """Bars are as high as the counts of --hist, and say them."""
        trial = os.path.join(TRIALS, "pt_digits_train_eval")
        tensor = rows("smd-ls", trial, "-e", "weight", "--limit", "1")[0]["tensor"]
        expected = rows("smd-tensor", trial, tensor, "--hist")[0]
        panel = panels(self.svg("smd-tensor", trial, tensor, "--hist"))[0]
        to_value, to_count = axis_of(panel, True), axis_of(panel, False)
        bars = [(rect.find(SVG + "title").text, to_value(float(rect.get("x"))),
                 to_count(float(rect.get("y"))) - to_count(float(rect.get("y")) + float(rect.get("height"))))
                for rect in panel.iter(SVG + "rect") if rect.get("class") == "bar"]
        filled = [(low, high, count) for low, high, count in zip(expected["edges"], expected["edges"][1:],
                                                                 expected["counts"]) if count]
        self.assertEqual(len(bars), len(filled))
        for (title, left, height), (low, high, count) in zip(bars, filled):
            self.assertEqual([float(word) for word in re.split(r" to |: ", title)], [low, high, count])
            self.assertAlmostEqual(left, low, delta=0.05 * to_value.unit)
            self.assertAlmostEqual(height, count, delta=to_count.unit)

    def test_fan(self):
        """Percentiles alone are a fan: its outermost curves are the least and the greatest element."""
        values = [[step - 3, step, step + 1, step + 5] for step in range(12)]
        trial = self.save("fan", [{"step": step, "tensor": "w", "value": value} for step, value in enumerate(values)])
        panel = panels(self.svg("smd-reduce", trial, "-r", "p75,min,median,p25,max"))[0]
        for name, pick in (("min", min), ("max", max)):
            self.check_curve(panel, name, [(step, pick(value)) for step, value in enumerate(values)])
        # NumPy: the median of four numbers is the mean of the two in the middle.
        self.check_curve(panel, "median", [(step, step + 0.5) for step in range(12)])
        self.assertIn("p25 to p75", texts(panel))

    def test_images(self):
        """A picture for each plane, an element a pixel: dark violet is the least of all planes, yellow the greatest."""
        planes = [[[0, 1], [2, 3]], [[4, "NaN"], [6, 7]]]
        trial = self.save("planes", [{"step": 0, "tensor": "w", "value": planes}])
        root = self.svg("smd-tensor", trial, "w", "--heatmap")
        pictures = [decode_png(image.get("href")) for image in root.iter(SVG + "image")]
        self.assertEqual(len(pictures), 2)
        colors = [[color for row in picture for color in row] for picture in pictures]
        self.assertEqual(colors[0][0], (0x44, 0x01, 0x54, 255))
        self.assertEqual(colors[1][3], (0xFD, 0xE7, 0x25, 255))
        self.assertEqual(colors[1][1], (0xD5, 0x5E, 0x00, 255))
        self.assertEqual(len({*colors[0], *colors[1]}), 8)
        self.assertIn("[1]", texts(root))
        self.assertIn("not a number (NaN)", texts(root))

    def test_heat_map(self):
        """Histograms over steps: a column for each step, coloured where it has elements."""
        # At step n, three quarters of the elements are in the bin from n to n + 1, and one in the last.
        saved = [{"step": step, "tensor": "w", "value": [step + 0.5] * 3 + [4.5]} for step in range(4)]
        root = self.svg("smd-reduce", self.save("steps", saved), "--hist", "--bins", "5:0:5")
        (image,) = root.iter(SVG + "image")
        picture = decode_png(image.get("href"))
        rows_of_picture, columns = len(picture), len(picture[0])
        to_value, to_step = axis_of(panels(root)[0], False), axis_of(panels(root)[0], True)
        left, top, width, height = (float(image.get(name)) for name in ("x", "y", "width", "height"))
        for step in range(4):
            for low in range(5):
                column = next(column for column in range(columns)
                              if to_step(left + (column + 0.5) / columns * width) >= step)
                row = next(row for row in range(rows_of_picture)
                           if to_value(top + (row + 0.5) / rows_of_picture * height) <= low + 0.5)
                color = picture[row][column]
                if low == step:  # the greatest share there is
                    self.assertEqual(color, (0xFD, 0xE7, 0x25, 255))
                elif low == 4:  # a quarter, which is a third of that: not far from viridis at 3/8
                    self.assertTrue(all(abs(a - b) < 12 for a, b in zip(color, (0x31, 0x67, 0x8D, 255))), color)
                else:
                    self.assertEqual(color[3], 0)

    def test_difference_of_trials(self):
        """smd-diff over the steps: the numbers of its rows, zero where all is equal, a gap where nothing is compared."""
        # At step n every element of w is n more in b; b lacks v, so that nothing of it is compared. The norm of (3, 4) is 5.
        steps = [0, 1, 2, 3, 5]
        a = [{"step": step, "tensor": name, "value": [3.0, 4.0]} for step in steps for name in ("w", "v")]
        b = [{"step": step, "tensor": "w", "value": [3.0 + step, 4.0 + step]} for step in steps]
        one, two = self.save("a", a), self.save("b", b)
        expected = {"max_abs": [(step, float(step)) for step in steps],
                    "l2_diff": [(step, step * math.sqrt(2)) for step in steps],
                    "rel_l2": [(step, step * math.sqrt(2) / 5) for step in steps]}
        for by, title, curve in (("step", "all that is selected", "all that is selected"), ("tensor,step", "w", "w")):
            file = self.path("difference.svg")
            run("smd-diff", one, two, "-n", "w", "--by", by, "-f", "svg", "-o", file, status=1)
            with open(file, "rb") as picture:
                root = parse(picture.read())
            self.assertEqual([panel.find(SVG + "title").text for panel in panels(root)],
                             [f"{name} of {title}" for name in expected])
            for panel, points in zip(panels(root), expected.values()):
                self.check_curve(panel, curve, points)
                self.assertTrue(any(f"a: {one}" in text or "…" in text for text in texts(panel)))
        file = self.path("all.svg")
        run("smd-diff", one, two, "--by", "tensor,step", "-f", "svg", "-o", file, status=1)
        with open(file, "rb") as picture:
            self.assertEqual(set(paths_of(panels(parse(picture.read()))[0], "curve")), {"w"})
        for wrong, options in (("--by must have step", ("--by", "tensor")), ("--summary", ("--summary",)),
                               ("no rows", ("--by", "step", "--columns", "step"))):
            _, messages = run("smd-diff", one, two, "-f", "svg", *options, status=2)
            self.assertIn(wrong, messages)
        # Nothing to draw: no file.
        run("smd-diff", one, two, "-n", "none", "--by", "step", "-f", "svg", "-o", self.path("none.svg"), status=1)
        self.assertFalse(os.path.exists(self.path("none.svg")))

    def test_same_bytes(self):
        command = ("smd-reduce", os.path.join(TRIALS, "pt_digits_train_eval"), "-e", "weight", "-f", "svg")
        self.assertEqual(run(*command, "-j", "1")[0], run(*command, "-j", "4")[0])

    def test_refused(self):
        """What is wrong leaves the file as it was."""
        trial = self.save("x", [{"step": 0, "tensor": "x", "value": 1}, {"step": 0, "tensor": "w", "value": [1, 2]}])
        file = self.path("old.svg")
        with open(file, "w", encoding="utf-8") as old:
            old.write("old")
        for status, wrong, command in (
                (2, "needs -f svg", ("smd-tensor", trial, "x", "--log", "-f", "tsv")),
                (2, "needs -f svg", ("smd-reduce", trial, "--title", "t", "-f", "tsv")),
                (2, "draws scalars", ("smd-tensor", trial, "w", "-f", "svg")),
                (2, "no rows", ("smd-tensor", trial, "x", "-f", "svg", "--columns", "step")),
                (2, "no rows", ("smd-reduce", trial, "-f", "svg", "--limit", "3")),
                (2, "--by must have step", ("smd-reduce", trial, "-f", "svg", "--by", "tensor")),
                (2, "--pivot", ("smd-reduce", trial, "-f", "svg", "--pivot", "-r", "mean")),
                (2, "--follow", ("smd-reduce", trial, "-f", "svg", "-F")),
                (2, "--follow", ("smd-tensor", trial, "x", "-f", "svg", "-F")),
                (2, "cannot hold it", ("smd-tensor", trial, "x", "-f", "svg", "--stat")),
                (2, "--log is for curves", ("smd-tensor", trial, "x", "-f", "svg", "--hist", "--log")),
                (1, "TensorUnavailable", ("smd-tensor", trial, "y", "-f", "svg")),
                (1, "", ("smd-reduce", trial, "-n", "y", "-f", "svg"))):
            with self.subTest(command=" ".join(command[2:])):
                _, messages = run(*command, "-o", file, status=status)
                self.assertIn(wrong, messages)
                with open(file, encoding="utf-8") as old:
                    self.assertEqual(old.read(), "old")
        os.remove(file)
        run("smd-tensor", trial, "y", "-f", "svg", "-o", file, status=1)
        self.assertFalse(os.path.exists(file))


def main():
    global TRIALS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", required=True)
    parser.add_argument("--trials", required=True)
    known, others = parser.parse_known_args()
    TRIALS = known.trials
    ENVIRONMENT["PATH"] = os.path.abspath(known.tools) + os.pathsep + os.environ["PATH"]
    os.environ["PATH"] = ENVIRONMENT["PATH"]
    unittest.main(argv=[sys.argv[0], *others])


if __name__ == "__main__":
    main()
