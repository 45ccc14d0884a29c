"""A local move with a planted mistake, for `tempera check`: the way back is scored along y and not along x."""
import json
import sys
from fractions import Fraction


def ask(**request):
    print(json.dumps(request), flush=True)
    return json.loads(sys.stdin.readline())


def proposal(prefix):
    """g(. | prefix) = p0^alpha / z, and z."""
    powered = [Fraction(p) ** alpha for p in ask(next=prefix)["p"]]
    return powered, sum(powered)


def is_open(record):
    return len(record) < horizon and not (record and record[-1] in terminal)


def step(x):
    r = ask(draw=[1] * horizon)["winner"]  # positions before it are kept
    if r >= len(x):
        return x  # after the end: the proposal is x itself
    y, ratio = x[:r], Fraction(1)
    while is_open(y):
        powered, z = proposal(y)
        y = y + [ask(draw=[str(p) for p in powered])["winner"]]
        ratio *= z
    for t in range(r, min(len(x), len(y))):  # the mistake: the way back goes along x
        ratio /= proposal(y[:t])[1]
    return y if ask(below=str(min(Fraction(1), ratio)))["yes"] else x


case = json.loads(sys.stdin.readline())
horizon, terminal, alpha = case["horizon"], case["terminal"], int(case["powers"][0])
for line in sys.stdin:
    print(json.dumps({"end": step(json.loads(line)["state"])}), flush=True)
