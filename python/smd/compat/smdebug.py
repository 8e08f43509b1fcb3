# SPDX-License-Identifier: Apache-2.0
"""The programming model of the reference, smdebug: trials, tensors, rules, configurations, and a hook for loops that
save by themselves. What it answers otherwise is what docs/format.md lists. Hooks into frameworks are not here."""
import abc
import atexit
import contextlib
import itertools
import json
import logging
import operator
import os
import sys
import threading
import types
import weakref

import smd
from smd import (  # noqa: F401
    IndexReaderException, InvalidCollectionConfiguration, InvalidWorker, MissingCollectionFiles, Mode, NoMoreData,
    RuleEvaluationConditionMet, StepNotYetAvailable, StepState, StepUnavailable, TensorUnavailable,
    TensorUnavailableForStep, _hook, refreshing)

modes = ModeKeys = Mode
ShapeUnavailableForStep = TensorUnavailableForStep


class InsufficientInformationForRuleInvocation(smd.Error):
    """A rule is not given what it needs. Takes the rule's name and what is missing."""

    def __init__(self, rule_name, message):
        super().__init__(f"Insufficient information to invoke rule {rule_name}: {message}")
        self.rule_name, self.message = rule_name, message


def get_logger(name="smdebug"):
    """Returns the logger, which writes to standard error from SMDEBUG_LOG_LEVEL (default: info) on."""
    logger = logging.getLogger(name)
    if not logger.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("smd: %(levelname)s: %(message)s"))
        logger.addHandler(handler)
        level = os.environ.get("SMDEBUG_LOG_LEVEL", "info").upper()
        logger.setLevel(getattr(logging, level, logging.CRITICAL + 1))
    return logger


class Tensor(smd.Tensor):
    """A named series of values."""

    def values(self, mode=None, worker=None):
        """Returns the values by step."""
        steps, arrays, stacked, _ = self.trial._values(self.name, mode, worker)
        return dict(zip(steps.tolist(), (arrays[0][i, ...] for i in range(len(steps))) if stacked else arrays))

    def shapes(self, mode=None, worker=None):
        """Returns the shapes by step."""
        return {step: tuple(shape) for step, shape in self._shapes(mode, worker).items()}


class Trial(smd.Trial):
    """What one job saved."""
    _tensor = Tensor
    tensors = smd.Trial.tensor_names  # as in the documentation's example of a rule


def create_trial(path, name=None, range_steps=None, **options):
    """Opens a trial. range_steps: (first, end), either may be None."""
    return Trial(path, name=name, range_steps=range_steps, **options)


def _several(trials):
    return [trials] if isinstance(trials, smd.Trial) else trials


def no_refresh(trials):
    """`with no_refresh(trials):` their queries look for nothing new."""
    return refreshing(False, *_several(trials))


def refresh(trials):
    """`with refresh(trials):` their queries do."""
    return refreshing(True, *_several(trials))


class RequiredTensors:
    """What a rule needs at a step."""

    def __init__(self, base_trial, other_trials):
        self.base_trial = base_trial
        self._needed = {trial: {} for trial in [base_trial, *(other_trials or [])]}

    def _of(self, trial):
        """Returns the tensors by name, each with its steps."""
        return self._needed[self.base_trial if trial is None else trial]

    def add(self, name, steps, trial=None, should_match_regex=False):
        """Adds steps of a tensor, or of those in whose names a pattern is found."""
        needed = self._of(trial)
        trial = self.base_trial if trial is None else trial
        for one in trial.tensor_names(regex=name) if should_match_regex else [name]:
            needed.setdefault(one, (trial.tensor(one), []))[1].extend(steps)

    def get_names(self, trial=None):
        """Returns the names of what was added."""
        return self._of(trial).keys()

    def get(self, trial=None):
        """Returns the tensors that were added."""
        return [tensor for tensor, _ in self._of(trial).values()]

    def get_tensor_steps(self, name, trial=None):
        """Returns the steps of a tensor that were added."""
        return self._of(trial).get(name, (None, []))[1]

    def clear(self):
        """Forgets what was added."""
        for needed in self._needed.values():
            needed.clear()

    def fetch(self, wait=True):
        """Waits for the steps; raises if nothing of a tensor was saved then."""
        for trial, needed in self._needed.items():
            for tensor, steps in needed.values():
                if wait:
                    trial.wait_for_steps(steps)
                for step in steps:
                    tensor.workers(step)


