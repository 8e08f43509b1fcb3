#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_picture.py BIN_DIR [--check]: draws docs/terminal.svg: the commands below, run on the fixtures in a terminal, as
the terminal shows them. --check: fails if the picture is not what it would draw."""
import os
import pathlib
import re
import subprocess
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = [
    "smd-tensor tb-logs/sick -c losses -s all --spark",
    "smd-rule tb-logs/sick -r Overfit,VanishingGradient --columns status,rule,step,tensor,check,value",
    "smd-reduce checkpoints/rule_blowup -s last -r nan,inf,l2 --columns tensor,step,nan,inf,l2",
    "smd-runs tb-logs/sweep --best loss --hp none -n loss --columns run,steps,loss,loss:min,loss@best --limit 4",
    "smd-tensor good-pytorch-digits DigitNet_input_0 -s first --slice 0,0 --heatmap",
]
COLUMNS = 116
WIDTH, HEIGHT = 8.4, 18  # of a character
FOREGROUND, BACKGROUND, PROMPT = "#d8dee9", "#242933", "#a3be8c"
NAMED = {30: "#3b4252", 31: "#e06c75", 32: "#a3be8c", 33: "#ebcb8b", 34: "#81a1c1", 35: "#b48ead", 36: "#88c0d0",
         37: "#e5e9f0"}


def indexed(number):
    """Returns one of the 256 terminal colours."""
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    if number >= 16:
        levels = (0, 95, 135, 175, 215, 255)
        number -= 16
        return "#%02x%02x%02x" % (levels[number // 36], levels[number // 6 % 6], levels[number % 6])
    return NAMED.get(30 + number % 8, FOREGROUND)


def output(command, bin_dir):
    environment = {"PATH": os.pathsep.join([bin_dir, "/usr/bin", "/bin"]), "TERM": "xterm-256color",
                   "LC_ALL": "C.UTF-8", "HOME": "/"}
    shown = subprocess.run([sys.executable, ROOT / "tests/cli/in_terminal.py", str(COLUMNS), "sh", "-c", command],
                           cwd=ROOT / "tests/fixtures", env=environment, capture_output=True, check=False, timeout=60)
    return shown.stdout.decode().replace("^[", "\x1b")


def cells(line):
    """Yields (column, character, foreground, background, bold) for a line with colours."""
    column, fore, back, bold = 0, None, None, False
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b["):
            codes = [int(code or 0) for code in part[2:-1].split(";")]
            while codes:
                code = codes.pop(0)
                if code == 0:
                    fore, back, bold = None, None, False
                elif code == 1:
                    bold = True
                elif code in (38, 48) and codes[:1] == [5]:
                    fore, back = (indexed(codes[1]), back) if code == 38 else (fore, indexed(codes[1]))
                    codes = codes[2:]
                elif code in NAMED:
                    fore = NAMED[code]
            continue
        for character in part:
            yield column, character, fore, back, bold
            column += 2 if unicodedata.east_asian_width(character) in "WF" else 1


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def box(column, row, height, colour, shift=0.0):
    return (f'<rect x="{number(column * WIDTH)}" y="{number(row * HEIGHT + shift)}" width="{number(WIDTH + 0.3)}" '
            f'height="{number(height + 0.3)}" fill="{colour}"/>')


def draw_line(line, row):
    runs = []
    for column, character, fore, back, bold in cells(line):
        if character == "▀" and back:  # two halves, because fonts draw a seam between them
            yield box(column, row, HEIGHT / 2, fore)
            yield box(column, row, HEIGHT / 2, back, HEIGHT / 2)
            continue
        if back:
            yield box(column, row, HEIGHT, back)
        if character == " ":
            continue
        style = (fore or FOREGROUND, bold)
        if runs and runs[-1][2] == style and runs[-1][0] + len(runs[-1][1]) == column:
            runs[-1][1] += character
        else:
            runs.append([column, character, style])
    for column, text, (colour, bold) in runs:
        yield (f'<text x="{number(column * WIDTH)}" y="{row * HEIGHT + 14}" fill="{colour}"'
               f'{" font-weight=" + chr(34) + "bold" + chr(34) if bold else ""} '
               f'textLength="{number(len(text) * WIDTH)}">{escape(text)}</text>')


def picture(bin_dir):
    rows, shapes = 0, []
    for command in COMMANDS:
        for line in [f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m", *output(command, bin_dir).splitlines(), ""]:
            shapes += draw_line(line, rows)
            rows += 1
    width, height = COLUMNS * WIDTH + 24, (rows - 1) * HEIGHT + 28
    return "\n".join([
        "<!-- Drawn by docs/make_picture.py from what the commands print: do not edit. -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" '
        f'viewBox="0 0 {number(width)} {number(height)}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" '
        'font-size="14" xml:space="preserve">',
        "<title>smd-tensor, smd-rule, smd-reduce and smd-runs in a terminal</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>', '<g transform="translate(12 14)">', *shapes,
        "</g>", "</svg>", ""])


def main():
    target = ROOT / "docs/terminal.svg"
    drawn = picture(os.path.abspath(sys.argv[1]))
    if "--check" not in sys.argv[2:]:
        target.write_text(drawn, encoding="utf-8")
    elif target.read_text(encoding="utf-8") != drawn:
        sys.exit("docs/terminal.svg is stale: python3 docs/make_picture.py BIN_DIR, and commit")


main()
