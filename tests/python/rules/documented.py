# SPDX-License-Identifier: Apache-2.0
"""Custom rules in the forms of SageMaker Debugger's documentation."""
from smdebug.exceptions import *
from smdebug.rules import Rule


class VanishingGradientRule(Rule):
    """Gradients are almost zero."""

    def __init__(self, base_trial, threshold=0.0000001):
        super().__init__(base_trial, other_trials=None)
        self.threshold = float(threshold)

    def invoke_at_step(self, step):
        for name in self.base_trial.tensors(collection="gradients"):
            abs_mean = self.base_trial.tensor(name).reduction_value(step, "mean", abs=True)
            if abs_mean < self.threshold:
                return True
        return False


class CustomGradientRule(Rule):
    """A gradient is too small or too large."""

    def __init__(self, base_trial, min_threshold="0", max_threshold="10.0"):
        super().__init__(base_trial)
        self.min_threshold, self.max_threshold = float(min_threshold), float(max_threshold)

    def set_required_tensors(self, step):
        for name in self.base_trial.tensor_names(collection="gradients"):
            self.req_tensors.add(name, steps=[step])

    def invoke_at_step(self, step):
        for tensor in self.req_tensors.get():
            abs_mean = tensor.reduction_value(step, "mean", abs=True)
            if not self.min_threshold <= abs_mean <= self.max_threshold:
                return True
        return False


class LossAboveOtherRule(Rule):
    """A loss is above that of another trial."""

    def __init__(self, base_trial, other_trials, factor="2"):
        super().__init__(base_trial, action_str='{"name": "stoptraining"}', other_trials=other_trials)
        self.factor = float(factor)

    def set_required_tensors(self, step):
        for trial in self.trials:
            self.req_tensors.add(name="^loss|Loss_output", steps=[step], trial=trial, should_match_regex=True)

    def invoke_at_step(self, step):
        for tensor in self.req_tensors.get(trial=self.base_trial):
            other = self.other_trials[0].tensor(tensor.name)
            if tensor.value(step).mean() > self.factor * other.value(step).mean():
                return True
        return False
