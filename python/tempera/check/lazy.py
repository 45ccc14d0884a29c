"""Uniform numbers that are not drawn yet: each knows its interval, and is split where it is compared."""
import math
import numbers
from fractions import Fraction

from . import lab

python_log = getattr(math.log, "stands_in_for", math.log)


# As tempera's own lottery (docs/explanation/lottery.md): what is below the grain of a word of 128 bits is left out, so that guards
# such as max(u, 1e-300) are no decision.
_GRAIN = Fraction(1, 2**128)


def uniform():
    """A number that is uniform on [0, 1)."""
    return Real(_Interval())


_ONE, _ZERO = Fraction(1), Fraction(0)


class _Range:
    """An interval of numbers, and how it was split before: paths meet the same points again and again."""

    __slots__ = ("low", "high", "_splits", "_cells")

    def __init__(self, low, high):
        self.low, self.high, self._splits, self._cells = low, high, {}, {}

    def __reduce__(self):
        return _Range, (self.low, self.high)

    def split(self, point):
        """True if all of it is below a point, or (tickets, what is below, what is not)."""
        known = self._splits.get(point)
        if known is None:
            at = exact(point)
            if at <= self.low or at < _GRAIN:
                known = False
            elif at >= self.high or at > 1 - _GRAIN:
                known = True
            else:
                known = lab.tickets_of([at - self.low, self.high - at]), _Range(self.low, at), _Range(at, self.high)
            if len(self._splits) >= _MOST_SPLITS:
                self._splits.clear()
            self._splits[point] = known
        return known

    def cells(self, scale, shift):
        """For each whole number that floor(scale u + shift) may be: (their tickets, the first, the part of it for each)."""
        known = self._cells.get((scale, shift))
        if known is None:
            ends = sorted((scale * self.low + shift, scale * self.high + shift))
            first, last = math.floor(ends[0]), math.ceil(ends[1]) - 1
            bounds = [(max(ends[0], n), min(ends[1], n + 1)) for n in range(first, last + 1)]
            parts = [_Range(*sorted(((low - shift) / scale, (high - shift) / scale))) for low, high in bounds]
            known = lab.tickets_of([high - low for low, high in bounds]), first, parts
            if len(self._cells) >= _MOST_SPLITS:
                self._cells.clear()
            self._cells[scale, shift] = known
        return known


_MOST_SPLITS = 1 << 16
_WHOLE = _Range(_ZERO, _ONE)


class _Interval:
    """The interval in which one number is known to lie."""

    __slots__ = ("range",)

    def __init__(self):
        self.range = _WHOLE

    def is_below(self, point):
        """True if the number is below a point: asked for only if both are possible, and kept to from then on."""
        known = self.range.split(point)
        if known is True or known is False:
            return known
        tickets, below, above = known
        is_below = lab.drawn(tickets) == 0
        self.range = below if is_below else above
        return is_below

    def is_whole(self):
        return self.range is _WHOLE or self.range.low == 0 and self.range.high == 1


class Undrawn:
    """Refuses to give the value of a number that is not drawn yet."""

    def _refuse(self, what):
        raise lab.Refused(f"{what} at {lab.address()}: a uniform is split where it is compared: its value cannot be asked "
                        "for (tempera.check)")

    def __float__(self):
        self._refuse("float()")

    def __bool__(self):
        raise lab.Refused(f"a uniform has no truth value at {lab.address()}: compare it (tempera.check)")

    def __int__(self):
        self._refuse("int()")

    def __pow__(self, other):
        self._refuse("a power of a uniform")

    __rpow__ = __pow__

    def __abs__(self):
        self._refuse("abs()")

    def __round__(self, digits=0):
        self._refuse("round()")

    def exp(self):
        self._refuse("exp() of a uniform")

    def sqrt(self):
        self._refuse("the root of a uniform")

    def item(self):
        """Itself, as a number of one element of an array or tensor has it."""
        return self

    def __repr__(self):
        return f"<{type(self).__name__} not drawn yet>"

    __hash__ = object.__hash__


def exact(value):
    """The value as a fraction: nothing for what is not a number."""
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    if isinstance(value, Undrawn):
        raise lab.Refused(f"two uniforms added or compared at {lab.address()}: a uniform is split where it is compared with "
                        "a number (tempera.check)")
    if isinstance(value, numbers.Real) or hasattr(value, "__float__"):
        return Fraction(float(value))
    return None


