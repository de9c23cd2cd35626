"""Location of models: a local folder, a folder in an installed package, or a repository of the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from judged._optional import need
from judged.studies.stages.encoders.encoder import hash_files
from judged.studies.stages.stage import StageFailed

PACKAGE = "package:"
DESCRIPTIONS = ("*.json", "*.txt", "*.model", "*.md")
"""Files that describe a model: its configuration and its tokenizer."""
WEIGHTS = ("*.safetensors",)
OLD_WEIGHTS = ("*.bin",)
"""Weights of repositories that have no others."""
PATIENCE = 10.0
"""Seconds that the hub has to answer."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The files of a model on this machine, and what identifies them."""

    name: str
    """The model as the study names it."""
    path: Path
    identity: str
    """A hash of the files, or the commit of the repository that they were downloaded from."""

    def fail(self, error: BaseException) -> StageFailed:
        """Return the error to raise for files that the library of the model does not accept."""
        reason = " ".join(str(error).split()) or type(error).__name__
        msg = f"the model `{self.name}` cannot be loaded from {self.path}: {reason}"
        return StageFailed(msg, hint="the type of the encoder must suit the files of the model")


def find_model(model: str, *, revision: str | None = None, extra: str, weights: bool = True) -> ModelFolder:
    """Return the folder of a model; raise `StageFailed` with the places that were searched if there is none.

    `package:NAME/FOLDER` is a folder inside an installed package; what is neither that nor a folder is a
    repository of the hub, whose files are downloaded once. Without `weights`, only configuration and tokenizer are.
    """
    if model.startswith(PACKAGE):
        return _find_in_package(model)
    folder = Path(model).expanduser()
    if folder.is_dir():
        return ModelFolder(model, folder, hash_files(folder))
    if model.startswith((".", "/", "~")) or model.count("/") > 1 or "\\" in model or not model:
        msg = f"the model `{model}` is not a folder on this machine"
        raise StageFailed(msg, hint="write the path of a folder, a hub id, or `package:NAME/FOLDER`")
    return _find_on_hub(model, revision, extra=extra, weights=weights)


@contextmanager
def load_quietly() -> Iterator[None]:
    """Keep the progress bars and reports of `transformers` off the terminal."""
    logging = import_module("transformers.utils.logging")
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _find_in_package(model: str) -> ModelFolder:
    name, _, folder = model.removeprefix(PACKAGE).partition("/")
    package = find_spec(name) if name.isidentifier() else None
    if package is None:
        msg = f"the model `{model}` is in the package `{name}`, which is not installed"
        raise StageFailed(msg, hint="install it, or check the name that Python imports it by")
    for place in package.submodule_search_locations or ():
        path = Path(place, folder)
        if path.is_dir():
            return ModelFolder(model, path, hash_files(path))
    msg = f"the model `{model}` is not there: the package `{name}` has no folder `{folder}`"
    raise StageFailed(msg)


def _find_on_hub(model: str, revision: str | None, *, extra: str, weights: bool) -> ModelFolder:
    hub = need("huggingface_hub", extra=extra, needed_by=f"the model `{model}`")

    def download(patterns: Iterable[str]) -> Path:
        files = [*DESCRIPTIONS, *patterns]
        return Path(
            hub.snapshot_download(model, revision=revision, allow_patterns=files, etag_timeout=PATIENCE)
        )

    try:
        path = download(WEIGHTS if weights else ())
        if weights and not any(path.rglob("*.safetensors")):
            path = download(OLD_WEIGHTS)
    except (OSError, ValueError) as error:
        at = "" if revision is None else f" at revision `{revision}`"
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        msg = f"the model `{model}`{at} is not there: no folder on this machine has that name, and the hub gave nothing ({reason})"
        hint = "download the model where there is a network, and write the path of its folder as `model`"
        raise StageFailed(msg, hint=hint) from None
    return ModelFolder(model, path, path.name)
