"""The other end of the pipe: one JSON object a line (docs/check_protocol.md)."""
import json
from fractions import Fraction

lines = None  # set by the package: what tempera writes
out = None  # and where it reads


def write(message):
    out.write(json.dumps(message) + "\n")
    out.flush()


def ask(request):
    write(request)
    line = lines.readline()
    if not line:
        raise SystemExit(0)
    return json.loads(line)


def draw(weights):
    """The winner among weights: whole numbers, fractions or floats, which are taken as the number that they are."""
    tickets = []
    for weight in weights:
        weight = Fraction(float(weight)) if not isinstance(weight, (int, Fraction)) else Fraction(weight)
        if weight < 0:
            raise ValueError(f"a weight is {float(weight)}, below 0")
        tickets.append(weight)
    if sum(tickets) == 0:
        raise ValueError("a draw whose weights are all 0")
    scale = 1
    for ticket in tickets:
        scale = scale * ticket.denominator // _gcd(scale, ticket.denominator)
    return ask({"draw": [_number(int(ticket * scale)) for ticket in tickets]})["winner"]


def _number(value):
    return value if value < 2**64 else str(value)


def _gcd(a, b):
    while b:
        a, b = b, a % b
    return a