class Real(Undrawn):
    """scale * u + shift, u uniform: may be added to, multiplied, compared, floored, and put through a logarithm."""

    def __init__(self, interval, scale=_ONE, shift=_ZERO):
        self._interval, self._scale, self._shift = interval, scale, shift

    def __add__(self, other):
        other = exact(other)
        return NotImplemented if other is None else Real(self._interval, self._scale, self._shift + other)

    def __mul__(self, other):
        other = exact(other)
        return NotImplemented if other is None else Real(self._interval, self._scale * other, self._shift * other)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        other = exact(other)
        return NotImplemented if other is None else self + -other

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        other = exact(other)
        return NotImplemented if other is None else self * (1 / other)

    def __rtruediv__(self, other):
        self._refuse("a number divided by a uniform")

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other):
        # A single point has probability 0, so that < and <= are one.
        if other is self:
            return False
        if isinstance(other, float):
            if self._scale is _ONE and self._shift is _ZERO and 0.0 <= other <= 1.0:
                return self._interval.is_below(other)
            if not math.isfinite(other):
                return other > 0
        point = exact(other)
        if point is None:
            return NotImplemented
        if self._scale == 0:
            return self._shift < point
        at = (point - self._shift) / self._scale
        return self._interval.is_below(at) if self._scale > 0 else not self._interval.is_below(at)

    def __gt__(self, other):
        if isinstance(other, float) and math.isnan(other):
            return False
        below = self.__lt__(other)
        return below if below is NotImplemented else not below

    __le__, __ge__ = __lt__, __gt__

    def __floor__(self):
        """The whole number below, drawn among those that the interval reaches."""
        if self._scale == 0:
            return math.floor(self._shift)
        tickets, first, parts = self._interval.range.cells(self._scale, self._shift)
        if len(parts) == 1:
            return first
        at = lab.drawn(tickets)
        self._interval.range = parts[at]
        return first + at

    floor = __floor__

    def __int__(self):
        if self < 0:
            return -math.floor(-self)
        return math.floor(self)

    __trunc__ = __int__

    def log(self):
        """log u, which may be compared with numbers and with other logarithms."""
        if self._scale == 1 and self._shift == 0:
            u = self
        elif self._scale == -1 and self._shift == 1 and self._interval.is_whole():
            u = Real(self._interval, self._scale, self._shift)  # 1 - u is a uniform too
        else:
            return LogOfReal(self, 0.0)
        return Clock(u, "linear", -1.0)


class LogOfReal(Undrawn):
    """log of any Real, to be compared with numbers: log x < y if x < exp y."""

    def __init__(self, real, shift):
        self._real, self._shift = real, shift

    def __add__(self, other):
        exact(other)
        return LogOfReal(self._real, self._shift + float(other))

    def __sub__(self, other):
        exact(other)
        return LogOfReal(self._real, self._shift - float(other))

    __radd__ = __add__

    def __neg__(self):
        self._refuse("minus the logarithm of a uniform that was shifted or cut off")

    def __lt__(self, other):
        exact(other) if not isinstance(other, float) else None
        y = float(other) - self._shift
        return not math.isnan(y) and self._real < (math.inf if y > 700 else math.exp(y))

    def __gt__(self, other):
        return not math.isnan(float(other)) and not self < other

    __le__, __ge__ = __lt__, __gt__


