"""Tensors of numbers that are not drawn yet: torch's operations on them, as far as they can be split exactly."""
import operator

from . import lab
from .lazy import Clock, Undrawn, ring_first

_COMPARED = {"lt": operator.lt, "gt": operator.gt, "le": operator.le, "ge": operator.ge, "less": operator.lt,
             "greater": operator.gt, "less_equal": operator.le, "greater_equal": operator.ge}
_COMPUTED = {"add": operator.add, "sub": operator.sub, "subtract": operator.sub, "mul": operator.mul,
             "multiply": operator.mul, "div": operator.truediv, "divide": operator.truediv,
             "true_divide": operator.truediv, "truediv": operator.truediv,
             "rsub": lambda a, b: b - a, "radd": lambda a, b: b + a, "rmul": lambda a, b: b * a,
             "rdiv": lambda a, b: b / a, "rtruediv": lambda a, b: b / a}
_OF_ONE = {"neg": operator.neg, "negative": operator.neg, "log": lambda x: x.log(), "floor": lambda x: x.floor()}
_SAME = {"to", "float", "double", "half", "bfloat16", "cpu", "cuda", "type", "clone", "detach", "contiguous", "type_as",
         "requires_grad", "pin_memory", "alias"}
_MOVED = {"getitem", "view", "reshape", "squeeze", "unsqueeze", "expand", "expand_as", "flatten", "transpose", "permute",
          "t", "select", "narrow", "index_select", "gather", "take", "view_as", "repeat", "swapaxes", "movedim", "ravel"}
_ASKED = {"size", "dim", "numel", "nelement", "stride", "is_floating_point", "is_complex", "ndimension", "get_device",
          "data_ptr", "len", "is_contiguous", "element_size", "storage_offset"}
_kind = None


