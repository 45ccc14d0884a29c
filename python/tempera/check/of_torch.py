"""Stand-ins for torch: its random functions and the methods of tensors."""
from . import lab, of_random, seeding
from .lazy import uniform
from .replacing import refusal, replace, replace_all, replaced
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

    first, own_kind = torch.default_generator, getattr(torch.Generator, "stands_in_for", torch.Generator)

    def plain(state):
        return state.numpy().tobytes()

    def keep(generator):
        return seeding.keep(generator, own_kind, plain)

    def manual_seed(generator, seed, called="torch.manual_seed"):
        is_given = seeding.give(generator, "torch", int(seed), f"{called}({int(seed)})", keep(generator))
        if is_given or id(generator) in seeding.fresh:
            own_kind.manual_seed(generator, seed)
        return generator

    def seed_by_chance(generator):
        seeding.forget(generator)
        return own_kind.initial_seed(generator)

    def set_state(generator, state):
        if seeding.put(generator, state, plain(state), plain(own_kind.get_state(generator)), "torch.set_rng_state", keep(generator)):
            own_kind.set_state(generator, state)
        return generator

    def get_state(generator):
        return seeding.save(generator, own_kind.get_state(generator))

    def made_in_step(generator):
        """One without a seed draws by a constant seed."""
        seeding.fresh[id(generator)] = generator
        seeding.give(generator, "torch", own_kind.initial_seed(generator), "torch.Generator()")

    class Kind(type(own_kind)):
        def __instancecheck__(cls, value):
            return isinstance(value, own_kind)

    class Generator(own_kind, metaclass=Kind):
        def __new__(cls, *arguments, **named):
            made = own_kind.__new__(cls, *arguments, **named)
            if lab.walk is not None:
                made_in_step(made)
            return made

    if getattr(torch.Generator, "stands_in_for", None) is None:
        Generator.__module__, Generator.__qualname__, Generator.stands_in_for = "torch", "Generator", own_kind
        for name, answer in (("manual_seed", lambda g, seed: manual_seed(g, seed, "torch.Generator.manual_seed")),
                             ("seed", seed_by_chance), ("set_state", set_state), ("get_state", get_state)):
            replace(Generator, name, answer)
        torch.Generator = Generator
        replaced[id(own_kind)] = (own_kind, Generator, "torch.Generator")

    def source(_, named):
        """The generator of a call."""
        generator = named.get("generator")
        if generator is None:
            return first
        return _noticed(generator, own_kind)

    nothing = lambda *_, **__: None  # noqa: E731
    replace_all(torch, {
        "rand": rand, "rand_like": lambda input, **named: lazily(input.shape, uniform, **kind(named, input)),
        "multinomial": multinomial, "randint": randint, "randint_like": randint_like, "randperm": randperm,
        "bernoulli": bernoulli,
    }, REFUSED, source)
    for module in (torch, torch.random):  # which name the same
        for name, answer in (("manual_seed", manual_seed), ("seed", seed_by_chance), ("set_rng_state", set_state),
                             ("get_rng_state", get_state)):
            replace(module, name, (lambda f: lambda *a, **k: f(first, *a, **k))(answer))
    for name in ("manual_seed", "manual_seed_all"):
        replace(torch.cuda, name, nothing)
    replace(torch, "dropout", lambda input, p, train: own_dropout(input, p, train) if not train or p == 0
            else refusal("torch.dropout: call eval() of the model")())
    own_dropout = getattr(torch.dropout, "stands_in_for", torch.dropout)
    for name in ("dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d"):
        own = getattr(torch.nn.functional, name, None)
        if own is not None and getattr(own, "stands_in_for", None) is None:
            replace(torch.nn.functional, name, unless_training(own))
    for name, method in {"multinomial": multinomial, "bernoulli": bernoulli, "bernoulli_": bernoulli_,
                         "random_": random_, "uniform_": uniform_, "exponential_": exponential_}.items():
        replace(torch.Tensor, name, method, source=source)
    for name in REFUSED_METHODS:
        replace(torch.Tensor, name, None, f"torch.Tensor.{name}", source)


_lasting = {}  # by id: generators of torch's own kind that were drawn from, and the states in which they were left


def _noticed(generator, own_kind):
    """A generator that a step draws from. Of one that was made before it had a stand-in the state shows that it was seeded:
    outside its own stream it is left in a state that nobody else puts it into."""
    if type(generator) is not own_kind or id(generator) in seeding.own:
        return generator
    known = _lasting.get(id(generator))
    state = generator.get_state()
    if known is None:
        mark = own_kind(generator.device).manual_seed(_MARK).get_state()
        generator.set_state(mark)
        _lasting[id(generator)] = generator, mark
    elif not state.equal(known[1]):
        def keep():
            return known[1].numpy().tobytes(), lambda: generator.set_state(known[1])

        seeding.give(generator, "torch", generator.initial_seed(), f"torch.Generator.manual_seed({generator.initial_seed()})", keep)
        if id(generator) not in seeding.own:
            generator.set_state(known[1])
    return generator


_MARK = 0x74656d70657261
