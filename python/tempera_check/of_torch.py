"""What stands in for torch: its functions of chance and the methods of tensors."""
from . import lab, of_random
from .lazy import uniform
from .replacing import refusal, replace, replace_all
from .undrawn_tensor import make_undrawn, undrawn_type

REFUSED = ("randn", "randn_like", "normal", "poisson", "binomial", "_standard_gamma", "_sample_dirichlet", "rrelu",
           "rrelu_", "alpha_dropout", "alpha_dropout_", "feature_dropout", "feature_dropout_", "feature_alpha_dropout",
           "feature_alpha_dropout_")
REFUSED_METHODS = ("normal_", "log_normal_", "cauchy_", "geometric_")


def install(torch):
    undrawn_type(torch)

    def shape_of(size, named):
        size = named.pop("size", None) or size
        if len(size) == 1 and isinstance(size[0], (tuple, list)):
            size = tuple(size[0])
        return tuple(int(n) for n in size)

    def kind(named, like=None):
        """dtype and device of what is made."""
        return {"dtype": named.get("dtype") or (like.dtype if like is not None else None),
                "device": named.get("device") or (like.device if like is not None else None)}

    def lazily(shape, make, out=None, **of_kind):
        tensor = torch.empty(shape, **of_kind) if out is None else out
        return make_undrawn(torch, tensor, [make() for _ in range(tensor.numel())])

    def drawn(shape, make, dtype=None, device=None):
        values = torch.empty(shape, dtype=dtype or torch.int64, device=device)
        return fill(values, make)

    def fill(tensor, make):
        values = torch.tensor([make() for _ in range(tensor.numel())], dtype=tensor.dtype, device=tensor.device)
        with torch.no_grad():
            return tensor.copy_(values.reshape(tensor.shape))

    def rand(*size, **named):
        if named.get("out") is not None:
            refusal("torch.rand with out=")()
        return lazily(shape_of(size, named), uniform, **kind(named))

    def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
        if out is not None:
            refusal("torch.multinomial with out=")()
        rows = input.tolist()
        many = input.dim() == 2
        samples = []
        for row in rows if many else [rows]:
            weights = list(row)
            if not sum(weights) > 0 or min(weights) < 0 or sum(weights) == float("inf"):
                raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
            winners = []
            for _ in range(num_samples):
                winners.append(lab.draw(weights))
                if not replacement:
                    weights[winners[-1]] = 0
            samples.append(winners)
        return torch.tensor(samples if many else samples[0], dtype=torch.int64, device=input.device)

    def bounds(low, high):
        return (0, int(low)) if high is None else (int(low), int(high))

    def randint(*arguments, **named):
        # low and high are whole numbers before the size, either of which may be named.
        arguments = list(arguments)
        size = named.pop("size", None) or arguments.pop()
        low = named.pop("low", None)
        high = named.pop("high", None)
        if high is None:
            high = arguments.pop()
        if low is None:
            low = arguments.pop() if arguments else 0
        return drawn(tuple(size), lambda: low + of_random.below(high - low), named.get("dtype"), named.get("device"))

    def randint_like(input, low, high=None, **named):
        first, last = bounds(low, high)
        return drawn(input.shape, lambda: first + of_random.below(last - first), **kind(named, input))

    def randperm(n, **named):
        order = list(range(n))
        of_random.shuffle(order)
        return torch.tensor(order, dtype=named.get("dtype") or torch.int64, device=named.get("device"))

    def flips(tensor, p):
        """1 or 0 in the place of each entry of a tensor."""
        chances = torch.as_tensor(p).expand(tensor.shape).reshape(-1).tolist()
        values = [float(1 - lab.draw([chance, 1 - exact(chance)])) for chance in chances]
        made = torch.tensor(values, dtype=torch.float64, device=tensor.device).reshape(tensor.shape)
        return made.to(tensor.dtype)

    def exact(chance):
        from fractions import Fraction

        return Fraction(chance)

    def bernoulli(input, p=None, *, generator=None, out=None):
        if out is not None:
            refusal("torch.bernoulli with out=")()
        return flips(input, input if p is None else p)

    def bernoulli_(self, p=0.5, *, generator=None):
        with torch.no_grad():
            return self.copy_(flips(self, p))

    def random_(self, low=None, to=None, *, generator=None):
        if low is None:
            refusal("torch.Tensor.random_ without bounds")()
        first, last = bounds(low, to)
        return fill(self, lambda: first + of_random.below(last - first))

    def uniform_(self, low=0.0, to=1.0, *, generator=None, **named):
        low = named.get("from", low)
        if (low, to) == (0, 1):
            return make_undrawn(torch, self, [uniform() for _ in range(self.numel())])
        return make_undrawn(torch, self, [uniform() * (to - low) + low for _ in range(self.numel())])

    def exponential_(self, lambd=1.0, *, generator=None):
        return make_undrawn(torch, self, [of_random.exponential(lambd) for _ in range(self.numel())])

    def unless_training(own):
        def dropout(input, p=0.5, training=True, inplace=False):
            if training and p > 0:
                refusal("torch's dropout: call eval() of the model")()
            return own(input, p, training, inplace)

        return dropout

    nothing = lambda *_, **__: torch.default_generator  # noqa: E731
    replace_all(torch, {
        "rand": rand, "rand_like": lambda input, **named: lazily(input.shape, uniform, **kind(named, input)),
        "multinomial": multinomial, "randint": randint, "randint_like": randint_like, "randperm": randperm,
        "bernoulli": bernoulli, "manual_seed": nothing, "seed": nothing, "set_rng_state": nothing,
    }, REFUSED)
    # torch.random and torch.cuda name the same.
    for module, names in ((torch.random, ("manual_seed", "seed", "set_rng_state")),
                          (torch.cuda, ("manual_seed", "manual_seed_all"))):
        for name in names:
            replace(module, name, nothing)
    replace(torch, "dropout", lambda input, p, train: own_dropout(input, p, train) if not train or p == 0
            else refusal("torch.dropout: call eval() of the model")())
    own_dropout = getattr(torch.dropout, "stands_in_for", torch.dropout)
    for name in ("dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d"):
        own = getattr(torch.nn.functional, name, None)
        if own is not None and getattr(own, "stands_in_for", None) is None:
            replace(torch.nn.functional, name, unless_training(own))
    for name, method in {"multinomial": multinomial, "bernoulli": bernoulli, "bernoulli_": bernoulli_,
                         "random_": random_, "uniform_": uniform_, "exponential_": exponential_}.items():
        replace(torch.Tensor, name, method)
    for name in REFUSED_METHODS:
        replace(torch.Tensor, name, None, f"torch.Tensor.{name}")
