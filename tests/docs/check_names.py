#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_names.py ROOT: checks that no two headers define types of one name in a namespace, not even in different parts.
Types within a class, or of one source alone, may have short names that others have too. Files `-inl.hpp` are compiled into
one source."""

import collections
import pathlib
import re
import sys

DEFINITION = re.compile(r"^(?:class|struct|enum class)(?: SMD_\w+)* (\w+)(?: final)?(?: :[^;]*| \{.*)?$", re.MULTILINE)


def main():
    root = pathlib.Path(sys.argv[1])
    places = collections.defaultdict(list)
    for folder in ("libsmd", "tools"):
        for path in sorted((root / folder).rglob("*.hpp")):
            if not path.name.endswith("-inl.hpp"):
                for name in DEFINITION.findall(path.read_text(encoding="utf-8")):
                    places[name].append(str(path.relative_to(root)))
    shared = {name: found for name, found in places.items() if len(found) > 1}
    for name, found in sorted(shared.items()):
        print(f"{name} is defined in {' and in '.join(found)}")
    sys.exit(bool(shared) or not places)


main()
