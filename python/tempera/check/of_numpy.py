"""Stand-ins for numpy.random: its functions and both kinds of its generators."""
import gc
import math
import pickle
import sys
import types

from . import lab, of_random, seeding
from .lazy import uniform
from .replacing import count, refusal, replace, replaced


def install(numpy):
    chance = sys.modules["numpy.random"]  # which numpy may not name yet, while it is imported

    def shaped(size, make, dtype=None):
        """One value, or an array of them."""
        if size is None:
            return make()
        values = numpy.empty(count(size), dtype=object)
        for i in range(len(values)):
            values[i] = make()
        return (values if dtype is None else values.astype(dtype)).reshape(size)

    def broadcast(size, make, *parameters):
        """make(...) for each entry of parameters that may be arrays."""
        if all(numpy.ndim(p) == 0 for p in parameters):
            return shaped(size, lambda: make(*parameters))
        arrays = numpy.broadcast_arrays(*parameters)
        shape = arrays[0].shape if size is None else size
        arrays = [numpy.broadcast_to(a, shape).ravel() for a in arrays]
        values = numpy.empty(len(arrays[0]), dtype=object)
        for i, entry in enumerate(zip(*arrays)):
            values[i] = make(*entry)
        return values.reshape(shape)

    def whole(values):
        return values if numpy.ndim(values) == 0 else values.astype(numpy.int64)

    def real(size=None, dtype=None, out=None):
        if out is not None:
            refusal("numpy.random with out=")()
        return shaped(size, uniform)

    def between(low=0.0, high=1.0, size=None):
        return broadcast(size, lambda a, b: uniform() * (b - a) + a, low, high)

    def integers(low, high=None, size=None, dtype=None, endpoint=False):
        first, last = (0, low) if high is None else (low, high)
        extra = 1 if endpoint else 0
        return whole(broadcast(size, lambda a, b: int(a) + of_random.below(int(b) - int(a) + extra), first, last))

    def choice(a, size=None, replace=True, p=None, axis=0, shuffle=True):
        items = numpy.arange(a) if numpy.ndim(a) == 0 else numpy.asarray(a)
        many = items.shape[axis]
        if many == 0 and count(size) > 0:
            raise ValueError("a cannot be empty")
        weights = [1] * many if p is None else [float(x) for x in p]
        if len(weights) != many:
            raise ValueError("a and p must have same size")
        if p is not None and not abs(math.fsum(weights) - 1) < 1e-7:
            raise ValueError("probabilities do not sum to 1")
        indices = []
        for _ in range(count(size)):
            indices.append(lab.draw(weights))
            if not replace:
                weights[indices[-1]] = 0
        return numpy.take(items, indices[0] if size is None else numpy.array(indices, dtype=numpy.int64).reshape(size), axis=axis)

    def shuffled(x, axis=0):
        order = list(range(x.shape[axis] if isinstance(x, numpy.ndarray) else len(x)))
        of_random.shuffle(order)
        if isinstance(x, numpy.ndarray):
            x[...] = numpy.take(x, order, axis=axis)
        else:
            x[:] = [x[i] for i in order]

    def permutation(x, axis=0):
        items = numpy.arange(x) if numpy.ndim(x) == 0 else numpy.array(x)
        order = list(range(items.shape[axis]))
        of_random.shuffle(order)
        return numpy.take(items, order, axis=axis)

    def multinomial(n, pvals, size=None):
        if numpy.ndim(pvals) != 1:
            refusal("numpy.random.multinomial with rows of pvals")()
        rows = numpy.zeros((count(size), len(pvals)), dtype=numpy.int64)
        weights = [float(p) for p in pvals]
        weights[-1] = max(0.0, 1.0 - math.fsum(weights[:-1]))  # as numpy takes it
        for row in rows:
            for _ in range(n):
                row[lab.draw(weights)] += 1
        return rows[0] if size is None else rows.reshape(
            (tuple(size) if isinstance(size, (tuple, list)) else (size,)) + (len(pvals),))

    answers = {
        "random": real, "random_sample": real, "choice": choice, "uniform": between, "shuffle": shuffled,
        "permutation": permutation, "multinomial": multinomial,
        "binomial": lambda n, p, size=None: whole(broadcast(size, lambda m, q: of_random.binomial(int(m), q), n, p)),
        "exponential": lambda scale=1.0, size=None: broadcast(size, lambda s: of_random.exponential() * s, scale),
        "standard_exponential": lambda size=None, **_: shaped(size, of_random.exponential),
        "gumbel": lambda loc=0.0, scale=1.0, size=None:
            broadcast(size, lambda m, s: -(-uniform().log()).log() * s + m, loc, scale),
    }
    legacy = dict(answers, randint=integers, ranf=real, sample=real,
                  rand=lambda *size: real(size or None),
                  random_integers=lambda low, high=None, size=None:
                      integers(1 if high is None else low, low if high is None else high, size, endpoint=True))
    modern = dict(answers, integers=integers, permuted=lambda x, axis=None, out=None:
                  permutation(x, axis or 0) if out is None and numpy.ndim(x) == 1 else refusal("Generator.permuted")())

    def chances_of(owner):
        """The members of a module or class that draw: its public functions except those that only handle states."""
        return [name for name in dir(owner) if not name.startswith("_") and callable(getattr(owner, name))
                and not isinstance(getattr(owner, name), type)
                and name not in ("default_rng", "seed", "get_state", "set_state", "get_bit_generator", "set_bit_generator",
                                 "spawn", "test")]

    first = sys.modules["numpy.random.mtrand"]._rand
    answered = {}  # by id: those that answer in the place of bits that were there before, which the guard keeps

    def legacy_stream(made):
        bits = answered.get(id(made._bit_generator), made._bit_generator)
        return bits if id(bits) in seeding.own else made

    for name in chances_of(chance):
        replace(chance, name, legacy.get(name), source=lambda *_: legacy_stream(first))
    own_kind = chance.RandomState

    def keep(generator):
        return seeding.keep(generator, own_kind, plain)

    def reseed(generator, seed=None):
        lasts = keep(generator) is not None
        if seed is None:
            seeding.forget(generator)
            return None if lasts else own_kind.seed(generator)
        is_given = seeding.give(generator, "numpy.MT19937", plain(seed), f"numpy.random.seed({seeding.short(seed)})",
                                keep(generator))
        return own_kind.seed(generator, seed) if is_given or not lasts else None

    def set_state(generator, state):
        now = plain(own_kind.get_state(generator, legacy=not isinstance(state, dict)))
        if seeding.put(generator, state, plain(state), now, "numpy.random.set_state", keep(generator)):
            own_kind.set_state(generator, state)

    def get_state(generator, legacy=True):
        return seeding.save(generator, own_kind.get_state(generator, legacy))

    for name, answer in (("seed", reseed), ("set_state", set_state), ("get_state", get_state)):
        replace(chance, name, (lambda f: lambda *a, **k: f(first, *a, **k))(answer))

    def answering(base, answers, stream):
        """A kind of generator whose methods are answered within a step; stream(generator) is whose seed counts."""

        class Answering(base):
            pass

        Answering.__name__ = Answering.__qualname__ = base.__name__
        Answering.__module__ = base.__module__
        for name in chances_of(base):
            answer = answers.get(name)
            replace(Answering, name, answer and (lambda f: lambda self, *a, **k: f(*a, **k))(answer),
                    f"numpy.random.{base.__name__}.{name}", lambda a, _: stream(a[0]))
        return Answering

    sources = chance.BitGenerator, chance.Generator, chance.RandomState  # of chance; anything else makes one as a seed

    def is_seed(value):
        """True if what a generator is made from makes it draw the same in every step."""
        if lab.walk is None or value is None:
            return False
        if seeding.is_by_chance(value):
            seeding.use(value)
            return False
        return not isinstance(value, sources) or id(value) in seeding.own

    if getattr(chance.Generator, "stands_in_for", None) is not None:
        return
    # Two generators over the same bits draw from one stream. A RandomState has one of its own too: it keeps a second Gaussian.
    generator, state = answering(chance.Generator, modern, lambda made: made.bit_generator), answering(chance.RandomState, legacy, legacy_stream)
    bits = {base: answering_bits(base, is_seed) for base in
            (getattr(chance, name, None) for name in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")) if base is not None}

    def copied(old):
        """Bits of numpy's own kind as bits that tell when a step puts them into a state."""
        if type(old) not in bits:
            return old
        with lab.paused():
            new = bits[type(old)](old._seed_seq or 0)
            new.state = old.state
        return new

    def of_early(old):
        if id(old) not in answered:
            answered[id(old)] = copied(old)
        return answered[id(old)]

    kinds = {chance.Generator: lambda old: generator(of_early(old.bit_generator)),
             chance.RandomState: lambda old: state(of_early(old._bit_generator)),
             **{base: of_early for base in bits}}

    def make_state(self, seed=None):
        if lab.walk is not None:
            seeding.fresh[id(self)] = self
        with lab.paused():
            own_kind.__init__(self, seed)
        tell_foreign(seed)
        if is_seed(seed):
            give(self, seed, "numpy.MT19937", "numpy.random.RandomState")
        if id(self) in seeding.own:
            seeding.own[id(self._bit_generator)] = self._bit_generator

    def make_generator(self, bit_generator):
        chance_generator.__init__(self, bit_generator)
        tell_foreign(bit_generator)

    lasting = {id(found): found for found in gc.get_objects() if issubclass(type(found), chance.BitGenerator)}

    def tell_foreign(source):
        """Bits of a kind that the program has derived from numpy's are a seed if a step has made them."""
        if lab.walk is None or not isinstance(source, chance.BitGenerator) or type(source) in (*bits, *bits.values()):
            return
        if id(source) not in lasting:
            lasting[id(source)] = source
            seeding.give(source, type(source).__name__, repr(plain(source.state)), f"a {type(source).__name__}")

    def give(made, seed, kind, name):
        if not isinstance(seed, chance.BitGenerator):
            seeding.give(made, kind, plain(seed), f"{name}({seeding.short(seed)})")
        else:
            seeding.own[id(made)] = made

    chance_generator = chance.Generator
    state.__init__, generator.__init__ = make_state, make_generator
    for name, answer in (("seed", reseed), ("set_state", set_state), ("get_state", get_state)):
        replace(state, name, answer)
    generator.stands_in_for, state.stands_in_for = chance.Generator, chance.RandomState
    early.update(kinds)
    for old, new in ((chance.Generator, generator), (chance.RandomState, state)):
        replaced[id(old)] = (old, new, f"numpy.random.{old.__name__}")
    own_default = chance.default_rng

    def default_rng(seed=None):
        if isinstance(seed, generator):
            return seed
        tell_foreign(seed)
        with lab.paused():
            made = own_default(seed)
            if not isinstance(seed, sources):
                made = generator(copied(made.bit_generator))
            elif type(made) is not generator:
                made = generator(made.bit_generator)
        if lab.walk is not None and (seed is None or seeding.is_by_chance(seed)):
            seeding.fresh[id(made.bit_generator)] = made.bit_generator
        if is_seed(seed):
            give(made.bit_generator, seed, "numpy.PCG64", "numpy.random.default_rng")
        return made

    default_rng.stands_in_for = own_default
    replaced[id(own_default)] = (own_default, default_rng, "numpy.random.default_rng")
    chance.Generator, chance.RandomState, chance.default_rng = generator, state, default_rng
    own_sequence = chance.SeedSequence
    chance.SeedSequence = answering_sequence(own_sequence)
    replaced[id(own_sequence)] = (own_sequence, chance.SeedSequence, "numpy.random.SeedSequence")
    by_name = sys.modules["numpy.random._pickle"].BitGenerators  # numpy before 1.26 makes copies by these
    for base, kind in bits.items():
        replaced[id(base)] = (base, kind, f"numpy.random.{base.__name__}")
        setattr(chance, base.__name__, kind)
        by_name[base.__name__] = kind


def answering_bits(base, is_seed):
    """A kind of bits that tells when a step seeds them, puts them into a state, or makes others of their state."""
    name, own_state = f"numpy.random.{base.__name__}", base.state
    plain_kind = types.SimpleNamespace(get_state=own_state.__get__, set_state=own_state.__set__)

    class Answering(base):
        def __init__(self, seed=None, *more, **named):
            given = seed if named.get("key") is None else (seed, *named.items())
            if lab.walk is not None and not hasattr(self, "is_made"):
                seeding.fresh[id(self)] = self
            if is_seed(given):
                seeding.give(self, name, plain(given), f"{name}({seeding.short(given)})", seeding.keep(self, plain_kind, plain))
            self.is_made = True
            with lab.paused():
                super().__init__(seed, *more, **named)

        @property
        def state(self):
            found = own_state.__get__(self)
            return found if lab.walk is None else seeding.save(self, found)

        @state.setter
        def state(self, value):
            if lab.walk is None or seeding.put(self, value, plain(value), plain(own_state.__get__(self)), f"{name}.state",
                                               seeding.keep(self, plain_kind, plain)):
                own_state.__set__(self, value)

        def spawn(self, n_children):
            with lab.paused():
                made = super().spawn(n_children)
            if lab.walk is not None:
                (seeding.own if id(self) in seeding.own else seeding.fresh).update((id(child), child) for child in made)
            return made

        if hasattr(base, "jumped"):
            def jumped(self, jumps=1):
                with lab.paused():
                    made = super().jumped(jumps)
                if lab.walk is not None:
                    seeding.fresh[id(made)] = made
                    seeding.give(made, name, (plain(own_state.__get__(self)), jumps), f"{name}.jumped({jumps})")
                return made

    Answering.__name__ = Answering.__qualname__ = base.__name__
    Answering.__module__, Answering.stands_in_for = base.__module__, base
    replace(Answering, "random_raw", None, f"{name}.random_raw")
    return Answering


def answering_sequence(base):
    """A kind of seed sequences that tells which of them a step has made of fresh entropy. Their numbers are refused: a generator
    that begins with one is answered."""

    class SeedSequence(base):
        def __init__(self, entropy=None, **named):
            with lab.paused():
                super().__init__(entropy, **named)
            if lab.walk is not None:
                made[id(self)] = self
                if entropy is None:
                    seeding.by_chance(self)

        def spawn(self, n_children):
            with lab.paused():
                children = [type(self)(child.entropy, spawn_key=child.spawn_key, pool_size=child.pool_size)
                            for child in super().spawn(n_children)]
            if lab.walk is not None:
                # Those of a sequence that outlives the step are others in each step.
                if seeding.is_by_chance(self) or id(self) not in made:
                    for child in children:
                        seeding.by_chance(child)
                else:
                    made.update((id(child), child) for child in children)
            return children

    made = seeding.made
    remedy = ": give a generator the sequence itself, or a child of its spawn()"

    def told(name, own):
        def ask(self, *arguments, **named):
            if lab.walk is not None and seeding.is_by_chance(self):
                refusal(f"numpy.random.SeedSequence.{name} of fresh entropy", remedy)()
            return own(self, *arguments, **named)

        return ask

    for name in ("entropy", "state", "pool"):
        setattr(SeedSequence, name, property(told(name, getattr(base, name).__get__)))
    SeedSequence.generate_state = told("generate_state", base.generate_state)
    SeedSequence.__qualname__, SeedSequence.__module__, SeedSequence.stands_in_for = base.__name__, base.__module__, base
    return SeedSequence


def plain(state):
    """A state or a seed in numbers that can be compared."""
    if hasattr(state, "tolist"):
        return state.tolist()
    if isinstance(state, dict):
        return {key: plain(value) for key, value in state.items()}
    return tuple(map(plain, state)) if isinstance(state, (tuple, list)) else state


early = {}  # kinds of generators whose instances may have been made early, and how to make one that answers


def states(numpy):
    """The state that changes when numpy draws without asking here."""
    return pickle.dumps(sys.modules["numpy.random.mtrand"]._rand.get_state(legacy=False))