class Rule(abc.ABC):
    """A condition on a trial. Parameters of a constructor are texts, except the trials."""

    def __init__(self, base_trial, action_str="", other_trials=None):
        self.base_trial, self.other_trials, self.action_str = base_trial, other_trials, action_str
        self.trials = [base_trial, *(other_trials or [])]
        self.req_tensors = RequiredTensors(base_trial, other_trials)
        self.logger = get_logger()
        self.rule_name = type(self).__name__
        self.report = {"RuleTriggered": 0, "Violations": 0, "Details": {}, "Datapoints": 0, "RuleParameters": ""}

    def set_required_tensors(self, step):
        """Declares by req_tensors.add what the step needs."""

    @abc.abstractmethod
    def invoke_at_step(self, step):
        """Returns whether the condition is met."""

    def evaluate(self, step, wait=True):
        """Returns whether the condition is met at a step that is there."""
        with refreshing(False, *self.trials):
            self.req_tensors.clear()
            self.set_required_tensors(step)
            self.req_tensors.fetch(wait)
            return bool(self.invoke_at_step(step))

    def invoke(self, step):
        """Waits for a step. Raises RuleEvaluationConditionMet if the condition is met at it."""
        self.base_trial.wait_for_steps([step])
        if self.evaluate(step):
            raise RuleEvaluationConditionMet(self.rule_name, step)


# What skips a step: a tensor or step that is not there, and a record that cannot be read, which is logged.
SKIPPED = (smd.TensorUnavailable, smd.TensorUnavailableForStep, smd.StepUnavailable, smd.ReadError)
_HARMLESS = "NotYet", "Note", "Remark", "OtherTrial"  # kinds of problems


def unread(error):
    """Returns the problem of an exception for a record that is damaged or missing; None if none was saved."""
    return error.problem if isinstance(error, smd.ReadError) else getattr(error, "missing", None)


def _with_problems_logged(rule_obj, steps):
    """Yields the steps. Logs what was found wrong with files of the rule's trials, each problem once."""
    logged = set()
    for step in itertools.chain(steps, [None]):
        for trial in rule_obj.trials:
            for problem in trial.problems:
                place = trial.path, problem.file, problem.offset, problem.text
                if problem.kind not in _HARMLESS and place not in logged:
                    logged.add(place)
                    rule_obj.logger.warning("%s: %s: %s", trial.path, problem.file, problem.text)
        if step is not None:
            yield step


_NO_END = 2**63 - 1  # the end_step that stands for no end


def _steps_once(trial, after, end):
    """Yields each step after one once, though it grows: steps before the end once they are whole."""
    given = set()
    for step in trial.follow(after=after, whole_before=_NO_END if end is None else end):
        if step not in given:
            given.add(step)
            yield step


def invoke_rule(rule_obj, start_step=0, end_step=None, raise_eval_cond=False):
    """Invokes a rule once at each step from start_step to before end_step, waiting while the job runs: at a step of a
    log or of checkpoints, which may grow, once a later one has come and nothing up to it for ten seconds, once nothing
    has come for a minute, or once the job has ended. Each step at which its condition is met is logged, or, with
    raise_eval_cond, ends this by RuleEvaluationConditionMet. Files that are damaged or missing are logged as warnings.
    Raises NoMoreData if the job ends before end_step, unless the rule has ended itself."""
    rule_obj.logger.debug("Started execution of rule %s at step %s", rule_obj.rule_name, start_step)
    steps = _steps_once(rule_obj.base_trial, (start_step or 0) - 1, end_step)
    for step in _with_problems_logged(rule_obj, steps):
        if end_step is not None and step >= end_step:
            return
        try:
            rule_obj.invoke(step)
        except SKIPPED as error:
            if isinstance(error, smd.NoMoreData) and error.step <= step:
                raise
            rule_obj.logger.log(logging.WARNING if unread(error) else logging.DEBUG,
                                "%s skips step %s: %s", rule_obj.rule_name, step, error)
        except RuleEvaluationConditionMet as met:
            if raise_eval_cond:
                raise
            rule_obj.logger.info("%s", met)
            if met.end_of_rule:
                return
        if end_step is not None and step >= end_step - 1:
            return
    if end_step is not None:
        rule_obj.base_trial.wait_for_steps([end_step - 1])


def _items(given):
    """Returns the items of a list, or of a text with commas between them, as in a hook's configuration."""
    items = []
    for one in [] if given is False else smd._list(given):
        items += filter(None, map(str.strip, one.split(","))) if isinstance(one, str) else [one]
    return items


