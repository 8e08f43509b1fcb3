# SPDX-License-Identifier: Apache-2.0
"""Commands under limits of the system. prlimit sets them: for what Python itself runs between fork and exec, the system
copies the whole process, which takes longer than most commands."""

import resource

NAMES = {resource.RLIMIT_AS: "as", resource.RLIMIT_FSIZE: "fsize", resource.RLIMIT_NOFILE: "nofile",
         resource.RLIMIT_NPROC: "nproc", resource.RLIMIT_STACK: "stack"}


def under(*limits):
    """Returns the words before a command that limit it. A limit is a pair: what, and how much or (soft, hard)."""
    words = []
    for what, much in limits:
        ends = much if isinstance(much, tuple) else (much, much)
        soft, hard = ("unlimited" if end == resource.RLIM_INFINITY else end for end in ends)
        words.append(f"--{NAMES[what]}={soft}:{hard}")
    return ["prlimit", *words] if words else []
