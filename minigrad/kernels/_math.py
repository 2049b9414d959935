"""Functions of one number that Numba can compute for many numbers at once.

The exponential of the C library takes one number at a time. These are polynomials, with
no branch, so a loop over them uses the wide registers of the processor. In float32 and
in float64 ``exp`` is within 2 units in the last place; NaN stays NaN. The coefficients
are interpolations at Chebyshev nodes, computed with 50 digits.

This is plain Python. ``_jit`` tells Numba about the functions in ``FOR_LOOPS``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

F = np.float32
"""A number in float32: beside a plain 1.0 all would become float64."""

ONE, HALF = F(1), F(0.5)
LOG2_E = math.log2(math.e)
LOG2_E_32 = F(LOG2_E)
LN2_HIGH, LN2_LOW = 0.693145751953125, 1.42860682030941723212e-6
LN2_HIGH_32, LN2_LOW_32 = F(0.693359375), F(-2.12194440e-4)
"""The logarithm of 2 in two parts: a whole number times the first is exact."""

LOWEST, LOWEST_32 = -708.3, F(-87.3)
"""Below these the exponential is 0: there are no more numbers of full precision."""

ROUNDER, ROUNDER_32 = 6755399441055744.0, F(12582912)
"""1.5 times the number from which on there are no fractions."""

ZERO, ZERO_32 = 0.0, F(0)
FAR = 60.0

A0, A1, A2, A3, A4 = (
    F(0.00139261761199355789),
    F(0.0083631730745137109),
    F(0.041666554662050534),
    F(0.166665770255979882),
    F(0.5),
)

HALVES = math.sqrt(0.5)
DENSITY = 1 / math.sqrt(2 * math.pi)
"""The height of the normal density at 0."""

MIDDLE = 3.0
NORMAL_END, SLOPE_END = F(5.5), F(6)
"""From here on, in float32, the normal distribution and the slope of GELU are 1."""

P0, P1, P2, P3, P4, P5 = (
    F(9.14781494609e-8),
    F(9.82228978685e-6),
    F(0.00018357136705),
    F(0.00495207938922),
    F(0.0333676494589),
    F(0.39894232576),
)
Q0, Q1, Q2, Q3, Q4, Q5 = (
    F(5.32206503549e-9),
    F(2.5992002362e-6),
    F(9.04252967031e-5),
    F(0.00203512447326),
    F(0.0291289732731),
    F(0.250308079552),
)
R0, R1, R2, R3, R4, R5, R6, R7, R8 = (
    F(-2.35488861705e-13),
    F(2.29798774183e-10),
    F(4.2122113412e-8),
    F(2.26752578757e-7),
    F(4.541946618e-5),
    F(-7.50554516901e-5),
    F(0.0150239707468),
    F(-0.0362707441015),
    F(0.797884612262),
)
S0, S1, S2, S3, S4, S5, S6 = (
    F(9.83060565516e-9),
    F(2.85541004929e-7),
    F(9.89762502703e-6),
    F(0.000213154720953),
    F(0.00348471260088),
    F(0.0397858445934),
    F(0.287875634356),
)


def exp32(x: Any) -> Any:
    """e**x in float32 for x <= 0: a power of 2, times a polynomial near 1."""
    near = LOWEST_32 if x < LOWEST_32 else x
    # Adding so large a number rounds: the last bits are the whole number then.
    shifted = near * LOG2_E_32 + ROUNDER_32
    power = shifted - ROUNDER_32
    r = near - power * LN2_HIGH_32 - power * LN2_LOW_32
    curve = (((A0 * r + A1) * r + A2) * r + A3) * r + A4
    whole = bits(shifted) + np.int32(127)
    scale = number(np.int32(whole << np.int32(23)))
    result = (curve * r * r + r + ONE) * scale
    return ZERO_32 if x < LOWEST_32 else result


def exp64(x: Any) -> Any:
    """The same in float64."""
    near = LOWEST if x < LOWEST else x
    shifted = near * LOG2_E + ROUNDER
    power = shifted - ROUNDER
    r = near - power * LN2_HIGH - power * LN2_LOW
    curve = 2.09146793765839351e-9 * r + 2.51052063739570111e-8
    curve = curve * r + 2.75572736613486362e-7
    curve = curve * r + 2.75572554257464343e-6
    curve = curve * r + 0.0000248015873255333638
    curve = curve * r + 0.00019841269874800492
    curve = curve * r + 0.00138888888888837524
    curve = curve * r + 0.00833333333332614088
    curve = curve * r + 0.0416666666666666698
    curve = curve * r + 0.16666666666666671
    curve = curve * r + 0.5
    whole = bits(shifted) + np.int64(1023)
    scale = number(np.int64(whole << np.int64(52)))
    result = (curve * r * r + r + 1.0) * scale
    return ZERO if x < LOWEST else result


def normal_middle(x: Any) -> Any:
    """The normal distribution less 1/2, in float32, between both ends.

    It is odd: x times a fraction of polynomials in x*x, of which no term is negative.
    """
    z = x * x
    top = ((((P0 * z + P1) * z + P2) * z + P3) * z + P4) * z + P5
    bottom = (((((Q0 * z + Q1) * z + Q2) * z + Q3) * z + Q4) * z + Q5) * z + ONE
    return x * top / bottom


def slope_middle(x: Any) -> Any:
    """The slope of GELU less 1/2, in float32, between both ends: odd as well."""
    z = x * x
    top = (((R0 * z + R1) * z + R2) * z + R3) * z + R4
    top = (((top * z + R5) * z + R6) * z + R7) * z + R8
    bottom = (((S0 * z + S1) * z + S2) * z + S3) * z + S4
    bottom = ((bottom * z + S5) * z + S6) * z + ONE
    return x * top / bottom


def normal32(x: Any) -> Any:
    """The probability that a normal number is smaller, within 3e-7; far left 0."""
    near = NORMAL_END if x > NORMAL_END else x
    middle = normal_middle(near) + HALF
    return ZERO_32 if x < -NORMAL_END else middle


def slope32(x: Any) -> Any:
    """The slope of x times that, within 4e-7; NaN at infinity, as 0 * infinity is."""
    near = SLOPE_END if x > SLOPE_END else x
    middle = slope_middle(near) + HALF
    return (ZERO_32 if x < -SLOPE_END else middle) + x * ZERO_32


def tail64(x: Any) -> Any:
    """e**(x*x) erfc(x) for x >= 0: a polynomial in (x - 3) / (x + 3), over 1 + 2x."""
    both = 1.0 / ((x + MIDDLE) * (1.0 + x + x))
    t = (x - MIDDLE) * both * (1.0 + x + x)
    p = 9.9488209471375396e-10 * t - 3.16959203955352196e-9
    p = p * t - 1.3361953304404018e-8
    p = p * t + 2.77790615997086329e-8
    p = p * t + 1.01957173757908939e-7
    p = p * t - 1.20387139236165253e-7
    p = p * t - 6.16770949355096349e-7
    p = p * t + 3.36490339652982549e-7
    p = p * t + 3.47252028006551874e-6
    p = p * t - 7.18614939630362216e-7
    p = p * t - 0.0000201006276644061065
    p = p * t + 4.94403121488292762e-6
    p = p * t + 0.000125099374359158215
    p = p * t - 0.000105158280854672537
    p = p * t - 0.000779832277274254708
    p = p * t + 0.00188869009083329058
    p = p * t + 0.00252939181679966303
    p = p * t - 0.0237705148906622709
    p = p * t + 0.0683080273439214412
    p = p * t - 0.119273663416815948
    p = p * t + 0.129645158702762625
    p = p * t - 0.0475622943534189722
    p = p * t - 0.135621106124581193
    p = p * t + 1.25300805826972954
    return p * both * (x + MIDDLE)


def normal64(x: Any) -> Any:
    """The same in float64, with as many right digits where it is nearly 0."""
    # Further out it is 0, and infinity would make NaN of it.
    far = abs(x) if abs(x) < FAR else FAR
    tail = 0.5 * exp(far * far * -0.5) * tail64(far * HALVES)
    tail = tail if x == x else x
    return tail if x < ZERO else 1.0 - tail


def slope64(x: Any) -> Any:
    """The same in float64."""
    far = abs(x) if abs(x) < FAR else FAR
    return normal(x) + x * exp(far * far * -0.5) * DENSITY


def exp(x: Any) -> Any:
    """e**x for x <= 0, in the dtype of ``x``."""
    return exp32(x) if isinstance(x, np.float32) else exp64(x)


def normal(x: Any) -> Any:
    """The probability that a normal number is smaller."""
    return normal32(x) if isinstance(x, np.float32) else normal64(x)


def gelu_slope(x: Any) -> Any:
    """The derivative of x times that."""
    return slope32(x) if isinstance(x, np.float32) else slope64(x)


def greater(a: Any, b: Any) -> Any:
    """The greater of two; if one is NaN, either."""
    return max(a, b)


def bits(x: Any) -> Any:
    """The bits of a number, as a whole number of the same length."""
    if isinstance(x, np.float32):
        return x.view(np.int32)
    return np.float64(x).view(np.int64)


def number(whole: Any) -> Any:
    """The number that has these bits."""
    return whole.view(np.float32 if isinstance(whole, np.int32) else np.float64)


FOR_LOOPS: dict[Callable[..., Any], tuple[Callable[..., Any], Callable[..., Any]]] = {
    exp: (exp32, exp64),
    normal: (normal32, normal64),
    gelu_slope: (slope32, slope64),
    normal_middle: (normal_middle, normal_middle),
    slope_middle: (slope_middle, slope_middle),
    tail64: (tail64, tail64),
}
"""What loops may call, with the functions for float32 and for float64.

The processor has an instruction for each of ``greater``, ``bits`` and ``number``.
"""