class SaveConfigMode(smd.Record):
    """At which steps of a mode a hook saves: save_steps, and multiples of save_interval from start_step to before
    end_step."""

    def __init__(self, save_interval=None, start_step=None, end_step=None, save_steps=None):
        super().__init__(save_interval=int(save_interval or 500), start_step=int(start_step or 0),
                         end_step=int(end_step) if end_step else None,
                         save_steps=[int(step) if isinstance(step, str) else operator.index(step)
                                     for step in _items(save_steps)])

    def should_save_step(self, step_num):
        """Returns whether a hook saves at a step."""
        return step_num in self.save_steps or (self.start_step <= step_num and step_num % self.save_interval == 0 and
                                               (self.end_step is None or step_num < self.end_step))


class SaveConfig(smd.Record):
    """At which steps a hook saves: a SaveConfigMode for some modes, and one of the other arguments for the rest.
    Without these the rest is None: a collection is then saved as the hook's configuration says, a hook saves as by
    default."""

    def __init__(self, mode_save_configs=None, save_interval=None, start_step=None, end_step=None, save_steps=None):
        others = save_interval, start_step, end_step, save_steps
        wanted = mode_save_configs is None or any(one is not None for one in others)
        rest = SaveConfigMode(*others) if wanted else None
        given = {Mode.__members__.get(str(getattr(mode, "name", mode)).upper()): config
                 for mode, config in (mode_save_configs or {}).items()}
        if None in given or not all(config is None or isinstance(config, SaveConfigMode) for config in given.values()):
            raise ValueError(f"Each key,value in mode_save_configs={mode_save_configs} must be of type "
                             "ModeKey,SaveConfigMode")
        super().__init__(mode_save_configs={mode: given.get(mode) or rest for mode in Mode.__members__.values()})

    @classmethod
    def parse(cls, obj):
        """Makes one of None, a SaveConfigMode for all modes, or a dict that has for modes a SaveConfigMode or its
        parameters. Returns a SaveConfig as it is."""
        if isinstance(obj, SaveConfig):
            return obj
        if obj is None:
            return cls()
        if isinstance(obj, SaveConfigMode):
            return cls(dict.fromkeys(Mode, obj))
        if not isinstance(obj, dict):
            raise TypeError(f"obj={obj} cannot be parsed into a SaveConfig object")
        return cls({mode: SaveConfigMode(**config) if isinstance(config, dict) else config
                    for mode, config in obj.items()})

    def get_save_config(self, mode):
        """Returns what counts for a mode. Raises ValueError if that is the hook's configuration."""
        if self.mode_save_configs[mode] is None:
            raise ValueError(f"{self} says nothing of {mode}: the hook's configuration counts")
        return self.mode_save_configs[mode]

    def should_save_step(self, mode, step_num):
        """Returns whether a hook saves at a step of a mode."""
        return self.get_save_config(mode).should_save_step(step_num)

    def parameters(self):
        """Returns the keys of a hook's configuration, all of a mode: for a missing one the hook's own value counts."""
        return {f"{mode.name.lower()}.{key}": _NO_END if value is None else value
                for mode, config in self.mode_save_configs.items() if config for key, value in vars(config).items()}


class ReductionConfig(smd.Record):
    """Which reductions a hook saves instead of values, or with save_raw_tensor beside them, and whether shapes."""

    def __init__(self, reductions=None, abs_reductions=None, norms=None, abs_norms=None, save_raw_tensor=False,
                 save_shape=False):
        super().__init__(reductions=_items(reductions), abs_reductions=_items(abs_reductions),
                         norms=_items(norms), abs_norms=_items(abs_norms), save_raw_tensor=save_raw_tensor,
                         save_shape=save_shape)

    def parameters(self):
        """Returns the keys of a hook's configuration."""
        names = self.reductions + self.norms + ["abs_" + name for name in self.abs_reductions + self.abs_norms]
        return {"reductions": ",".join(names), "save_raw_tensor": self.save_raw_tensor, "save_shape": self.save_shape}


def _checked(reduction_config):
    if reduction_config and not isinstance(reduction_config, ReductionConfig):
        raise TypeError(f"reduction_config is a ReductionConfig, not {reduction_config!r}")
    return reduction_config or None


def _of_framework(*arguments, **options):
    """Raises NotImplementedError: there are no hooks into frameworks."""
    raise NotImplementedError("smd has no hooks into frameworks: call save_tensor and next_step in the loop")


