"""A server of the OpenAI protocol over any model of this process."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tempera import errors
from tempera.model import Model, require_model
from tempera.wishes import SamplerWishes, check_names, checked, not_empty, path, several, takes, truth, whole

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class ServeWishes(SamplerWishes, total=False):
    """The options of `tempera serve`, and the settings of requests that describe none."""

    default_sampler: str | None
    host: str | None
    port: int | None
    model_name: str | None
    api_key_file: str | os.PathLike[str] | None
    without_key: bool | None
    access_log: str | os.PathLike[str] | None
    access_log_prompts: bool | None
    allow_origin: str | Sequence[str] | None
    batch: int | None
    under_way: int | None
    cache_memory: int | None
    queue: int | None
    grace: int | None
    longest: int | None
    batch_folder: str | os.PathLike[str] | None
    runs: str | os.PathLike[str] | None


def _whole_from(least: int, most: int) -> Callable[[str, Any], int]:
    return lambda name, value: whole(name, value, least, most)


def _absolute(name: str, value: Any) -> str:
    return os.path.abspath(path(name, value))


def _log(name: str, value: Any) -> str:
    # It is opened again by this name, and "-" is the standard output.
    return value if value == "-" else _absolute(name, value)


def _origins(name: str, value: Any) -> list[str]:
    return [not_empty(name, value)] if isinstance(value, str) else several(name, value, not_empty, "['https://example.org']")


# With the bounds of the command's flags (cli/commands/serve.cpp).
_OPTIONS: dict[str, Callable[[str, Any], Any]] = {
    "host": not_empty, "port": _whole_from(0, 65535), "model_name": not_empty, "api_key_file": path, "without_key": truth,
    "access_log": _log, "access_log_prompts": truth, "allow_origin": _origins, "batch": _whole_from(1, 4096),
    "under_way": _whole_from(1, 65536), "cache_memory": whole, "queue": _whole_from(1, 1000000), "grace": _whole_from(0, 86400),
    "longest": _whole_from(0, 31536000), "batch_folder": _absolute, "runs": _absolute,
}  # fmt: skip
_SAMPLER = tuple(name for name in SamplerWishes.__annotations__ if name != "sampler")


class Server:
    """The server of `tempera serve` over a model of this process, such as one of transformers or a callable.

        with tempera.Server(model, port=0) as server:
            client = openai.OpenAI(base_url=server.url + "/v1", api_key="none")
            ...

    It listens when it is made. In a `with` block it serves beside the program, and run() serves until it is stopped.
    Meanwhile other calls of the model take turns with it (see tempera.Model).

    Arguments are the options of `tempera serve` with `_` for `-`, and None is as left out: host, port (0: any free one), model_name,
    api_key_file, without_key, access_log, access_log_prompts, allow_origin, batch, under_way, cache_memory, queue, grace, longest,
    batch_folder, runs, and for requests that describe no sampler default_sampler and its settings, such as powers=[1, 2, 4].

    An exception of the model ends the requests that asked for it, and is printed on stderr with its traceback.

    Raises BadInput. Batches are resumed after a restart, so batch_folder needs a model that a run folder is resumed by.
    """

    @takes(ServeWishes)
    def __init__(self, model: Model, **wishes: Unpack[ServeWishes]) -> None:
        require_model(model)
        given: Mapping[str, Any] = wishes
        check_names(given, (*_OPTIONS, *_SAMPLER, "default_sampler"), "Server")
        options = {name: check(name, given[name]) for name, check in _OPTIONS.items() if given.get(name) is not None}
        sampler = checked({**given, "sampler": given.get("default_sampler")}, (*_SAMPLER, "sampler"))
        if model._rows is not None:
            options.setdefault("model_name", os.path.basename(os.path.abspath(model.name)) if os.path.exists(model.name) else model.name)
            if model._rows.unstable and "batch_folder" in options:
                raise errors.BadInput("batch_folder", f"resumes its batches, and {model._rows.unstable}", "or leave it out")
        self._grace: int = options.get("grace", 30)
        with _keywords():
            self._server: Any = model._native.RawServer(model._opened, model.name, model._native.version(), options, sampler, warnings.warn)
        #: Where clients find it, such as "http://127.0.0.1:8080".
        self.url: str = self._server.url
        self._thread: threading.Thread | None = None
        self._is_stopped = False
        self._ended = threading.Event()
        self._failure: BaseException | None = None

    def _start(self) -> None:
        if self._thread is not None:
            raise errors.BadInput("server", "has been started before", "make another")
        self._thread = threading.Thread(target=self._serve, name="tempera-server")
        self._thread.start()

    def _serve(self) -> None:
        try:
            self._server.run()
        except BaseException as failure:  # noqa: BLE001 (it is raised where the server was started)
            self._failure = failure
        finally:
            # It keeps the model, which may keep all that its callable refers to.
            self._server = None
            self._ended.set()

    def _end(self) -> None:
        """Stops it unless that was asked for, and waits for its end. Raises DeviceError, and whatever else has ended it."""
        assert self._thread is not None
        if not self._is_stopped:
            self.stop()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self) -> None:
        """Serves until stop() is called, or Ctrl-C or SIGTERM comes to the main thread; a second one waits for nothing.

        A program that handles these signals itself, or calls this in another thread, calls stop(). Raises DeviceError.
        """
        self._start()
        try:
            with self._stopped_by_signals():
                print(f"tempera serves on {self.url} (a page to watch runs on: /)", file=sys.stderr, flush=True)
                # A signal that comes just before a wait without an end, or to another thread, would not wake this one.
                while not self._ended.wait(0.2):
                    pass
        finally:
            self._end()

    def stop(self, grace: int | None = None) -> None:
        """Ends it: it takes no further requests, and those that run have `grace` seconds, those of the options if left out.

        Any thread may call. A call after it waits for nothing: run() and the end of the `with` block return when it has ended.
        """
        seconds = self._grace if grace is None else whole("grace", grace, 0, 86400)
        self._is_stopped = True
        if (server := self._server) is not None:
            server.stop(seconds)

    def reopen_access_log(self) -> None:
        """Opens the access log by its name again, once it was moved away."""
        if (server := self._server) is not None:
            server.reopen_access_log()

    @contextmanager
    def _stopped_by_signals(self) -> Iterator[None]:
        """Within it the signals that end a program stop the server, unless the program handles them itself."""
        came = 0

        def come(*_: object) -> None:
            nonlocal came
            came += 1
            self.stop(None if came == 1 else 0)

        taken = []
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                    taken.append((number, signal.signal(number, come)))
        try:
            yield
        finally:
            for number, before in taken:
                signal.signal(number, before)


@contextmanager
def _keywords() -> Iterator[None]:
    """Names the command's flags as this call has them."""
    try:
        yield
    except errors.BadInput as error:
        raise errors.BadInput(re.sub(r"(?<![^\s(\"'])--([a-z]+(?:-[a-z]+)*)", lambda flag: flag[1].replace("-", "_"), str(error))) from None
