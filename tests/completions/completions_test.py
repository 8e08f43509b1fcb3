#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""completions_test.py SHELL COMPLETIONS_DIR TRIALS FIXTURES BIN_DIR...: drives the completions of a shell as a user
does: bash and zsh on a terminal, fish by its `complete -C`. Status 77 if there is no such shell.

What must be offered follows from tests/fixtures and from the options that the manual documents; what is inserted must
be, once the shell has read it, the very bytes of the name."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from terminal import Terminal

SHELL = sys.argv[1]
COMPLETIONS, TRIALS, FIXTURES, *BINS = map(os.path.abspath, sys.argv[2:])
del sys.argv[1:]
FUNCTIONS = ["DigitNet_conv.bias", "DigitNet_conv.weight", "DigitNet_fc.bias", "DigitNet_fc.weight",
             "DigitNet_input_0", "DigitNet_output_0"]


# Between words: no blank within quotes or behind a backslash.
BLANK = r"""(?<!\\) (?=(?:[^"]*"[^"]*")*[^"]*$)"""


class Bash:
    """Answers of readline: a key inserts all completions into the line, another shows the line as bash reads it."""

    def __init__(self, folder, environment):
        rc = os.path.join(folder, "rc")
        with open(rc, "w", encoding="utf-8") as file:
            file.write("PS1= PS2=\n. %s/bash/smd\n" % COMPLETIONS)
            # What is written in the line: as words, each in brackets.
            file.write("show() { eval \"set -- $READLINE_LINE\"; printf '<%d:' $#; printf '[%s]' \"$@\"; "
                       "printf '>\\n'; READLINE_LINE=; }\n"
                       "bind -x '\"\\C-xd\": show'\nbind '\"\\C-xa\": insert-completions'\n"
                       "bind 'set enable-bracketed-paste off'\nbind 'set completion-query-items 0'\necho re''ady\n")
        self.terminal = Terminal(["bash", "--noprofile", "--rcfile", rc, "-i"], environment, folder)
        self.terminal.read_until(b"ready\r\n")

    def words(self, typed, key):
        self.terminal.type(typed + key + "\x18d")
        count, words = self.terminal.read_until(rb"<(\d+):(\[.*?\])>\r?\n").groups()
        words = words.decode()[1:-1].split("][")
        assert len(words) == int(count), words
        return words

    def offered(self, typed):
        before = len(re.split(BLANK, typed)) - 1
        return [word.rstrip("=") for word in self.words(typed, "\x18a")[before:]]

    def tab(self, typed):
        return self.words(typed, "\t")

    def close(self):
        self.terminal.close()


class Zsh(Bash):
    def __init__(self, folder, environment):
        with open(os.path.join(folder, ".zshrc"), "w", encoding="utf-8") as file:
            file.write("PS1= PS2= RPS1=\nunsetopt zle_bracketed_paste prompt_sp prompt_cr 2>/dev/null\n"
                       "unset zle_bracketed_paste\n"
                       "fpath=(%s/zsh $fpath)\nautoload -U compinit; compinit -u -D\n"
                       "show() { eval \"set -- $BUFFER\"; { printf '\\n<%%d:' $#; printf '[%%s]' \"$@\"; "
                       "printf '>\\n' } >$TTY; BUFFER=; }\nzle -N show\nbindkey -e\nbindkey '^Xd' show\n"
                       "every() { _main_complete; compstate[insert]=all; compstate[list]=; }\n"
                       "zle -C every complete-word every\nbindkey '^Xa' every\n"
                       "zstyle ':completion:*' verbose no\nLISTMAX=-1\necho re''ady\n" % COMPLETIONS)
        self.terminal = Terminal(["zsh", "-i"], dict(environment, ZDOTDIR=folder), folder)
        self.terminal.read_until(b"ready\r\n")