class CollectionKeys:
    """The names of the collections that the reference builds in."""


for _name in ("all", "average_shap", "biases", "default", "feature_importance", "full_shap", "gradients",
              "hyperparameters", "inputs", "labels", "layers", "losses", "metrics", "optimizer_variables", "outputs",
              "predictions", "sm_metrics", "tensorflow_summaries", "trees", "weights"):
    setattr(CollectionKeys, _name.upper(), _name)


class Collection(smd.Collection):
    """What a hook saves of some tensors."""

    def __init__(self, name, include_regex=None, tensor_names=None, reduction_config=None, save_config=None,
                 save_histogram=True):
        self.name, self.include_regex, self.tensor_names = name, include_regex, tensor_names
        self.reduction_config, self.save_config, self.save_histogram = reduction_config, save_config, save_histogram

    def __setattr__(self, name, value):
        if name in ("include_regex", "tensor_names"):
            value = smd._list(value)
        elif name == "reduction_config":
            value = _checked(value)
        elif name == "save_config":
            value = SaveConfig.parse(value) if value else None
        super().__setattr__(name, value)

    def include(self, regex):
        """Adds patterns of names."""
        self.include_regex.extend(smd._list(regex))

    def configuration(self):
        """Returns the collection as a hook's configuration has it."""
        parameters = {"include_regex": smd._list(self.include_regex), "tensor_names": smd._list(self.tensor_names),
                      "save_histogram": self.save_histogram}
        for config in (self.reduction_config, self.save_config):
            parameters.update(config.parameters() if config else {})
        return {"CollectionName": self.name, "CollectionParameters": parameters}

    add = add_module_tensors = add_block_tensors = add_keras_layer = _of_framework


CollectionConfig = Collection


def _collection(name, reductions, save_raw_tensor, save_shape, save_config, **facts):
    """Makes a collection of what a hook knows of it."""
    kinds = {"reductions": [], "abs_reductions": [], "norms": [], "abs_norms": []}
    for reduction in reductions:
        plain = reduction.removeprefix("abs_")
        kind = "norms" if plain in ("l1", "l2") else "reductions"
        kinds[kind if plain == reduction else "abs_" + kind].append(plain)
    steps = {mode: SaveConfigMode() for mode in save_config}
    for mode, config in steps.items():
        vars(config).update(save_config[mode])  # also an end_step of 0
    return Collection(name, reduction_config=ReductionConfig(**kinds, save_raw_tensor=save_raw_tensor,
                                                             save_shape=save_shape),
                      save_config=SaveConfig(steps), **facts)


_hooks = weakref.WeakSet()


@atexit.register
def _end_hooks():
    """Closes the hooks that are left, all of them though one may fail."""
    with contextlib.ExitStack() as ends:
        for hook in _hooks:
            ends.callback(hook._end)


_forked = None  # the process at whose end multiprocessing closes hooks


def _end_hooks_of_child():
    """Has hooks closed once the function of a child that multiprocessing forked is over: it calls nothing of atexit."""
    global _forked
    multiprocessing = sys.modules.get("multiprocessing")  # a parent's has loaded it
    if (_forked != os.getpid() and multiprocessing and multiprocessing.parent_process()
            and multiprocessing.get_start_method() in ("fork", "forkserver")):
        _forked = os.getpid()
        multiprocessing.util.Finalize(None, _end_hooks, exitpriority=0)


# What knows this process's place in a distributed job, in the reference's order: modules, and their functions for the
# rank and for the number of processes.
_DISTRIBUTED = (("torch.distributed", "get_rank", "get_world_size"), ("horovod.torch", "rank", "size"),
                ("horovod.tensorflow", "rank", "size"), ("horovod.mxnet", "rank", "size"),
                ("smdistributed.dataparallel.torch.distributed", "get_rank", "get_world_size"),
                ("xgboost.collective", "get_rank", "get_world_size"), ("xgboost.rabit", "get_rank", "get_world_size"))


_ONE_WORKER = {"worker": "worker_0", "num_workers": 1}


def _worker():
    """Returns the worker's name and the number of workers, by what the program has imported and initialised."""
    for name, rank, size in _DISTRIBUTED:
        module = sys.modules.get(name)
        try:
            if module and getattr(module, "is_initialized", lambda: True)():
                return {"worker": f"worker_{getattr(module, rank)()}", "num_workers": int(getattr(module, size)())}
        except (AttributeError, RuntimeError, ValueError):  # built without the functions, or not initialised
            pass
    return dict(_ONE_WORKER)