def undrawn_type(torch):
    """The class of such tensors, made once torch is there."""
    global _kind
    if _kind is not None:
        return _kind
    import numpy

    def entries_of(value):
        """An array of objects: what is not drawn, and numbers as Python's."""
        if isinstance(value, _kind):
            return value._entries
        if isinstance(value, torch.Tensor):
            array = numpy.empty(value.shape, dtype=object)
            flat = value.detach().reshape(-1).tolist()
            array.reshape(-1)[:] = flat if array.ndim else flat[0]
            return array
        return value

    def lazily(entries, like):
        tensor = torch.empty(numpy.shape(entries), dtype=like.dtype, device=like.device)
        return make_undrawn(torch, tensor, list(numpy.asarray(entries, dtype=object).reshape(-1)))

    def each(function, *operands):
        arrays = numpy.broadcast_arrays(*[numpy.asarray(o, dtype=object) for o in operands])
        result = numpy.empty(arrays[0].shape, dtype=object)
        flat = [a.reshape(-1) for a in arrays]
        entries = result.reshape(-1)
        for i in range(entries.size):
            entries[i] = function(*[a[i] for a in flat])
        return result

    def along(tensor, dim, pick):
        """pick(list of entries) for each line of entries along a dimension."""
        entries = tensor._entries
        if dim is None:
            return numpy.asarray(pick(list(entries.reshape(-1))))
        moved = numpy.moveaxis(entries, dim, -1)
        lines = moved.reshape(-1, moved.shape[-1])
        picked = numpy.array([pick(list(line)) for line in lines])
        return picked.reshape(moved.shape[:-1] + picked.shape[1:])

    def largest(line, many=1, smallest=False):
        """Indices of the largest, in falling order, of clocks of one form."""
        if not all(isinstance(entry, Clock) for entry in line):
            raise TypeError(f"the largest of several uniforms at {lab.address()} has no stand-in (tempera.check)")
        rising = {entry.is_rising() for entry in line if entry.log_rate() > float("-inf")}
        if len(rising) > 1 or len({entry._form for entry in line}) > 1 or len(
                {entry._a for entry in line if entry._form == "log"}) > 1 or any(
                entry._form == "linear" and entry._b for entry in line) or rising == {not smallest}:
            raise TypeError(f"the largest of these at {lab.address()} has no stand-in (tempera.check)")
        left = list(range(len(line)))
        found = []
        if many == 1:
            return [ring_first(line)]
        rates = [entry.log_rate() for entry in line]
        most = max(rates)
        import math

        for entry in line:  # of several only the order is drawn, and nothing else may be asked
            if entry._group.is_compared:
                entry._refuse("comparing once more what has been compared")
            entry._group.is_compared = entry._group.is_late = True
        while len(found) < many:
            weights = [math.exp(rates[i] - most) for i in left]
            first = lab.draw(weights) if any(weights) else 0
            found.append(left.pop(first))
        return found

    def indices(array):
        return torch.as_tensor(numpy.asarray(array, dtype=numpy.int64))

    def argument(name, args, kwargs, index, default):
        return kwargs.get(name, args[index] if len(args) > index else default)

    def extreme(name, args, kwargs):
        tensor = args[0]
        smallest = name in ("argmin", "min")
        dim = argument("dim", args, kwargs, 1, None)
        keep = argument("keepdim", args, kwargs, 2, False)
        found = along(tensor, dim, lambda line: largest(line, 1, smallest)[0])
        found = indices(found)
        if keep and dim is not None:
            found = found.unsqueeze(dim)
        if name in ("argmax", "argmin"):
            return found
        if dim is None:
            return lazily(numpy.asarray(tensor._entries.reshape(-1)[int(found)], dtype=object), tensor)
        lines = found if keep else found.unsqueeze(dim)
        values = lazily(numpy.take_along_axis(tensor._entries, lines.numpy(), axis=dim), tensor)
        return torch.return_types.max((values if keep else values.squeeze(dim), found))

    def topk(args, kwargs):
        tensor = args[0]
        k = argument("k", args, kwargs, 1, None)
        dim = argument("dim", args, kwargs, 2, -1)
        smallest = not argument("largest", args, kwargs, 3, True)
        found = numpy.moveaxis(along(tensor, dim, lambda line: largest(line, k, smallest)), -1, dim)
        return torch.return_types.topk((lazily(numpy.take_along_axis(tensor._entries, found, axis=dim), tensor),
                                        indices(found)))

    def searchsorted(edges, values, right):
        def index_of(u, line):
            for i, edge in enumerate(line):
                if u < edge:
                    return i
            return len(line)

        edge_rows = edges.detach().reshape(-1, edges.shape[-1]).tolist()
        entries = entries_of(values)
        if len(edge_rows) == 1:
            return indices(each(lambda u: index_of(u, edge_rows[0]), entries))
        lines = entries.reshape(len(edge_rows), -1)
        found = [[index_of(u, row) for u in line] for row, line in zip(edge_rows, lines)]
        return indices(found).reshape(entries.shape)

    class NotDrawn(torch.Tensor):
        """A tensor whose entries are uniforms, or functions of uniforms, that are not drawn yet."""

        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            full = getattr(function, "__name__", str(function))
            if full == "__get__" or full in ("dim", "size", "__len__"):
                with torch._C.DisableTorchFunctionSubclass():
                    return function(*args, **kwargs)
            name = full.strip("_")
            in_place = full.endswith("_") and not full.endswith("__") or full.startswith("__i") and name[1:] in _COMPUTED
            if full.startswith("__i") and name[1:] in _COMPUTED:
                name = name[1:]

            def result(entries):
                if in_place:
                    return make_undrawn(torch, args[0], list(numpy.broadcast_to(entries, args[0].shape).reshape(-1)))
                like = next(a for a in args if isinstance(a, _kind))
                return lazily(entries, like)

            if name in _COMPARED and len(args) == 2:
                function = _COMPARED[name]
                found = each(lambda a, b: bool(function(a, b)), entries_of(args[0]), entries_of(args[1]))
                return torch.as_tensor(found.astype(bool))
            if name in _COMPUTED and len(args) == 2 and not kwargs:
                return result(each(_COMPUTED[name], entries_of(args[0]), entries_of(args[1])))
            if name in _OF_ONE and len(args) == 1:
                return result(each(_OF_ONE[name], args[0]._entries))
            if name in _SAME:
                return args[0] if in_place else lazily(args[0]._entries, args[0])
            if name in _ASKED:
                with torch._C.DisableTorchFunctionSubclass():
                    return function(*args, **kwargs)
            if name in _MOVED and isinstance(args[0], _kind):
                flat = args[0]._entries.reshape(-1)
                indices_of = torch.arange(flat.size).reshape(args[0]._entries.shape)
                return lazily(flat[function(indices_of, *args[1:], **kwargs).numpy()], args[0])
            if name == "item":
                return args[0]._entries.reshape(-1)[0] if args[0]._entries.size == 1 else refuse(full)
            if name == "tolist":
                return args[0]._entries.tolist()
            if name in ("argmax", "argmin", "max", "min"):
                if name in ("max", "min") and len(args) > 1 and isinstance(args[1], torch.Tensor):
                    return refuse(full)
                return extreme(name, args, kwargs)
            if name == "topk":
                return topk(args, kwargs)
            if name in ("searchsorted", "bucketize"):
                edges, values = (args[0], args[1]) if name == "searchsorted" else (args[1], args[0])
                return searchsorted(edges, values, kwargs.get("right", False))
            if name == "bool" and args[0]._entries.size == 1:
                return bool(args[0]._entries.reshape(-1)[0])
            if name == "repr":
                return f"<tensor of {args[0]._entries.size} numbers that are not drawn yet>"
            return refuse(full)

    def refuse(name):
        raise TypeError(f"torch's {name} at {lab.address()} would need the values of uniforms that are split where they are "
                        "compared: tempera.check has no stand-in for it")

    _kind = NotDrawn
    return _kind


def make_undrawn(torch, tensor, entries):
    """Makes a tensor one of these, in its place, so that whoever holds it sees what it holds now."""
    import numpy

    if tensor._base is not None and not isinstance(tensor, _kind):
        raise TypeError(f"tempera.check cannot fill a part of a tensor with uniforms, as at {lab.address()}: fill the whole")
    array = numpy.empty(len(entries), dtype=object)
    array[:] = entries
    shape = tuple(tensor.shape)
    if not any(isinstance(entry, Undrawn) for entry in entries):
        with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
            return torch.tensor([float(e) for e in entries], dtype=tensor.dtype).reshape(shape)
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        if tensor.is_floating_point():
            tensor.fill_(float("nan"))  # should anything reach its bytes
    tensor.__class__ = undrawn_type(torch)
    tensor._entries = array.reshape(shape)
    return tensor
