#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_parts.py [--check]: writes into ARCHITECTURE.md which part includes which, according to the include lines.

With --check nothing is written: status 1 if the picture is not what the sources say. Always status 1 if two parts
include each other by any way, if a command includes anything but the shared parts of the commands and public headers, if
libsmd-rules includes more than a user's rule could, or if a source repeats what the header that it implements includes."""

import collections
import graphlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- parts -->\n```\n", "```\n<!-- end of parts -->\n"
PUBLIC = "<smd/*.hpp>"
# Shared parts of the commands.
SHARED = ["tools/app", "tools/cli", "tools/operands", "tools/select", "tools/draw", "tools/rows", "tools/follow",
          "tools/requests"]
# A part is a folder, or a pair of files of tools, that one of these finds, the first that does.
PARTS = (r"libsmd/src/(layout/\w+)/", r"libsmd/src/(\w+)/", r"(libsmd/include)/", r"libsmd/\w+/(include)/",
         r"libsmd/(rules/src/\w+)/", r"libsmd/(\w+)/", r"(tools/\w+)[/.]")
# Folders of quoted includes, in addition to the including file's own.
ROOTS = ("libsmd/src", "libsmd", "libsmd/rules/src", "tools")
PUBLIC_ROOTS = ("libsmd/include", "libsmd/rules/include", "libsmd/hook/include")
INCLUDE = re.compile(r"^#include (\S+)", re.MULTILINE)


def part_of(path):
    for pattern in PARTS:
        if match := re.match(pattern, path.relative_to(ROOT).as_posix()):
            return PUBLIC if match[1].endswith("include") else match[1].replace("/src", "")
    return None


def included_files(path):
    for quote, name in re.findall(r'^#include (["<])([^">]+)', path.read_text(encoding="utf-8"), re.MULTILINE):
        if name.startswith("smd/"):
            yield name, PUBLIC
        elif quote == '"':
            for folder in (path.parent, *(ROOT / root for root in ROOTS)):
                if (folder / name).exists():
                    yield name, part_of((folder / name).resolve())
                    break


def repeated_includes():
    """Yields includes of sources that their first one, the header that they implement, has already."""
    for folder in ("libsmd", "tools"):
        for path in sorted((ROOT / folder).rglob("*.cpp")):
            first, *others = INCLUDE.findall(path.read_text(encoding="utf-8")) or [""]
            for header in (path.parent / first[1:-1], *(ROOT / root / first[1:-1] for root in (*ROOTS, *PUBLIC_ROOTS))):
                if header.is_file():
                    again = set(others) & set(INCLUDE.findall(header.read_text(encoding="utf-8")))
                    yield from (f"{path.relative_to(ROOT)} includes {name}, as {first} does" for name in sorted(again))
                    break


def uses():
    """Returns for each part the parts that its files include, and where."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for folder in ("libsmd", "tools"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            part = part_of(path)
            for name, other in included_files(path):
                if other not in (None, part):
                    found[part][other].append(f"{path.relative_to(ROOT)} includes {name}")
    return found


def commands():
    text = (ROOT / "cmake/SmdCommands.cmake").read_text(encoding="utf-8")
    return ["tools/" + name for name in re.search(r"set\(SMD_COMMANDS (.*)\)", text)[1].split()]


def wrong_arrows(found):
    """Yields includes that violate the design, one per line."""
    for_commands = {*SHARED, "text", PUBLIC}
    of_rules = {part for part in found if part.startswith("rules/")}
    allowed_to = {part: for_commands for part in (*SHARED, *commands())}
    allowed_to.update({part: {*of_rules, "text", PUBLIC} for part in of_rules})
    for part in found:
        allowed = allowed_to.get(part)
        if allowed is None and part.startswith("tools/"):
            continue  # docgen, which uses the commands
        for other, lines in found[part].items():
            if (allowed is not None and other not in allowed) or (allowed is None and other.startswith("tools/")):
                yield from lines
    yield from (line for lines in found.get(PUBLIC, {}).values() for line in lines)


def picture(found):
    """Returns a line for each part, beginning with those that no other part includes; commands with equal includes
    share a line."""
    order = list(graphlib.TopologicalSorter({part: set(others) for part, others in found.items()}).static_order())[::-1]
    rank = {part: i for i, part in enumerate(order)}
    lines = {}
    for part in order:
        if others := sorted(found.get(part, ()), key=lambda other: (other == PUBLIC, rank[other])):
            lines.setdefault(", ".join(others), []).append(part)
    rows = [(", ".join(sorted(parts)), target) for target, parts in lines.items()]
    rows = [("tools/{" + row[0].replace("tools/", "") + "}" if row[0].count("tools/") > 1 else row[0], row[1]) for row in rows]
    width = max(len(left) for left, _ in rows)
    return "".join(f"{left:{width}} ──> {right}\n" for left, right in rows)


def main():
    found = uses()
    wrong = list(wrong_arrows(found))
    try:
        new = picture(found)
    except graphlib.CycleError as error:
        cycle = error.args[1]
        wrong += [line for a, b in zip(cycle[1:], cycle) for line in found[a][b]]
        new = ""
    if again := list(repeated_includes()):
        print("repeated includes:", *again, sep="\n  ")
        sys.exit(1)
    if wrong:
        print("against the direction of includes:", *wrong, sep="\n  ")
        sys.exit(1)
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    old, after = rest.split(END)
    if "--check" not in sys.argv:
        PAGE.write_text(before + BEGIN + new + END + after, encoding="utf-8")
    elif old != new:
        print("ARCHITECTURE.md does not show the parts as they include each other; run docs/make_parts.py:", new, sep="\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
