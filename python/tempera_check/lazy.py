"""Uniform numbers that nobody has drawn yet: each knows the interval that it lies in, and is split where it is compared."""
import math
import numbers
from fractions import Fraction

from . import lab


def uniform():
    """A number that is uniform on [0, 1)."""
    return Real(_Interval(), Fraction(1), Fraction(0))


class _Interval:
    def __init__(self):
        self.low, self.high = Fraction(0), Fraction(1)

    def is_below(self, point):
        """Whether the number is below a point: asked for only where both are possible, and kept to from then on."""
        if point <= self.low:
            return False
        if point >= self.high:
            return True
        if lab.draw([point - self.low, self.high - point]) == 0:
            self.high = point
            return True
        self.low = point
        return False


def _exact(value):
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    if isinstance(value, numbers.Real) or hasattr(value, "__float__") and not isinstance(value, Real):
        return Fraction(float(value))
    return None


class Real:
    """scale * u + shift, u uniform: may be added to, multiplied, compared, floored, and put through a logarithm."""

    def __init__(self, interval, scale, shift):
        self._interval, self._scale, self._shift = interval, scale, shift

    def _with(self, scale, shift):
        if scale is None or shift is None:
            return NotImplemented
        return Real(self._interval, scale, shift)

    def __add__(self, other):
        other = _exact(other)
        return NotImplemented if other is None else self._with(self._scale, self._shift + other)

    def __mul__(self, other):
        other = _exact(other)
        return NotImplemented if other is None else self._with(self._scale * other, self._shift * other)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        other = _exact(other)
        return NotImplemented if other is None else self + -other

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        other = _exact(other)
        return NotImplemented if other is None else self * (1 / other)

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other):
        # A single point has probability 0, so that < and <= are one.
        if isinstance(other, float) and math.isinf(other):
            return other > 0
        if isinstance(other, float) and math.isnan(other):
            return False
        point = _exact(other)
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
        ends = sorted((self._scale * self._interval.low + self._shift, self._scale * self._interval.high + self._shift))
        first = math.floor(ends[0])
        last = math.ceil(ends[1]) - 1
        if last <= first:
            return first
        weights = [min(ends[1], n + 1) - max(ends[0], n) for n in range(first, last + 1)]
        n = first + lab.draw(weights)
        cell = sorted((max(ends[0], n) - self._shift, min(ends[1], n + 1) - self._shift), key=lambda x: x / self._scale)
        self._interval.low, self._interval.high = (x / self._scale for x in cell)
        return n

    def __int__(self):
        if self < 0:
            return -math.floor(-self)
        return math.floor(self)

    __trunc__ = __int__

    def item(self):
        """Itself, as a number of one element of an array or tensor has it."""
        return self

    def log(self):
        return Log(self)

    def __float__(self):
        raise TypeError("a uniform is split where it is compared: its value cannot be asked for (tempera_check)")

    def __bool__(self):
        raise TypeError("a uniform has no truth value: compare it (tempera_check)")


class Log:
    """log of a Real, to be compared: log u < x where u < exp x."""

    def __init__(self, real, shift=0.0):
        self._real, self._shift = real, shift

    def __add__(self, other):
        return Log(self._real, self._shift + float(other))

    def __sub__(self, other):
        return Log(self._real, self._shift - float(other))

    __radd__ = __add__

    def __lt__(self, other):
        x = float(other) - self._shift
        if math.isnan(x):
            return False
        return self._real < (math.inf if x > 700 else math.exp(x))

    def __gt__(self, other):
        x = float(other) - self._shift
        return not math.isnan(x) and not self < other

    __le__, __ge__ = __lt__, __gt__

    def item(self):
        return self