class Fish:
    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = dict(environment, XDG_CONFIG_HOME=os.path.join(folder, "config"),
                                XDG_DATA_HOME=os.path.join(folder, "data"))

    def answers(self, typed, *more):
        script = ("set fish_complete_path %s/fish $fish_complete_path; set fish_function_path %s/fish "
                  "$fish_function_path; %scomplete %s -C $SMD_TYPED" % (COMPLETIONS, COMPLETIONS, "", " ".join(more)))
        done = subprocess.run(["fish", "--no-config", "-c", script], cwd=self.folder, capture_output=True, timeout=60,
                              env=dict(self.environment, SMD_TYPED=typed), check=False)
        assert not done.stderr, done.stderr.decode()
        return [line.split("\t")[0] for line in done.stdout.decode().splitlines()]

    def offered(self, typed):
        return [candidate.rstrip("=") for candidate in self.answers(typed)]

    def tab(self, typed):
        """Of the words typed and the only candidate, what fish makes: as fish would insert it, read by fish."""
        candidates = self.answers(typed, "--escape")
        assert len(candidates) == 1, candidates
        head = typed[:[found.end() for found in re.finditer(BLANK, typed)][-1]]
        done = subprocess.run(["fish", "--no-config", "-c", "printf '%s\\0' " + head + candidates[0]], cwd=self.folder,
                              capture_output=True, timeout=60, env=self.environment, check=True)
        return done.stdout.decode().split("\0")[:-1]

    def close(self):
        pass


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # A folder of its own, with a blank and a quote in a trial's path.
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="smd-completion-"))
        os.symlink(os.path.join(FIXTURES, "good-pytorch-digits"), os.path.join(cls.folder, "run"))
        os.symlink(os.path.join(FIXTURES, "good-pytorch-two-workers"), os.path.join(cls.folder, "my run's"))
        os.symlink(os.path.join(TRIALS, "names_odd"), os.path.join(cls.folder, "odd"))
        os.symlink(os.path.join(FIXTURES, "tb-logs", "sweep"), os.path.join(cls.folder, "sweep"))
        os.mkdir(os.path.join(cls.folder, "only"))
        for name in ("best.pt", "model.safetensors", "loss.csv", "notes.txt"):
            with open(os.path.join(cls.folder, name), "wb"):
                pass
        environment = {"PATH": os.pathsep.join([*BINS, "/usr/bin", "/bin"]), "HOME": cls.folder, "TERM": "dumb",
                       "LC_ALL": "C.UTF-8", "TRIAL": "run", "TTY": ""}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH"):
            if name in os.environ:
                environment[name] = os.environ[name]
        cls.shell = {"bash": Bash, "zsh": Zsh, "fish": Fish}[SHELL](cls.folder, environment)

    @classmethod
    def tearDownClass(cls):
        cls.shell.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def offers(self, typed, *expected):
        self.assertEqual(sorted(self.shell.offered(typed)), sorted(expected), typed)

    def test_one_file(self):
        self.assertEqual(self.shell.tab("smd-ls bes"), ["smd-ls", "best.pt"])
        self.assertEqual(self.shell.tab("smd-ls mod"), ["smd-ls", "model.safetensors"])
        self.assertEqual(self.shell.tab("smd-ls los"), ["smd-ls", "loss.csv"])

    def test_options(self):
        self.offers("smd-ls --col", "--collection", "--collections", "--color", "--columns")
        self.offers("smd-tensor --he", "--heatmap", "--help")
        self.offers("smd-reduce --sl", "--slice")

    def test_formats_and_choices(self):
        self.offers("smd-ls -f ", "table", "tsv", "csv", "json", "jsonl")
        self.offers("smd-tensor -f n", "npy", "npz")
        self.offers("smd-ls --color ", "auto", "always", "never")
        self.offers("smd-reduce --columns abs_m", "abs_min", "abs_max", "abs_median", "abs_mean")
        self.offers("smd-reduce --nan ", "propagate", "omit")
        self.offers("smd-ls --get last", "last_step", "last_complete_step")

    def test_modes(self):
        self.offers("smd-ls -m ", "train", "eval", "predict", "global")
        self.assertEqual(self.shell.tab("smd-ls run --mode train,ev"), ["smd-ls", "run", "--mode", "train,eval"])

    def test_reductions(self):
        self.offers("smd-reduce -r abs_m", "abs_min", "abs_max", "abs_median", "abs_mean")
        self.assertEqual(self.shell.tab("smd-reduce -r min,varia"), ["smd-reduce", "-r", "min,variance"])
        self.assertEqual(self.shell.tab("smd-reduce --columns tensor,varia"), ["smd-reduce", "--columns", "tensor,variance"])

    def test_tensors(self):
        self.offers("smd-tensor run DigitNet_", *FUNCTIONS)
        self.assertEqual(self.shell.tab("smd-ls run -n DigitNet_conv.w"),
                         ["smd-ls", "run", "-n", "DigitNet_conv.weight"])

    def test_conditions(self):
        self.offers("smd-wait run --until DigitNet_f", "DigitNet_fc.bias", "DigitNet_fc.weight")
        self.offers("smd-tensor run --where value", "value", "value_smooth")
        # A folder of runs: the names of the first.
        self.offers("smd-runs sweep --best lo", "loss")
        self.offers("smd-runs sweep -n lo", "loss")

    def test_trial_behind_the_option(self):
        typed = "smd-tensor -c g run"
        if SHELL == "fish":  # always completes at the end
            typed = "smd-tensor run -c g"
        self.assertIn("gradients", self.shell.tab(typed) if SHELL == "fish" else self.at_cursor(typed, " run"))

    def at_cursor(self, typed, after):
        return self.shell.words(typed + "\x02" * len(after), "\t")

    def test_more_tensors(self):
        self.offers("smd-tensor run DigitNet_fc.bias DigitNet_c", "DigitNet_conv.bias", "DigitNet_conv.weight")
        self.offers("smd-ls run -n CrossEntropyLoss_in", "CrossEntropyLoss_input_0", "CrossEntropyLoss_input_1")

    def test_collections(self):
        self.offers("smd-ls run -c ", "all", "biases", "default", "gradients", "losses", "weights")

    def test_workers(self):
        # Both trials' collections files name these.
        self.offers("smd-ls run -w ", "all", "worker_0")
        self.assertEqual(self.shell.tab("smd-ls run --worker wor")[-1], "worker_0")

    def test_trial_with_blank_and_quote(self):
        names = ["all", "worker_0", "worker_1"]
        for typed in ("smd-ls my\\ run\\'s -w ", 'smd-ls "my run\'s" -w '):
            offered = self.shell.offered(typed)
            self.assertEqual(sorted(offered)[-3:], names, typed)

    def test_variable_and_other_directory(self):
        self.offers("smd-tensor $TRIAL DigitNet_", *FUNCTIONS)
        self.offers("smd-tensor ~/run DigitNet_f", "DigitNet_fc.bias", "DigitNet_fc.weight")

    def test_nothing_is_executed(self):
        marker = os.path.join(self.folder, "executed")
        for typed in ("smd-ls $(touch executed) -w x", "smd-ls `touch executed` -w x", "smd-ls '$(touch executed)' -n x",
                      "smd-ls \"$(touch executed)\" -c x"):
            if SHELL == "fish":
                self.shell.offered(typed)
            else:
                self.shell.terminal.type(typed + "\t\x15")
                self.shell.tab("smd-ls --summ")  # an answer: the one before is done
        self.assertFalse(os.path.exists(marker))

    def test_steps(self):
        # The steps that the README shows of this trial; mode steps for -m eval.
        self.offers("smd-ls run -s 2", "21", "26")
        self.offers("smd-ls run -m eval -s ", "first", "last", "all", "0", "5", "10")
        self.offers("smd-wait run -m eval -s ", "0", "5", "10")  # which takes numbers alone
        self.assertEqual(self.shell.tab("smd-tensor run -s 5,fi"), ["smd-tensor", "run", "-s", "5,first"])

    def test_odd_names(self):
        cases = {"single": "single'quote", "double": 'double"quote', "a\\ b": "a b c", "emoji": "emoji🙂",
                 "back": "back\\slash", "regex": "regex.*[a-z]+(x)$", "comma": "comma,semi;colon", "../": "../up/one",
                 "a:0:": "a:0:1", "per": "per%20cent", "very": None}
        for typed, name in cases.items():
            words = self.shell.tab("smd-tensor odd " + typed)
            if name is None:
                self.assertGreater(len(words[2]), 200)
                continue
            self.assertEqual(words, ["smd-tensor", "odd", name])
        self.assertEqual(self.shell.tab("smd-ls odd -n sing"), ["smd-ls", "odd", "-n", "single'quote"])

    def test_open_quotes(self):
        if SHELL == "fish":
            # `complete -C` shows what is offered, not how it would be inserted.
            for quote in "'\"":
                self.assertEqual(self.shell.offered("smd-tensor odd %sa b" % quote), ["a b c"])
            return
        for quote in "'\"":
            self.assertEqual(self.shell.tab("smd-tensor odd %sa b" % quote), ["smd-tensor", "odd", "a b c"])
            self.assertEqual(self.shell.tab("smd-tensor odd %sa:0:" % quote), ["smd-tensor", "odd", "a:0:1"])
        self.assertEqual(self.shell.tab("smd-tensor odd \"single"), ["smd-tensor", "odd", "single'quote"])

    def test_long_option_with_equals(self):
        self.assertEqual(self.shell.tab("smd-ls odd --name=sing"), ["smd-ls", "odd", "--name=single'quote"])
        self.assertEqual(self.shell.tab("smd-ls run --collection=gra"), ["smd-ls", "run", "--collection=gradients"])
        self.assertEqual(self.shell.tab("smd-ls --format=jsonl"), ["smd-ls", "--format=jsonl"])

    @unittest.skipUnless(any(os.path.exists(os.path.join(folder, "smd-rule")) for folder in BINS), "no smd-rule")
    def test_rules(self):
        self.offers("smd-rule -r Over", "Overfit", "Overtraining")
        self.assertEqual(self.shell.tab("smd-rule run -r vanishing_"), ["smd-rule", "run", "-r", "vanishing_gradient"])
        self.offers("smd-rule run -r DeadRelu -p threshold_", "threshold_inactivity", "threshold_layer")
        # With several rules the parameter says whose it is.
        self.offers("smd-rule run -r DeadRelu -r TreeDepth -p TreeDepth.", "TreeDepth.depth", "TreeDepth.start_step",
                    "TreeDepth.end_step")
        self.offers("smd-rule run -r DeadRelu,TreeDepth -p TreeDepth.", "TreeDepth.depth", "TreeDepth.start_step",
                    "TreeDepth.end_step")
        self.assertEqual(self.shell.tab("smd-rule run -r TreeDepth -p de")[-1], "depth=")

    @unittest.skipUnless(any(os.path.exists(os.path.join(folder, "smd-rule")) for folder in BINS), "no smd-rule")
    def test_reports(self):
        self.offers("smd-rule run --report j", "json", "jsonl", "junit")
        self.assertEqual(self.shell.tab("smd-rule run --report sage")[-1], "sagemaker=")
        self.assertEqual(self.shell.tab("smd-rule run --report junit=onl")[-1], "junit=only/")

    def test_saved_reductions(self):
        self.offers("smd-save run -r abs_m", "abs_min", "abs_max", "abs_median", "abs_mean")
        self.assertEqual(self.shell.tab("smd-save run --reduce min,varia")[-1], "min,variance")

    def test_trial_operand(self):
        self.assertEqual(self.shell.tab("smd-ls onl"), ["smd-ls", "only/"])

    def test_no_trial(self):
        for typed in ("smd-ls -n DigitN", "smd-tensor nowhere Dig", "smd-tensor only Dig"):
            words = self.shell.offered(typed) if SHELL == "fish" else self.shell.tab(typed)
            self.assertEqual(words, [] if SHELL == "fish" else typed.split(" "))


if __name__ == "__main__":
    if shutil.which(SHELL) is None:
        print("skipped: there is no", SHELL)
        sys.exit(77)
    unittest.main(verbosity=1)
