# SPDX-License-Identifier: Apache-2.0
"""Reads what training jobs leave behind: trials of a debugger, logs of TensorBoard, W&B runs, checkpoints, tables.

    t = smd.open("runs/exp1")                # any layout; s3:// too
    t["train/loss"].value(120)               # an array; 0-d for scalars
    steps, values = t["train/loss"].values()
    t["fc.weight"].reduce("abs_mean", "p99")
    t.scalars("loss|lr", wide=True)          # a dict of arrays, which pandas.DataFrame and Arrow's users take
    smd.rules.run(t, "Overfit", patience=5)

Options of `open`: name; layout; step_name; range_steps=(first, end), newest=n or oldest=n steps to read; jobs, the
number of threads; verify=False checks no checksums; strict; as_it_stands; superseded="left_out", "only" or "included";
auto_refresh=False looks for new steps only at `refresh`; timeout: seconds to wait until there is a trial;
incomplete_step_wait_window; for S3 endpoint_url, region, profile, sign_requests, requester_pays, cache.

Exceptions are under `smd.Error`, with their facts as attributes. Other threads run while this module reads or waits.
"""
from smd._core import *  # noqa: F403
from smd._core import __version__, arrow_stream as _arrow_stream  # noqa: F401


class Table(dict):
    """Arrays of one length by name. Also an Arrow stream, without a copy of numbers: polars, pandas, pyarrow and duckdb
    take it as it is."""

    def __arrow_c_stream__(self, requested_schema=None):
        return _arrow_stream(self)


def __getattr__(name):
    """Loads parts that few programs need when they are asked for."""
    if name in ("rules", "hook", "compat"):
        import importlib
        return importlib.import_module("smd." + name)
    if name == "ConfigurationError":
        from smd.rules import ConfigurationError
        return ConfigurationError
    raise AttributeError(f"module 'smd' has no attribute {name!r}")