def _keys(path):
    """Returns the keys of a hook's configuration that have a value; none if it cannot be read, of which the hook tells.
    What is no file can be read once only, by the hook."""
    if not isinstance(path, str) or not os.path.isfile(path):
        return set()
    try:
        with open(path, "rb") as file:
            document = json.load(file)
    except (OSError, RecursionError, ValueError):
        return set()
    hook = document.get("DebugHookConfig", document) if isinstance(document, dict) else None
    parameters = hook.get("HookParameters") if isinstance(hook, dict) else None
    return {key for part in (hook, parameters) if isinstance(part, dict)
            for key, value in part.items() if value is not None}


class Hook(_hook.Hook):
    """Saves tensors of a loop, which calls `next_step` itself. Several threads may use one hook. `close` ends the job;
    without a call, the end of the hook or of the program does, and an error is shown as Python shows those of
    `__del__`. A forked child cannot use its parent's hook; one of its own ends with the child's function. Of a
    distributed job that is initialised, each process is a worker of its own."""

    def __init__(self, out_dir=None, export_tensorboard=False, tensorboard_dir=None, dry_run=False,
                 reduction_config=None, save_config=None, include_regex=None, include_collections=None, save_all=False,
                 include_workers="all", collections=()):
        if out_dir is None:
            raise smd.InvalidArgument("out_dir is missing: the folder, or s3://bucket/prefix, to save into")
        parameters = {"dry_run": dry_run, "export_tensorboard": export_tensorboard, "include_workers": include_workers,
                      "include_regex": smd._list(include_regex), "include_collections": smd._list(include_collections),
                      "save_all": save_all or not (include_regex or include_collections or collections),
                      "tensorboard_dir": tensorboard_dir, **_worker()}
        for config in (_checked(reduction_config), save_config and SaveConfig.parse(save_config)):
            parameters.update(config.parameters() if config else {})
        self._begin(json=json.dumps({
            "LocalPath": os.fspath(out_dir), "HookParameters": {key: value for key, value in parameters.items()
                                                                if value not in (None, [])},
            "CollectionConfigurations": [one.configuration() for one in collections]}))

    def _begin(self, **configuration):
        _hook.Hook.__init__(self, **configuration)
        self._collections = {}  # those that were returned or added, each with its configuration then
        self._changing, self._saves = threading.Lock(), False
        _hooks.add(self)
        _end_hooks_of_child()

    @classmethod
    def create_from_json_file(cls, json_file_path=None):
        """Makes a hook of a configuration (default: that of SMDEBUG_CONFIG_FILE_PATH), whose worker counts if it names
        one."""
        if isinstance(json_file_path, os.PathLike):
            json_file_path = os.fsdecode(json_file_path)
        named = _keys(os.environ.get("SMDEBUG_CONFIG_FILE_PATH") or "/opt/ml/input/config/debughookconfig.json"
                      if json_file_path is None else json_file_path)
        worker = dict(_ONE_WORKER) if "worker" in named else _worker()
        if "num_workers" in named:
            worker["num_workers"] = 1  # so the hook takes the configuration's
        hook = cls.__new__(cls)
        hook._begin(path=json_file_path, **worker)
        return hook

    def _take_changes(self):
        """Adds the collections that the program has changed since it got them; later the hook takes no changes."""
        with self._changing:
            if not self._saves:
                for collection, known in list(self._collections.values()):
                    if json.dumps(collection.configuration()) != known:
                        self.add_collection(collection)
                self._saves = True

    def save_tensor(self, tensor_name, tensor_value, collections_to_write="default"):
        """Saves what the configuration asks of an array, a number, a text, or a list of numbers or of texts. Returns
        whether anything was saved."""
        import numpy
        if not self._saves:
            self._take_changes()
        dtype = None
        if hasattr(tensor_value, "detach"):  # of PyTorch
            tensor_value = tensor_value.detach().cpu()
            if hasattr(tensor_value, "resolve_neg"):  # from 1.10 on
                tensor_value = tensor_value.resolve_conj().resolve_neg()
            name = str(tensor_value.dtype).rpartition(".")[2]
            if name == "bfloat16" or name.startswith("float8"):  # types that NumPy lacks: as bits
                import torch
                dtype, tensor_value = name, tensor_value.view(torch.int16 if name == "bfloat16" else torch.int8)
        if numpy.ma.is_masked(tensor_value):
            raise smd.InvalidArgument(f"'{tensor_name}' has masked elements: give what its method filled() returns")
        array = numpy.asarray(tensor_value)
        if array.dtype.kind == "U":  # NumPy's own texts lose NULs at their ends, and numbers among them become texts
            array = numpy.asarray(tensor_value, object)
        collections = [name for name in smd._list(collections_to_write) if name != "default"]
        if array.dtype.kind == "O" and all(isinstance(one, str) for one in array.flat):
            # The reference has no texts without axes.
            return self._save_texts(tensor_name, array.reshape(-1).tolist(), array.shape or (1,), collections)
        array = numpy.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
        return self._save_tensor(tensor_name, dtype or array.dtype.name, array.shape,
                                 array.reshape(-1).view(numpy.uint8) if array.size and not array.dtype.hasobject
                                 else b"", collections)

    def save_scalar(self, name, value, sm_metric=False):
        """Saves a number as `scalar/NAME`."""
        if not self._saves:
            self._take_changes()
        self._save_scalar(name, float(value))

    def set_step(self, step):
        """Ends the step and goes to another."""
        self._set_step(step, self.mode, step)

    def get_collections(self):
        """Returns all collections by name."""
        return {name: self.get_collection(name) for name in self._all_collections()}

    def get_collection(self, name):
        """Returns a collection with all that the hook saves of it, an empty one for a new name. Changes made
        before anything is saved take effect, as if the collection were given to add_collection."""
        if name not in self._collections:
            facts = self._all_collections().get(name)
            self._keep(_collection(name, **facts) if facts else Collection(name))
        return self._collections[name][0]

    def _keep(self, collection):
        self._collections[collection.name] = collection, json.dumps(collection.configuration())

    def add_collection(self, collection):
        """Adds a collection, or replaces the one of its name, before anything is saved."""
        modes = collection.save_config.mode_save_configs if collection.save_config else {}
        self._add_collections(json.dumps({"CollectionConfigurations": [collection.configuration()]}),
                              [mode for mode, config in modes.items() if config])
        self._keep(collection)

    register_module = register_hook = register_loss = register_block = wrap_optimizer = wrap_tape = _of_framework


