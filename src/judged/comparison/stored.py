"""Documents of saved results: the part that a comparison needs, decoded apart because `msgspec` is slow to load."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from judged.comparison.sources import AGAIN
from judged.errors import Unreadable
from judged.result import InputFile, ProtocolRecord, Provenance


class _Protocol(Struct):
    fingerprint: str
    measures: tuple[str, ...] = ()


class _File(Struct):
    role: str
    path: str
    sha256: str | None = None


class _Provenance(Struct):
    """The fields of a provenance, written as plain data, that a comparison needs."""

    protocols: tuple[_Protocol, ...] = ()
    inputs: tuple[_File, ...] = ()

    def restore(self) -> Provenance:
        """Return the protocols and inputs as results have them."""
        return Provenance(
            protocols=tuple(
                ProtocolRecord("", protocol.fingerprint, measures=protocol.measures)
                for protocol in self.protocols
            ),
            inputs=tuple(InputFile(file.role, file.path, file.sha256) for file in self.inputs),
        )


class Document(Struct):
    """A result in JSON: with its state if `judged.load` reads it, else with its tables only."""

    provenance: _Provenance = msgspec.field(default_factory=_Provenance)
    tables: dict[str, msgspec.Raw] = {}
    state: msgspec.Raw = msgspec.Raw()

    @classmethod
    def decode(cls, data: bytes, path: object) -> Document:
        """Return the document of a file."""
        try:
            return msgspec.json.decode(data, type=cls)
        except msgspec.DecodeError:
            raise _refuse(path) from None

    def read_scores(self, path: object) -> list[dict[str, str | float | None]]:
        """Return the rows of the table of scores."""
        try:
            return msgspec.json.decode(self.tables["scores"], type=list[dict[str, str | float | None]])
        except msgspec.DecodeError:
            raise _refuse(path) from None


def decode_provenance(text: str) -> Provenance:
    """Return the provenance that a table carries; an empty one for text that is none, as if the file did not say."""
    try:
        return msgspec.json.decode(text, type=_Provenance).restore()
    except msgspec.DecodeError:
        return Provenance()


def _refuse(path: object) -> Unreadable:
    msg = f"{path} holds scores, and not as `judged score --per-query` writes them"
    return Unreadable(msg, hint=AGAIN)
