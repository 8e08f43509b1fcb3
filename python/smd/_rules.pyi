# SPDX-License-Identifier: Apache-2.0
"""Types of the extension module."""
import smd
import smd.rules

def run(trial: smd.Trial, rule: str, others: list[smd.Trial], keep_going: bool,
        parameters: dict[str, str]) -> smd.rules.RuleResult: ...
def names() -> list[str]: ...
