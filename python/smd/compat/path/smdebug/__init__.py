# SPDX-License-Identifier: Apache-2.0
"""Found on the path that `smd.compat.install` extends, by processes in which `install` itself was not called."""
from smd.compat import install

install(force=True)
