"""The service that labels are asked of: where it is, how hard it may be worked, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

from judged.errors import BadProtocol
from judged.label.money import Prices

__all__ = ["Patience", "Service"]


@dataclass(frozen=True, slots=True)
class Patience:
    """How often to try: requests that fail, and answers that state no grade."""

    attempts: int = 6
    reasks: int = 1

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.reasks < 0:
            msg = f"attempts are {self.attempts} and reasks {self.reasks}, expected from 1 and from 0"
            raise BadProtocol(msg)


@dataclass(frozen=True, slots=True)
class Service:
    """An endpoint, and the terms on which it is used."""

    endpoint: str
    key_variable: str | None = None
    """The environment variable that holds the key; None: OPENAI_API_KEY."""
    concurrency: int = 8
    rate: float | None = None
    """The most requests a minute."""
    timeout: float = 60.0
    patience: Patience = Patience()
    prices: Prices | None = None
    budget: float | None = None
    """The most that the answers to all questions may cost, those of earlier jobs among them."""

    def __post_init__(self) -> None:
        if not self.endpoint.startswith(("http://", "https://")):
            msg = (
                f"the endpoint is `{self.endpoint}`, expected an address that begins with http:// or https://"
            )
            raise BadProtocol(msg)
        bare = self.endpoint.rstrip("/").removesuffix("/chat/completions")
        object.__setattr__(self, "endpoint", bare)  # many copy the address of the request itself
        if not self.timeout > 0:
            msg = f"the timeout is {self.timeout}, expected more than 0 seconds"
            raise BadProtocol(msg)
