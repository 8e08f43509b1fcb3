# SPDX-License-Identifier: Apache-2.0
"""Writes pattern_cases.inc: what Python's `re.search` says of patterns and names."""
import re

PATTERNS = [
    # built-in patterns (docs/format.md)
    r"^(?!gradient).*weight", r"^(?!gradient).*bias", r"^gradient", r"[Ll]oss_(?!input).*output",
    r"^[a-zA-z]+-.+(?<!(auc|map))$", r"^[a-zA-z]+-[a-zA-z0-9]+$", r".*",
    r"^average_shap/.*[^/bias]$", r"^full_shap/.*[^/bias]$",
    # Unicode, ends, flags, groups
    r"^\w+$", r"\d", r"\s", r"\bé", r"(?i)ÉTÉ", r"(?i)σ", r"^.$", r"a$", r"(?s)a.b", r"a.b", r"(?m)^b$", r"(?x) a  b ",
    r"(?P<x>a)(?P=x)", r"(a)?b(?(1)c|d)", r"a{2,3}$", r"a{,2}!", r"[^\W\d_]", r"\Aa", r"a\Z", r"x*?y", r"[]a]", r"[[:a]",
    # syntax that PCRE2 writes or understands differently
    r"(?a)^\w+$", r"(?a)\d", r"(?a)\s", r"(?a)\bt", r"(?a)\W", r"(?a)[^\W]", r"(?a)^[\W\d]+$", r"(?a)^[^\s]\S*$",
    r"(?a)\B\D\B", r"(?ai)b$", r"(?i)k", r"(?i)[j-l]", r"(?i)i", r"(?i)^[a-i]$", r"(?i)^[^i]$", r"(?ia)^a\W",
    r"(?i:É)T", r"(?i)é(?-i:t)", r"(?u)^\w+$", r"(?ux) a  b ", r"^\s", r"^[\s]$", r"^\S$", r"^[^\S]", r"^[\w-]+$", r"^[^\w]+$",
    r"^[\W]+$", r"^[\D]+$", r"\v", r"[\v]", r"\b", r"\Ba", r"[\b]", r"(?x) a \# [ #] # comment [ (" "\n" r" x", r"a{",
    r"{}", r"b{,1}}", r"a{,}b", r"a{1,}{?", r"[{,1}]$", r"[]{,1}]$", r"[^]{,1}]$", r"\101", r"[\101-\103]", r"(a)(b)?\1",
    r"(a)\1{2}", r"(?m)^$", r"(?m)^b?$", r"(?#comment [(a)b", r"(?P<x>a)(?i:(?P=x))", r"[\[\]a-]{2}", r"\é", r"(?s:.)\n",
    r"(?<!\w)b", r"(?<=\s)b", r"(?>a+)b", r"\u00e9", r"[\u00e9]", r"\x41", r"\U0001f600", r"\\Z", r"", r"a|", r"\.",
    r"[\w.]+:0$",
]
NAMES = [
    "", "fc.weight", "gradient/fc.weight", "fc.bias", "CrossEntropyLoss_output_0", "loss_input_output", "Loss_output",
    "train-auc", "train-logloss", "train-mlogloss", "validation-map", "a_b-c", "average_shap/f0", "average_shap/bias",
    "full_shap/a/b", "été", "ÉTÉ", "1", "٣", "x٣", "a b", "a\u00a0b", "a\u2003b", "a\nb", "b\n", "a", "aa", "aaa!", "a\n",
    "Σ", "ς", "日本", "😀", "block:0", "abc", "bd", "bc", "]", "[", ":", "A", "aXb", "ab", "_", "e\u0301", "xx\u00b2",
    "a.b", "y", "a-1", "K", "k", "\u212a", "s", "\u017f", "i", "I", "\ufb05",
    "\ufb06", "\u0390", "\u1fd3", "\u03b0", "\u1fe3", "a{", "{}", "}", "a\x0bb", "a# x", "a# comment x", "\b", "\n", "b\n\n", "\x85",
    "Éa", "éT", "éa", "-", "\u203f", "a\u0301", "½", "aAa", "comment [(ab", "[a", "a\n\nb",
]


def literal(text):
    return '"' + "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode()) + '"'


with open("pattern_cases.inc", "w", encoding="ascii") as out:
    out.write("// SPDX-License-Identifier: Apache-2.0\n// Written by make_pattern_cases.py. One digit a name: 1 if found.\n")
    out.write("constexpr const char* case_names[] = {\n" + "".join(f"    {literal(n)},\n" for n in NAMES) + "};\n")
    out.write("constexpr PatternCase pattern_cases[] = {\n")
    for pattern in PATTERNS:
        found = "".join("1" if re.search(pattern, name) else "0" for name in NAMES)
        out.write(f"    {{{literal(pattern)},\n     \"{found}\"}},\n")
    out.write("};\n")