class KerasHook(Hook):
    """A hook into a framework, which raises NotImplementedError."""

    __init__ = create_from_json_file = _of_framework


SessionHook = EstimatorHook = KerasHook


def _module(name, *members):
    """Makes the module `smdebug.NAME` of these members, a part of its parent."""
    full = f"{__name__}.{name}"
    made = sys.modules[full] = types.ModuleType(full, __doc__)
    made.__dict__.update({member: globals()[member] for member in members}, __all__=list(members))
    parent, _, last = full.rpartition(".")
    setattr(sys.modules[parent], last, made)


_CONFIGURATIONS = "SaveConfig", "SaveConfigMode", "ReductionConfig", "CollectionConfig", "Collection", "CollectionKeys"
_FRAMEWORK = ("modes", "Hook", "create_trial", *_CONFIGURATIONS)
for _name, *_members in (
        ("exceptions", "IndexReaderException", "InsufficientInformationForRuleInvocation",
         "InvalidCollectionConfiguration", "InvalidWorker", "MissingCollectionFiles", "NoMoreData",
         "RuleEvaluationConditionMet", "ShapeUnavailableForStep", "StepNotYetAvailable", "StepUnavailable",
         "TensorUnavailable", "TensorUnavailableForStep"),
        ("trials", "create_trial", "Trial"), ("trials.utils", "create_trial"), ("trials.trial", "Trial"),
        ("rules", "Rule", "invoke_rule"), ("rules.rule", "Rule"), ("rules.rule_invoker", "invoke_rule"),
        ("rules.required_tensors", "RequiredTensors"), ("rules.req_tensors", "RequiredTensors"),
        ("analysis", "no_refresh", "refresh"), ("analysis.utils", "no_refresh", "refresh"),
        ("core", "get_logger"), ("core.logger", "get_logger"), ("core.modes", "ModeKeys"),
        ("core.tensor", "StepState", "Tensor"), ("core.save_config", "SaveConfig", "SaveConfigMode"),
        ("core.reduction_config", "ReductionConfig"), ("core.collection", "Collection", "CollectionKeys"),
        ("pytorch", *_FRAMEWORK), ("mxnet", *_FRAMEWORK), ("xgboost", *_FRAMEWORK),
        ("tensorflow", *_FRAMEWORK, "KerasHook", "SessionHook", "EstimatorHook")):
    _module(_name, *_members)
