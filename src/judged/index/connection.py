"""What engines over a connection share: the address of the server, its version, and failures in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from judged.errors import EngineFailed, JudgedError
from judged.index.engine import Engine, IndexSpec
from judged.net.secrets import hide_secrets


class RemoteEngine(Engine):
    """An engine whose server is named by a URL or a DSN."""

    address_example: ClassVar[str]
    server_version: ClassVar[str] = ""
    """The version of the server that was last connected to."""

    @classmethod
    def version(cls) -> str:
        """Return the version of the server; of its client, until there is a connection."""
        return cls.server_version or super().version()

    def connect_to(self, spec: IndexSpec) -> str:
        """Return the address of the server; raise `EngineFailed` if none is given."""
        if not spec.url:
            msg = f"`{self.name}` needs the address of a server"
            raise EngineFailed(msg, hint=f"--url {self.name}={self.address_example}")
        self._address = spec.url
        return spec.url

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Turn whatever a client raises into `EngineFailed`, with the client's words."""
        try:
            yield
        except JudgedError:
            raise
        except Exception as error:
            hint = f"start the server, or see its log; the address looks like {self.address_example}"
            raise self.fail("a request failed", reason=error, hint=hint) from error

    def fail(self, what: str, *, reason: object = "", hint: str) -> EngineFailed:
        """Return the error for a server: which one, what happened, its own words, and what to do."""
        words = " ".join(hide_secrets(str(reason)).split())
        msg = f"`{self.name}`, server `{hide_secrets(self._address)}`: {what}"
        return EngineFailed(f"{msg}\n  {words}" if words else msg, hint=hint)