class Clock(Undrawn):
    """A function of T = -log u, which is exponential: a T + b, a / T, or a log T + b (Gumbel's, if a < 0).

    It is compared with a number by u. Two of one form are compared as clocks of rates r and s: the first rings first
    with probability r / (r + s). What rings first of a group has the sum of their rates, and is independent of which it
    was, so that the largest or smallest of many is found by comparing in turn.
    """

    def __init__(self, u, form, a=1.0, b=0.0, group=None):
        self._u, self._form, self._a, self._b = u, form, a, b
        self._group = group if group is not None else _Group()

    def _like(self, form, a, b):
        return Clock(self._u, form, a, b, self._group)

    def __add__(self, other):
        exact(other) if not isinstance(other, float) else None
        if self._form == "inverse":
            self._refuse("adding to a number divided by an exponential")
        return self._like(self._form, self._a, self._b + float(other))

    def __mul__(self, other):
        exact(other) if not isinstance(other, float) else None
        other = float(other)
        return self._like(self._form, self._a * other, self._b * other if self._b else 0.0)

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        exact(other) if not isinstance(other, float) else None
        return self._like(self._form, self._a / float(other), self._b / float(other) if self._b else 0.0)

    def __rtruediv__(self, other):
        exact(other) if not isinstance(other, float) else None
        if self._form != "linear" or self._b != 0:
            self._refuse("a number divided by this")
        return self._like("inverse", float(other) / self._a, 0.0)

    __radd__, __rmul__ = __add__, __mul__

    def log(self):
        """log(a T) = log T + log a, and log(a / T) = -log T + log a."""
        if self._form == "log" or self._b != 0 or self._a <= 0:
            if self._form == "inverse" and self._a == 0:
                return -math.inf
            self._refuse("this logarithm")
        return self._like("log", 1.0 if self._form == "linear" else -1.0, math.log(self._a))

    def is_rising(self):
        """True if the value is the larger, the later the clock rings."""
        return self._a < 0 if self._form == "inverse" and self._a else (self._form != "inverse" and self._a > 0)

    def log_rate(self):
        """log r such that the order of values is that of ringing times T / r; -inf for what never rings."""
        if self._form == "log":
            return -self._b / self._a
        rate = 1.0 / abs(self._a) if self._form == "linear" else abs(self._a)
        return math.log(rate) if rate > 0 else -math.inf

    def __lt__(self, other):
        if isinstance(other, Clock):
            return self._rings_before(other) == self.is_rising()
        if not isinstance(other, float):
            exact(other)
        x = float(other)
        if math.isnan(x):
            return False
        return self._is_below(x)

    def _is_below(self, x):
        self._group.refuse_if_compared(self)
        a, b = self._a, self._b
        if math.isinf(x) or (self._form == "inverse" and a == 0):
            return x > 0
        if self._form == "linear":
            time = (x - b) / a
        elif self._form == "inverse":
            if x == 0 or (x > 0) != (a > 0):
                return a < 0
            time = a / x
        else:
            time = math.exp(min(700.0, (x - b) / a))
        is_early = not self._u < math.exp(-time) if time > 0 else False  # T < time if u > exp(-time)
        return is_early == self.is_rising()

    def __gt__(self, other):
        if isinstance(other, Clock):
            return other < self
        return not math.isnan(float(other)) and not self < other

    __le__, __ge__ = __lt__, __gt__

    def _rings_before(self, other):
        if other is self or other._group is self._group:
            return False
        if self._form != other._form or self.is_rising() != other.is_rising() or (
                self._form == "linear" and (self._b or other._b)) or (
                self._form == "log" and self._a != other._a):
            self._refuse("comparing these two")
        first = ring_first([self, other])
        return first == 0

    def __repr__(self):
        return f"<{self._form} function of an exponential, not drawn yet>"


class _Group:
    """The events that a clock is known to have rung before: the logarithms of its rates, its own excepted."""

    def __init__(self):
        self.others, self.is_late, self.is_compared = [], False, False

    def refuse_if_compared(self, clock):
        if self.is_compared:
            clock._refuse("comparing with a number what was compared with another")


def ring_first(clocks):
    """Index of the clock that rings first: drawn by their rates, and remembered by them."""
    for clock in clocks:
        if not clock._u._interval.is_whole() or clock._group.is_late:
            clock._refuse("comparing once more what has lost a comparison, or was compared with a number")
    rates = [[clock.log_rate()] + clock._group.others for clock in clocks]
    most = max(max(of_one) for of_one in rates)
    if most == -math.inf:
        return 0  # none ever rings: equal, as the largest of several zeros is the first
    weights = [sum(math.exp(rate - most) for rate in of_one) for of_one in rates]
    first = lab.draw(weights)
    for i, clock in enumerate(clocks):
        clock._group.is_compared = True
        if i != first and weights[i]:
            clock._group.is_late = True
            clocks[first]._group.others += rates[i]
    return first
