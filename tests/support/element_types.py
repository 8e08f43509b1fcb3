#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""element_types.py FOLDER: a small trial of every element type, and what NumPy says of it.

FOLDER/TYPE is the trial, FOLDER/other/TYPE one with the same names in float64 (complex128, text) and other numbers;
both are TensorBoard logs, of the 8-bit floating-point types checkpoints. FOLDER/expected.json has for each type the
statistics of each value, the differences between two steps, and between the two trials, and the findings of rules.

All is computed from the element's numbers as NumPy's float64 (complex128). NumPy has no bfloat16 and no 8-bit floating
point: their numbers follow from the formulas of the formats."""

import json
import math
import os
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from event_bytes import field, masked_crc, varint  # noqa: E402

STEPS = range(4)
SIZES = (0, 1, 5, 1000)
SECONDS = 1000  # between steps


def float8(exponent_bits, mantissa_bits, bias, special):
    """The 256 numbers of a format, by code; `special(code)` says which are none."""
    def number(code):
        if exponent_bits == 8:
            return 2.0 ** (code - bias)
        exponent, fraction = code >> mantissa_bits & (1 << exponent_bits) - 1, code & (1 << mantissa_bits) - 1
        size = math.ldexp(fraction, 1 - bias - mantissa_bits) if exponent == 0 else \
            math.ldexp(fraction + (1 << mantissa_bits), exponent - bias - mantissa_bits)
        return -size if code >= 128 else size
    with np.errstate(over="ignore"):
        return np.array([number(code) if special(code) is None else special(code) for code in range(256)])


FLOAT8 = {
    "float8_e4m3fn": float8(4, 3, 7, lambda code: np.nan if code & 127 == 127 else None),
    "float8_e5m2": float8(5, 2, 15, lambda code: None if code & 127 < 124 else
                          np.nan if code & 127 > 124 else -np.inf if code > 127 else np.inf),
    "float8_e4m3fnuz": float8(4, 3, 8, lambda code: np.nan if code == 128 else None),
    "float8_e5m2fnuz": float8(5, 2, 16, lambda code: np.nan if code == 128 else None),
    "float8_e8m0fnu": float8(8, 0, 127, lambda code: np.nan if code == 255 else None),
}
# Names in safetensors.
STORED = {"float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ",
          "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0", "float64": "F64"}
# Numbers in TensorFlow's types.proto, and NumPy's type of the bytes.
LOGGED = {"float32": (1, "<f4"), "float64": (2, "<f8"), "int32": (3, "<i4"), "uint8": (4, "u1"), "int16": (5, "<i2"),
          "int8": (6, "i1"), "string": (7, None), "complex64": (8, "<c8"), "int64": (9, "<i8"), "bool": (10, "?"),
          "qint8": (11, "i1"), "quint8": (12, "u1"), "qint32": (13, "<i4"), "bfloat16": (14, "<u2"),
          "qint16": (15, "<i2"), "quint16": (16, "<u2"), "uint16": (17, "<u2"), "complex128": (18, "<c16"),
          "float16": (19, "<f2"), "uint32": (22, "<u4"), "uint64": (23, "<u8")}
TYPES = [*LOGGED, *FLOAT8]


def kind_of(dtype):
    if dtype in FLOAT8 or dtype.startswith(("float", "bfloat")):
        return "f"
    return {"s": "s", "c": "c", "b": "b"}.get(dtype[0], "u" if dtype.lstrip("q").startswith("u") else "i")


class Array:
    """Elements of a type: `bytes` as they are stored, `numbers` as float64, complex128 or a list of texts."""

    def __init__(self, dtype, shape, numbers):
        self.dtype, self.shape, self.numbers = dtype, shape, numbers
        if dtype == "string":
            self.bytes = None
            return
        if dtype in FLOAT8:
            table = FLOAT8[dtype]
            values, first_codes = np.unique(table, return_index=True)  # the first of two zeros; NaN is last
            codes = first_codes[np.searchsorted(values, numbers)]
            self.bytes = codes.astype("u1").tobytes()
            back = table[codes]
        elif dtype == "bfloat16":
            bits = (numbers.astype("<f4").view("<u4") >> 16).astype("<u2")
            self.bytes = bits.tobytes()
            back = (bits.astype("<u4") << 16).view("<f4").astype(float)
        else:
            stored = numbers.astype(LOGGED[dtype][1])
            self.bytes = stored.tobytes()
            back = stored.astype(numbers.dtype)
        assert np.array_equal(back, numbers, equal_nan=True), (dtype, numbers)


def numbers_of(dtype, size, seed):
    """Numbers that the type holds, among them 0 where it has one."""
    at = np.arange(size) * 37 + seed * 5
    if dtype == "string":
        return [f"text {number}" for number in at]
    if dtype in FLOAT8:
        table = FLOAT8[dtype]
        some = np.unique(table[np.isfinite(table) & (np.abs(table) <= 8) & ((np.abs(table) >= 1 / 64) | (table == 0))])
        return some[at % len(some)]
    small = at % 41 - 20.0
    return {"f": small / 8, "i": small, "u": small + 20, "b": (at % 3 == 0).astype(float),
            "c": small / 8 + 1j * ((at + 7) % 41 - 20) / 4}[kind_of(dtype)]


def shape_of(size):
    return (10, 100) if size == 1000 else (size,)


def special(dtype, size, seed):
    """As `numbers_of`, with a NaN and, where there is room, an infinity, if the type has them."""
    numbers = numbers_of(dtype, size, seed)
    if size > 0 and kind_of(dtype) in "fc":
        has_infinity = dtype not in FLOAT8 or np.isinf(FLOAT8[dtype]).any()
        if size > 1 and has_infinity:
            numbers[0] = np.inf
        numbers[-1] = np.nan
    return numbers


LOSSES = {"train/loss": (8, 4, 2, 1), "val/loss": (8, 4, 2, 2)}  # but of booleans


def tensors_of(dtype, step, seed=0):
    """The tensors of a step by name. Texts are in all sizes too."""
    tensors = {}
    seed += step
    for size in SIZES:
        for name, numbers in ((f"tanh{size}/weight", numbers_of(dtype, size, seed)),
                              (f"g{size}/grad", numbers_of(dtype, size, seed + 2)),
                              (f"x{size}/special", special(dtype, size, seed))):
            tensors[name] = Array(dtype, shape_of(size), numbers)
    if dtype != "string" and kind_of(dtype) != "c":
        classes = np.array([1.0, 2.0, 4.0]) if dtype == "float8_e8m0fnu" else np.array([0.0, 1.0, 2.0])
        count = 2 if dtype == "bool" else 3
        at = np.arange(1000)
        tensors["labels"] = Array(dtype, (1000,), classes[(at * at + step) % 7 % count])
        tensors["predictions"] = Array(dtype, (1000,), classes[(at * 3 + step) % 5 % count])
        nodes = [1.0, 1, 0, 1, 1] if dtype == "bool" else [1.0, 2, 4, 8, 4]
        tensors["trees/Node"] = Array(dtype, (5,), np.array(nodes))
        for feature, share in enumerate((1.0, 1, 1) if dtype == "bool" else (1.0, 4, 2)):
            tensors[f"feature_importance/weight/f{feature}"] = Array(dtype, (1,), np.array([share]))
        for name, numbers in LOSSES.items() if dtype != "bool" else ():
            tensors[name] = Array(dtype, (), np.array([float(numbers[step])]))
    return tensors


def other_type(dtype):
    return {"c": "complex128", "s": "string"}.get(kind_of(dtype), "float64")


def other_tensors(dtype, step):
    """Numbers that differ from those of `tensors_of` in places, in a wider type."""
    theirs = tensors_of(dtype, step)
    changed = tensors_of(dtype, step, seed=1)
    wider = {}
    for name, array in theirs.items():
        numbers = list(array.numbers)
        numbers[::2] = list(changed[name].numbers)[::2]
        if dtype != "string":
            numbers = np.array(numbers, complex if kind_of(dtype) == "c" else float)
        wider[name] = Array(other_type(dtype), array.shape, numbers)
    return wider


def tensor_proto(array):
    number, _ = LOGGED[array.dtype]
    proto = varint(1 << 3) + varint(number)
    proto += field(2, b"".join(field(2, varint(1 << 3) + varint(size)) for size in array.shape))
    if array.dtype == "string":
        return proto + b"".join(field(8, text.encode()) for text in array.numbers)
    return proto + (field(4, array.bytes) if array.bytes else b"")


def write_log(folder, steps):
    os.makedirs(folder)
    with open(os.path.join(folder, "events.out.tfevents.1700000000.host.1.0"), "wb") as file:
        for step, tensors in steps.items():
            values = b""
            for name, array in tensors.items():
                scalar = field(9, field(1, field(1, b"scalars"))) if array.shape == () else b""
                values += field(1, field(1, name.encode()) + scalar + field(8, tensor_proto(array)))
            event = b"\x09" + struct.pack("<d", 1.7e9 + SECONDS * step) + b"\x10" + varint(step) + field(5, values)
            length = struct.pack("<Q", len(event))
            file.write(length + struct.pack("<I", masked_crc(length)) + event + struct.pack("<I", masked_crc(event)))


def write_checkpoints(folder, steps):
    for step, tensors in steps.items():
        header, data = {}, b""
        for name, array in tensors.items():
            header[name] = {"dtype": STORED[array.dtype], "shape": list(array.shape),
                            "data_offsets": [len(data), len(data) + len(array.bytes)]}
            data += array.bytes
        text = json.dumps(header).encode()
        path = os.path.join(folder, f"checkpoint-{step}")
        os.makedirs(path)
        path = os.path.join(path, "model.safetensors")
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + data)
        os.utime(path, (1.7e9 + SECONDS * step,) * 2)


def statistics(array):
    """By the names of smd-reduce; None where there is no result. Statistics of text: none at all."""
    if array.dtype == "string":
        return {}
    x = array.numbers.reshape(-1)
    size, is_complex, kind = x.size, np.iscomplexobj(x), kind_of(array.dtype)
    modulus = np.abs(x)
    nan = np.isnan(x)
    infinite = np.isinf(x) & ~nan
    result = {"count": size, "nan": nan.sum(), "inf": infinite.sum(), "finite": size - nan.sum() - infinite.sum(),
              "zero": (x == 0).sum(), "zero_fraction": (x == 0).sum() / size if size else np.nan,
              "nan_fraction": nan.sum() / size if size else np.nan}
    result |= {name: None for name in ("min", "max", "median", "prod", "p25", "abs_p99.5", "abs_median", "posinf",
                                       "neginf", "negative")}
    with np.errstate(all="ignore"):
        if size:
            result |= {"abs_min": modulus.min(), "abs_max": modulus.max(), "abs_median": np.median(modulus),
                       "abs_p99.5": np.percentile(modulus, 99.5)}
        else:
            result |= {"abs_min": None, "abs_max": None, "abs_median": np.nan, "abs_p99.5": np.nan}
        if not is_complex:
            result |= {"posinf": (x == np.inf).sum(), "neginf": (x == -np.inf).sum(), "negative": (x < 0).sum(),
                       "prod": np.prod(x)}
            if size:
                result |= {"min": x.min(), "max": x.max(), "median": np.median(x), "p25": np.percentile(x, 25)}
            else:
                result |= {"median": np.nan, "p25": np.nan}
        result |= {"sum": x.sum(), "abs_sum": modulus.sum(), "l1": modulus.sum(), "abs_l1": modulus.sum(),
                   "l2": np.sqrt((modulus ** 2).sum()), "abs_l2": np.sqrt((modulus ** 2).sum()),
                   "abs_prod": np.prod(modulus)}
        for name, numbers in (("", x), ("abs_", modulus)):
            whole = numbers.size > 0
            result |= {name + "mean": numbers.mean() if whole else np.nan,
                       name + "std": numbers.std() if whole else np.nan,
                       name + "variance": numbers.var() if whole else np.nan}
        result["rms"] = np.sqrt((modulus ** 2).mean()) if size else np.nan
        if is_complex and size == 0:
            result |= {"mean": complex(np.nan, np.nan), "sum": 0j}
        if is_complex and size and nan.any():
            result |= {"std": np.nan, "variance": np.nan}
        if is_complex and size:
            # NumPy divides by a complex number without an imaginary part: an infinite part makes the other one NaN.
            result["mean"] = np.mean(x)
    assert kind != "s"
    return result


def difference(a, b):
    """As smd-diff. Pairs of which one is not finite are in no sum; if they differ, max_abs is infinite."""
    if a.dtype == "string":
        differing = [x != y for x, y in zip(a.numbers, b.numbers)]
        return {"differing": sum(differing), "first": differing.index(True) if any(differing) else None}
    x, y = a.numbers.reshape(-1), b.numbers.reshape(-1)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    finite = np.isfinite(x) & np.isfinite(y)
    result = {"differing": (~same).sum(), "first": int(np.argmin(same)) if not same.all() else None}
    if x.size == 0:
        return result
    u, v = x[finite], y[finite]
    d = np.abs(u - v)
    with np.errstate(all="ignore"):
        ratios = np.where(d == 0, 0, d / np.abs(v))
    l2_a, l2_b = (np.sqrt((np.abs(part) ** 2).sum()) for part in (u, v))
    result |= {"max_abs": np.inf if (~same & ~finite).any() else d.max(initial=0), "max_rel": ratios.max(initial=0),
               "mean_abs": d.mean() if d.size else None, "rmse": np.sqrt((d ** 2).mean()) if d.size else None,
               "l2_a": l2_a, "l2_b": l2_b, "l2_diff": np.sqrt((d ** 2).sum()),
               "cosine": (u * np.conj(v)).real.sum() / (l2_a * l2_b) if l2_a > 0 and l2_b > 0 else None}
    return result


# Parameters with which rules trigger wherever they look, so that a finding shows what was measured.
RULES = {
    "DeadRelu": {"tensor_regex": "weight$", "threshold_inactivity": "50", "threshold_layer": "-1"},
    "SaturatedActivation": {"tensor_regex": "weight$", "threshold_tanh_min": "-1", "threshold_tanh_max": "1",
                            "threshold_inactivity": "50", "threshold_layer": "-1"},
    "ExplodingTensor": {"tensor_regex": "special"},
    "VanishingGradient": {"threshold": "1e9"},
    "WeightUpdateRatio": {"large_threshold": "-1"},
    "AllZero": {"tensor_regex": "weight$", "threshold": "0"},
    "ClassImbalance": {"samples": "1", "threshold_imbalance": "0", "threshold_misprediction": "-1"},
    "Confusion": {"min_diag": "1", "max_off_diag": "0"},
    "LossNotDecreasing": {"tensor_regex": "loss", "use_losses_collection": "False", "num_steps": "1"},
    "Overfit": {"pairs": "train/loss:val/loss"},
    "Overtraining": {"pairs": "train/loss:val/loss", "patience_train": "1", "patience_validation": "1"},
    "PoorWeightInitialization": {"activation_inputs_regex": "tanh(5|1000)/", "threshold": "0",
                                 "distribution_range": "1e9", "patience": "100"},
    "StalledTrainingRule": {"threshold": "1"},
    "TensorVariance": {"tensor_regex": "weight$", "max_threshold": "-1"},
    "UnchangedTensor": {"tensor_regex": "weight$", "num_steps": "2", "atol": "1e9"},
    "CheckInputImages": {"regex": "weight$", "threshold_samples": "1", "threshold_mean": "-1"},
    "NLPSequenceRatio": {"tensor_regex": "weight$", "token_values": "1", "token_thresholds_percent": "-1"},
    "FeatureImportanceOverweight": {"threshold": "0", "nfeatures": "1"},
    "TreeDepth": {"depth": "-1"},
    "Threshold": {"tensor_regex": "weight$", "reduction": "median", "operator": ">", "threshold": "-1e9"},
    "SimilarAcrossRuns": {"tensor_regex": "weight$|special"},
}


def inactive(numbers, low, high):
    """The percentage of nodes that are active in less than half of the samples."""
    table = numbers.reshape(10, -1) if numbers.size == 1000 else numbers.reshape(-1, 1)
    active = (table > low) & (table < high)
    return 100 * (100 * active.mean(axis=0) < 50).mean()


def close(a, b):
    with np.errstate(all="ignore"):
        return (np.abs(a - b) <= 1e-8 + 1e-5 * np.abs(b)) | (a == b) | (np.isnan(a) & np.isnan(b))


def class_of(numbers):
    return np.floor(numbers + 0.5)


def confusion(labels, predictions):
    labels, predictions = class_of(labels).astype(int), class_of(predictions).astype(int)
    matrix = np.zeros((8, 8))
    np.add.at(matrix, (labels, predictions), 1)
    of_class = matrix.sum(axis=0)
    seen = [c for c in range(8) if of_class[c] > 0 or matrix[c].sum() > 0]
    diagonal = min(matrix[c, c] / of_class[c] if of_class[c] > 0 else 0 for c in seen)
    off = max(matrix[j, c] / of_class[c] for c in seen if of_class[c] > 0 for j in range(8) if j != c)
    return diagonal, off


def findings(dtype, steps, others):
    """[step, tensor, check, value] of each rule, in no order."""
    found = {rule: [] for rule in RULES}
    if kind_of(dtype) in "cs":
        found["StalledTrainingRule"] = [[step, None, "seconds", SECONDS] for step in STEPS[:-1]]
        return found
    logged = dtype in LOGGED  # checkpoints have no collection of gradients
    seen = {}  # by tensor: images, pixels, sums
    counts = {}
    wrong = {}
    for step in STEPS:
        tensors = {name: array.numbers for name, array in steps[step].items()}
        before = {name: array.numbers for name, array in steps[step - 1].items()} if step else None
        def add(rule, tensor, check, value, at=step):
            found[rule].append([at, tensor, check, value])
        for size in SIZES[1:]:
            weight, gradient, odd = f"tanh{size}/weight", f"g{size}/grad", f"x{size}/special"
            x = tensors[weight]
            add("DeadRelu", weight, "dead_percent", inactive(x, 0, np.inf))
            add("SaturatedActivation", weight, "tanh", inactive(x, -1, 1))
            bad = (~np.isfinite(tensors[odd])).sum()
            if bad:
                add("ExplodingTensor", odd, "non_finite", bad)
            if logged:
                add("VanishingGradient", gradient, "abs_mean", np.abs(tensors[gradient]).mean())
            add("AllZero", weight, "zero_percent", 100 * (x == 0).mean())
            add("TensorVariance", weight, "max", x.var())
            add("Threshold", weight, "median", np.median(x))
            add("NLPSequenceRatio", weight, "token=1", 100 * (x == 1).mean())
            if before:
                r = before[weight]
                add("WeightUpdateRatio", weight, "large", np.linalg.norm(x - r) / (np.linalg.norm(r) + 1e-9))
                add("UnchangedTensor", weight, "max_abs_change", np.abs(x - r).max())
            images, pixels, sums = seen.get(weight, (0, 0, 0.0))
            table = x.reshape(10, 100) if size == 1000 else x.reshape(-1, 1)
            images, pixels, sums = images + len(table), pixels + len(table), sums + table.sum(axis=0)
            seen[weight] = images, pixels, sums
            means = sums / pixels
            add("CheckInputImages", weight, "channel_mean", means[np.argmax(np.abs(means))])
            for name in (weight, odd):
                far = (~close(tensors[name], others[step][name].numbers)).sum()
                if far:
                    add("SimilarAcrossRuns", name, "value", far)
        if before:  # by their names, features are weights too; they do not change
            for feature in range(3):
                add("WeightUpdateRatio", f"feature_importance/weight/f{feature}", "large", 0)
        labels, predictions = tensors["labels"], tensors["predictions"]
        for c in np.unique(class_of(labels)):
            of_class = class_of(labels) == c
            counts[c] = counts.get(c, 0) + of_class.sum()
            wrong[c] = wrong.get(c, 0) + (of_class & (class_of(predictions) != c)).sum()
        add("ClassImbalance", "labels", "imbalance", max(counts.values()) / min(counts.values()))
        add("ClassImbalance", "predictions", "misprediction", max(wrong[c] / counts[c] for c in counts))
        diagonal, off = confusion(labels, predictions)
        add("Confusion", "predictions", "diag", diagonal)
        add("Confusion", "predictions", "off_diag", off)
        add("TreeDepth", "trees/Node", "depth", math.floor(math.log2(tensors["trees/Node"].max())))
        shares = [(tensors[name].item(), name) for name in tensors if name.startswith("feature_importance")]
        largest = max(share for share, _ in shares)
        add("FeatureImportanceOverweight", min(name for share, name in shares if share == largest), "share",
            largest / sum(share for share, _ in shares))
        variances = {f"tanh{size}/weight": tensors[f"tanh{size}/weight"].var() for size in (1000, 5)}
        add("PoorWeightInitialization", max(variances, key=variances.get), "variance_ratio",
            max(variances.values()) / min(variances.values()))
        spreads = {f"g{size}/grad": np.subtract(*np.percentile(tensors[f"g{size}/grad"], [95, 5])) for size in (1000, 5)}
        if logged:
            add("PoorWeightInitialization", min(spreads, key=spreads.get), "gradient_range", min(spreads.values()))
        if step:
            add("StalledTrainingRule", None, "seconds", SECONDS, step - 1)
    if dtype != "bool":  # at the last step the losses part: 1 in training, 2 as before in validation
        found["LossNotDecreasing"] = [[3, "val/loss", "decrease_percent", 0]]
        found["Overfit"] = [[3, "val/loss", "ratio", 1]]
        found["Overtraining"] = [[3, "val/loss", "validation", 1]]
    return found


def plain(value):
    """As JSON."""
    if value is None or isinstance(value, (str, list, dict)):
        return value
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    value = float(value)
    return "NaN" if math.isnan(value) else value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def numbers(values):
    return {name: plain(value) for name, value in values.items()}


def make(folder):
    expected = {"rules": RULES, "types": {}}
    for dtype in TYPES:
        write = write_checkpoints if dtype in FLOAT8 else write_log
        steps = {step: tensors_of(dtype, step) for step in STEPS}
        others = {step: other_tensors(dtype, step) for step in STEPS}
        write(os.path.join(folder, dtype), steps)
        write(os.path.join(folder, "other", dtype), others)
        found = findings(dtype, steps, others)
        expected["types"][dtype] = {
            "statistics": {name: numbers(statistics(array)) for name, array in steps[0].items()},
            "between_steps": {name: numbers(difference(array, steps[1][name])) for name, array in steps[0].items()},
            "between_trials": {name: numbers(difference(array, others[0][name])) for name, array in steps[0].items()},
            "findings": {rule: [[*finding[:3], plain(finding[3])] for finding in of_rule]
                         for rule, of_rule in found.items()}}
    with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(expected, file, allow_nan=False)


if __name__ == "__main__":
    make(sys.argv[1])
