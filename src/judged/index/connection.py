"""Base of engines over a connection: the address of the server, its version, clients, and error messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar
from uuid import uuid4

from judged.errors import EngineFailed, JudgedError
from judged.index.engine import Engine, IndexSpec, Settings
from judged.net.secrets import hide_secrets


class RemoteEngine(Engine):
    """An engine whose server is named by a URL or a DSN."""

    address_example: ClassVar[str] = ""
    server_version: ClassVar[str] = ""
    """The version of the server that was last connected to."""
    _address: str

    @classmethod
    def version(cls) -> str:
        """Return the version of the server; of its client, until there is a connection."""
        return cls.server_version or super().version()

    @classmethod
    def identify(cls, url: str | None) -> str:
        """Ask the server for its version; raise `EngineFailed` if none answers."""
        if not cls.capabilities.remote:
            return cls.version()
        return cls().ask_version(cls.check_address(url))

    def ask_version(self, url: str) -> str:
        """Connect to the server and return its version."""
        raise NotImplementedError

    @classmethod
    def check_address(cls, url: str | None) -> str:
        """Return the address; raise `EngineFailed` if none is given."""
        if not url:
            msg = f"`{cls.name}` needs the address of a server"
            raise EngineFailed(msg, hint=f"--url {cls.name}={cls.address_example}")
        return url

    def find_address(self, spec: IndexSpec) -> str:
        """Return the address of the server; raise `EngineFailed` if none is given."""
        return self.check_address(spec.url)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Turn any error of a client into `EngineFailed`, with the client's words."""
        try:
            yield
        except JudgedError:
            raise
        except Exception as error:
            hint = "the words above are the library's own"
            if self.capabilities.remote:
                hint = f"start the server, or see its log; the address looks like {self.address_example}"
            raise self.fail("a request failed", reason=error, hint=hint) from error

    def fail(self, what: str, *, reason: object = "", hint: str) -> EngineFailed:
        """Return the error for a server: which one, what happened, its own words, and what to do."""
        words = " ".join(hide_secrets(str(reason)).split())
        where = f", server `{hide_secrets(self._address)}`" if self.capabilities.remote else ""
        msg = f"`{self.name}`{where}: {what}"
        return EngineFailed(f"{msg}\n  {words}" if words else msg, hint=hint)


class CollectionEngine(RemoteEngine):
    """An engine with a collection of its own on a server, and one client per searcher.

    A variant that runs in process is not `remote` and has a single client.
    """

    def __init__(self) -> None:
        self._collection = f"judged_{uuid4().hex[:16]}"
        self._clients: list[Any] = []

    def ask_version(self, url: str) -> str:
        """Connect to the server and return its version."""
        self._library, self._address = self.load(self.modules[0]), url
        with self.asking():
            self._client = self.connect()
            version = self.read_version()
            self._client.close()
        return version

    def open(self, spec: IndexSpec, settings: Settings) -> None:
        """Keep what the collection is made for, and connect."""
        self._library = self.load(self.modules[0])
        self._spec, self._settings, self._address = spec, settings, self.find_address(spec)
        with self.asking():
            self._client = self.connect()
            if self.capabilities.remote:
                type(self).server_version = self.read_version()

    def connect(self) -> Any:
        """Return a client, which is closed together with the engine."""
        if not self._clients or self.capabilities.remote:
            self._clients.append(self.make_client())
        return self._clients[-1]

    def close(self) -> None:
        """Drop the collection, unless the server is gone, and close the clients."""
        if self._clients:
            with suppress(EngineFailed), self.asking():
                self.drop()
        for client in self._clients:
            client.close()
        self._clients = []

    def make_client(self) -> object:
        """Make a client of the library for the address."""
        raise NotImplementedError

    def read_version(self) -> str:
        """Return the name of the server and its version."""
        raise NotImplementedError

    def drop(self) -> None:
        """Delete the collection."""
        self._client.delete_collection(self._collection)
