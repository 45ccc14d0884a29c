"""One round of Parallel Power Tempering for `tempera check --target powers:1,2`: a local sweep and an ordered sweep."""
import json
import sys
from fractions import Fraction


def ask(**request):
    print(json.dumps(request), flush=True)
    return json.loads(sys.stdin.readline())


def powered(prefix, alpha):
    return [Fraction(p) ** alpha for p in ask(next=prefix)["p"]]


def is_open(record):
    return len(record) < horizon and not (record and record[-1] in terminal)


def local_move(x, alpha):
    r = ask(draw=[1] * horizon)["winner"]
    if r >= len(x):
        return x
    y, ratio = x[:r], Fraction(1)
    while is_open(y):
        row = powered(y, alpha)
        y = y + [ask(draw=[str(p) for p in row])["winner"]]
        ratio *= sum(row)
    for t in range(r, len(x)):
        ratio /= sum(powered(x[:t], alpha))
    return y if ask(below=str(min(Fraction(1), ratio)))["yes"] else x


def likelihood(x):
    p0 = Fraction(1)
    for t, token in enumerate(x):
        p0 *= powered(x[:t], 1)[token]
    return p0


def step(replicas):
    replicas = [local_move(x, alpha) for x, alpha in zip(replicas, powers)]
    for k in range(len(powers) - 1):
        ratio = (likelihood(replicas[k]) / likelihood(replicas[k + 1])) ** (powers[k + 1] - powers[k])
        if ask(below=str(min(Fraction(1), ratio)))["yes"]:
            replicas[k], replicas[k + 1] = replicas[k + 1], replicas[k]
    return replicas


case = json.loads(sys.stdin.readline())
horizon, terminal = case["horizon"], case["terminal"]
powers = [int(power) for power in case["powers"]]
for line in sys.stdin:
    print(json.dumps({"end": step(json.loads(line)["state"])}), flush=True)
