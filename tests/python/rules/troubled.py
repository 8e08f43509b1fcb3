# SPDX-License-Identifier: Apache-2.0
"""Rules that go wrong, each in its own way."""
import os
import time

from smdebug.exceptions import RuleEvaluationConditionMet
from smdebug.rules.rule import Rule


class Raises(Rule):
    def invoke_at_step(self, step):
        if step >= 10:
            raise ValueError("no such number")
        return False


class Says(Rule):
    def invoke_at_step(self, step):
        print("looking at", step)
        if step == 21:
            raise RuleEvaluationConditionMet("twenty-one it is")


class Ends(Rule):
    def invoke_at_step(self, step):
        if step == 10:
            raise RuleEvaluationConditionMet(self.rule_name, step, end_of_rule=True)
        return step > 10


class Dies(Rule):
    def invoke_at_step(self, step):
        os.abort()


class Hangs(Rule):
    def invoke_at_step(self, step):
        print(os.getpid(), flush=True)
        time.sleep(3600)


class NeedsNumber(Rule):
    def __init__(self, base_trial, number):
        super().__init__(base_trial)
        self.number = int(number)

    def invoke_at_step(self, step):
        return step > self.number
