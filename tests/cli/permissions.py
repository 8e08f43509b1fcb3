# SPDX-License-Identifier: Apache-2.0
"""Commands for which the permissions of files hold, also where root runs the tests."""

import functools
import os
import subprocess


@functools.cache
def bound_by_permissions():
    """What to put before a command; None where that cannot be had. Root stays root, without the right to pass over
    permissions: another user might not be let in to where the commands are."""
    if os.geteuid() != 0:
        return ()
    prefix = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
    try:
        subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return prefix
