# SPDX-License-Identifier: Apache-2.0
"""Writes reduction_cases.inc: arrays and what their reductions are, without the library.

Sums, means, variances, norms and products come from exact rational arithmetic (fractions), rounded once; percentiles
from numpy.percentile in float64, of integers from 2^53 on by sorting; the rest from Python. Run with Debian's
python3-numpy: python3 make_cases.py
Squares that leave double's range are not asked for: there the rule is NumPy's, and written out in the tests.
"""
import math
from fractions import Fraction
from pathlib import Path

import numpy

DTYPES = {"float32": "float32", "float64": "float64", "int32": "int32", "uint8": "uint8", "int16": "int16",
          "int8": "int8", "int64": "int64", "bool": "boolean", "uint16": "uint16", "float16": "float16",
          "uint32": "uint32", "uint64": "uint64"}
random = numpy.random.default_rng(20)


def rounded(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def root(value):
    shift = 1200
    return rounded(Fraction(math.isqrt((value.numerator << (2 * shift)) // value.denominator), 1 << shift))


def percentile(values, percent, whole):
    """As numpy.percentile in float64; of integers an element from 2^53 on as it is."""
    ordered = sorted(values)
    place = percent / 100 * (len(values) - 1)
    low = math.floor(place)
    if whole and abs(ordered[low]) >= 2**53 and (place == low or ordered[low] == ordered[low + 1]):
        return ordered[low]
    return float(numpy.percentile(numpy.array([float(x) for x in values]), percent))


def statistics_of(array, omit, ddof, repeat):
    values = array.ravel().tolist() * repeat
    whole = array.dtype.kind != "f"
    result = {"count": len(values), "nan": sum(x != x for x in values), "zero": sum(x == 0 for x in values),
              "negative": sum(x < 0 for x in values), "posinf": sum(x == math.inf for x in values),
              "neginf": sum(x == -math.inf for x in values)}
    result["inf"] = result["posinf"] + result["neginf"]
    result["finite"] = result["count"] - result["nan"] - result["inf"]
    n = len(values)
    result["zero_fraction"] = result["zero"] / n if n else math.nan
    result["nan_fraction"] = result["nan"] / n if n else math.nan
    if omit:
        values = [x for x in values if x == x]
    lost = any(x != x for x in values)
    for prefix in "", "abs_":
        part = [abs(x) for x in values] if prefix else values
        names = ["min", "max", "mean", "std", "variance", "sum", "prod", "l1", "l2", "median"]
        result |= {prefix + name: math.nan for name in names} | {"rms": math.nan, prefix + "p99.9": math.nan}
        if lost:
            continue
        if part:
            result[prefix + "min"] = min(part)
            result[prefix + "max"] = max(part)
            result[prefix + "median"] = percentile(part, 50, whole)
            result[prefix + "p99.9"] = percentile(part, 99.9, whole)
        elif n == 0:
            result[prefix + "min"] = result[prefix + "max"] = None
        infinite = [x for x in part if isinstance(x, float) and math.isinf(x)]
        if infinite:
            total = sum(infinite)
            result |= {prefix + "sum": total, prefix + "mean": total, prefix + "l1": math.inf, prefix + "l2": math.inf,
                       "rms": math.inf}
            odd = sum(x < 0 for x in part) % 2
            result[prefix + "prod"] = math.nan if 0 in part else (-math.inf if odd else math.inf)
            continue
        exact = [Fraction(x) for x in part]
        total = sum(exact)
        size = sum(abs(x) for x in exact)
        squares = sum(x * x for x in exact)
        result[prefix + "sum"] = int(total) if whole else rounded(total)
        result[prefix + "l1"] = int(size) if whole else rounded(size)
        result[prefix + "l2"] = root(squares)
        result[prefix + "prod"] = rounded(math.prod(exact)) if len(exact) <= 100 else "?"
        if exact:
            mean = total / len(exact)
            distances = sum((x - mean) ** 2 for x in exact)
            alone = whole and len(exact) == 1 and abs(mean) >= 2**53
            result[prefix + "mean"] = int(mean) if alone else rounded(mean)
            result["rms"] = root(squares / len(exact))
            if len(exact) > ddof:
                result[prefix + "variance"] = rounded(distances / (len(exact) - ddof))
                result[prefix + "std"] = root(distances / (len(exact) - ddof))
            elif distances:
                result[prefix + "variance"] = result[prefix + "std"] = math.inf
    return result


def text(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return repr(value)
    return str(int(value)) if not isinstance(value, str) else value


lines = []


def case(values, dtype=None, omit=0, ddof=0, repeat=1, skip=()):
    array = numpy.asarray(values, dtype)
    wanted = statistics_of(array, omit, ddof, repeat)
    answer = " ".join(f"{k}={text(v)}" for k, v in wanted.items() if v != "?" and k not in skip)
    lines.append(f'{{Dtype::{DTYPES[str(array.dtype)]}, "{array.tobytes().hex()}", {repeat}, {omit}, {ddof},\n '
                 f'"{answer}"}},')


for dtype in DTYPES:
    if dtype == "bool":
        values = random.random(9) < 0.5
    elif "float" in dtype:
        values = random.standard_normal(9).astype(dtype)
    else:
        limits = numpy.iinfo(dtype)
        values = random.integers(limits.min, limits.max, 9, dtype=dtype, endpoint=True)
        values[:3] = limits.min, limits.max, 0
    # Integers beyond 2^53 are rounded before they enter a product.
    skip = ("prod", "abs_prod") if "64" in dtype and "int" in dtype else ()
    case(values, skip=skip)
    case(values, ddof=1, repeat=1000)
    case(values[:1].reshape(()), ddof=1)
    case(values[:0])
    case(values[3:4], repeat=5000)
for dtype in "float16", "float32", "float64":
    limits = numpy.finfo(dtype)
    for omit in 0, 1:
        case([1, 2, math.nan, 4], dtype, omit)
        case([math.nan, math.nan], dtype, omit)
        case([1, math.nan, math.inf, -3], dtype, omit)
    case([1, 2, math.inf, -4], dtype)
    case([math.inf, 2, -math.inf], dtype)
    case([math.inf, 0, 5], dtype)
    case([-0.0, 0.0, -0.0], dtype)
    case([3.5, 1], dtype, ddof=2)
    case([3.5, 1], dtype, ddof=5)
    case([float(limits.smallest_subnormal) * k for k in range(1, 9)], dtype,
         skip=("l2", "rms", "std", "abs_std", "abs_l2", "variance", "abs_variance") if dtype == "float64" else ())
squares = ("l2", "rms", "std", "abs_std", "abs_l2", "variance", "abs_variance")
case([1e16, 1.0, -1e16], repeat=700)
case([1e300, 1e200, 1.0, -1e200, -1e300, 3.0], repeat=1001, skip=squares)
case([1e300, -1e300, 1e200, -1e200, 1.0], skip=squares)
case([1.7e308, 1.7e308, -1.7e308, -1.7e308], repeat=900, skip=squares + ("abs_mean",))
case([1e200, 1e200, 1e-200, 1e-200, 0.5], skip=squares)
case([1e8], repeat=30000)
case([0.1], repeat=10000)
case([0.1, -0.1, 0.1], repeat=4000)
case([1e8 + 1, 1e8, 1e8 - 1, 1e8 + 2], repeat=3000)
case([1e7, 1e7 + 1, 1e7], "float32", repeat=7000)
case([1.0, 1 + 2.0**-52], repeat=2500)
case([1e18] + [1.25, -3.5, 0.375] * 10)
case([5e-324, 1e-310, -3e-320, 2e-308], repeat=3, skip=squares)
case([2**62 + k * k for k in range(12)], "int64", repeat=900, skip=("prod", "abs_prod"))
case([2**63 + 5 * k for k in range(12)], "uint64", repeat=900, skip=("prod", "abs_prod"))
case([2**53 + k for k in range(-40, 41)], "int64", repeat=11, skip=("prod", "abs_prod"))
case([-(2**60) - k for k in range(41)] + [2**60 + 1], "int64", skip=("prod", "abs_prod"))
case([2**64 - 1 - 7 * k for k in range(401)], "uint64", repeat=3, skip=("prod", "abs_prod"))
case(random.standard_normal(40) * numpy.exp(random.uniform(-30, 30, 40)), repeat=200)
case((random.standard_normal(40) * numpy.exp(random.uniform(-30, 30, 40))).astype("float32"), repeat=200)
case(random.random(40).astype("float32"), repeat=500)
case(numpy.maximum(random.standard_normal(40), 0).astype("float16"), repeat=500)
case(1 + 0.01 * random.standard_normal(40).astype("float32"), repeat=500)

Path(__file__).with_name("reduction_cases.inc").write_text(
    "// Written by make_cases.py: type, elements (hexadecimal), how often they are repeated, omit NaN, ddof, answers.\n"
    + "\n".join(lines) + "\n")
