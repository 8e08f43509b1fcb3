# SPDX-License-Identifier: Apache-2.0
"""Runs commands so that the permissions of files apply, even if root runs the tests."""

import functools
import os
import subprocess


@functools.cache
def bound_by_permissions():
    """Returns the prefix for a command, or None if it is unavailable. Root stays root, but cannot override permissions:
    another user might have no access to the commands."""
    if os.geteuid() != 0:
        return ()
    prefix = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
    try:
        subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return prefix
