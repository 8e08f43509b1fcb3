# SPDX-License-Identifier: Apache-2.0
"""Evaluates rules for smd-rule --python, which asks by JSON lines on a socket and gets a JSON line for each."""
import importlib.machinery
import importlib.util
import inspect
import json
import os
import re
import socket
import sys
import traceback
import weakref

import smd
from smd.compat import install
from smd.compat import smdebug

CONDITION = ("base_trial", "action_str", "other_trial", "other_trials")
_files = {}
_shared = frozenset(sys.modules)  # loaded before any file, so of no folder
_folder = ""  # the one whose modules files find
_beside = {}  # the modules of each other folder
_trials = weakref.WeakValueDictionary()
_rules = {}


def _lies_in(folder, module):
    facts = getattr(module, "__dict__", {})
    return folder in map(os.path.dirname, [facts.get("__file__") or "", *(facts.get("__path__") or ())])


def _go_beside(file):
    """Lets a file find the modules of its own folder: those of other folders may have the same names."""
    global _folder
    folder = os.path.dirname(os.path.abspath(file))
    if folder == _folder:
        return
    if _folder:
        if _folder in sys.path:
            sys.path.remove(_folder)
        own = {name for name, module in sys.modules.items()
               if "." not in name and name not in _shared and _lies_in(_folder, module)}
        _beside[_folder] = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in own}
    sys.path.insert(0, folder)
    sys.modules.update(_beside.pop(folder, {}))
    _folder = folder


def load(file):
    """Returns the classes of a file that derive from Rule, with the parameters of their constructors."""
    _go_beside(file)
    place = os.path.abspath(file)
    name = os.path.splitext(os.path.basename(place))[0]
    loader = importlib.machinery.SourceFileLoader(name, place)  # whatever the file's extension is
    spec = importlib.util.spec_from_file_location(name, place, loader=loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, module)
    spec.loader.exec_module(module)
    _files[file] = module
    classes = {}
    for name, kind in vars(module).items():
        if isinstance(kind, type) and issubclass(kind, smdebug.Rule) and kind.__module__ == module.__name__ \
                and not inspect.isabstract(kind):
            given = list(inspect.signature(kind).parameters.values())[1:]
            named = {one.name: one for one in given if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
            others = [named[name] for name in ("other_trials", "other_trial") if name in named]
            classes[name] = {
                "summary": inspect.cleandoc(kind.__doc__ or "").partition("\n")[0],
                "other": others[0].name if others else "",
                "other_required": bool(others) and others[0].default is others[0].empty,
                "parameters": [{"name": one.name, "required": one.default is one.empty,
                                "default": None if one.default in (one.empty, None) else str(one.default)}
                               for one in named.values() if one.name not in CONDITION]}
    return {"classes": classes}


def _trial(path, options):
    key = json.dumps([path, options])
    trial = _trials.get(key)
    if trial is None:
        trial = _trials[key] = smdebug.create_trial(path, **options)
    return trial


def start(number, file, name, trials, parameters):
    """Makes a rule."""
    _go_beside(file)
    base, *others = [_trial(path, options) for path, options in trials]
    kind = getattr(_files[file], name)
    accepted = inspect.signature(kind).parameters
    if "other_trials" in accepted:
        parameters["other_trials"] = others or None
    elif "other_trial" in accepted and others:
        parameters["other_trial"] = others[0]
    _rules[number] = kind(base, **parameters), file
    return {}


def step(number, step, news):
    """Returns whether a rule's condition is met at a step. news: smd-rule has looked at the trials anew."""
    rule, file = _rules[number]
    _go_beside(file)
    for trial in getattr(rule, "trials", [rule.base_trial]):
        if news or step > (-1 if trial.last_complete_step is None else trial.last_complete_step):
            trial.refresh()
    try:
        return {"met": f"{type(rule).__name__}: the condition is met"} if rule.evaluate(step, wait=False) else {}
    except smdebug.RuleEvaluationConditionMet as met:
        return {"met": str(met), "done": met.end_of_rule}
    except smdebug.StepNotYetAvailable as error:
        known = isinstance(getattr(error, "step", None), int)  # a rule may raise it without
        return {"skip": str(error), **({"later": [error.step, error.mode.name]} if known else {})}
    except smdebug.SKIPPED as error:
        unread = smdebug.unread(error)
        return {"unread": vars(unread)} if unread else {"skip": str(error)}


def end(number):
    _rules.pop(number, None)
    return {}


def _error(error):
    """Returns an exception's last line, the line of the user's file that it left, and its traceback."""
    last = traceback.format_exception_only(type(error), error)[-1].strip()
    files = {getattr(module, "__file__", None) for module in _files.values()}
    places = [one for one in traceback.extract_tb(error.__traceback__)
              if one.filename in files or "smd/" not in one.filename.replace(os.sep, "/") and "<frozen" not in one.filename]
    where = f" ({os.path.basename(places[-1].filename)}, line {places[-1].lineno})" if places else ""
    if isinstance(error, SyntaxError):
        where = f" ({os.path.basename(error.filename or '')}, line {error.lineno})"
        last = f"{type(error).__name__}: {error.msg}"
    return {"error": last + where, "traceback": traceback.format_exc()}


def _json(reply):
    """Returns a line of JSON. Halves of surrogate pairs, which no JSON has, are shown as escapes."""
    text = json.dumps(reply, ensure_ascii=False)
    text = re.sub("[\ud800-\udfff]", lambda half: f"\\\\u{ord(half[0]):04x}", text)
    return text.encode() + b"\n"


def main(descriptor):
    install(force=True)
    calls = {"load": load, "start": start, "step": step, "end": end}
    with socket.socket(fileno=descriptor) as line, line.makefile("r", encoding="utf-8") as requests:
        for request in requests:
            name, *arguments = json.loads(request)
            try:
                reply = calls[name](*arguments)
            except (Exception, SystemExit) as error:
                reply = _error(error)
            sys.stdout.flush()
            line.sendall(_json(reply))
