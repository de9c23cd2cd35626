"""Cross-encoders: a transformer that reads query and document together and returns a score."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType
from typing import Any

from judged._optional import need
from judged.studies.stages.encoders.models import ModelFolder, find_model, load_quietly
from judged.studies.stages.rerankers.function import score_texts
from judged.studies.stages.rerankers.reranker import ModelRerankSpec
from judged.studies.stages.stage import Query, Ranked, StageFailed, Workshop
from judged.studies.stages.vectors import VectorSpace


class CrossEncoder(ModelRerankSpec, frozen=True, kw_only=True, tag="cross-encoder"):
    """A cross-encoder of sentence-transformers; the score is the model's output before any activation."""

    def load(self, workshop: Workshop, space: VectorSpace | None) -> _PairScorer:  # noqa: ARG002 - texts alone
        """Load the model, or build it untrained if random weights are asked for."""
        library = need("sentence_transformers", extra=self.extra, needed_by="the reranker `cross-encoder`")
        transformers = need("transformers", extra=self.extra, needed_by="the reranker `cross-encoder`")
        trained = self.weights == "trained"
        folder = find_model(self.model, revision=self.revision, extra=self.extra, weights=trained)
        try:
            with load_quietly():
                if not trained:
                    folder = self._build(transformers, folder, workshop)
                elif not (folder.path / "modules.json").is_file():
                    _check_weights(transformers, folder)
                model = library.CrossEncoder(
                    str(folder.path), device=self.device, max_length=self.max_length, local_files_only=True
                )
        except StageFailed:
            raise
        except Exception as error:
            raise folder.fail(error) from error
        if model.num_labels != 1:
            msg = f"the model `{self.model}` returns {model.num_labels} numbers, expected one score"
            raise StageFailed(msg, hint="a cross-encoder for ranking has a single label")
        return _PairScorer(workshop, model, self)

    def _build(self, transformers: ModuleType, folder: ModelFolder, workshop: Workshop) -> ModelFolder:
        """Write an untrained model with the configuration of the folder, and return where it is."""
        import torch

        config = transformers.AutoConfig.from_pretrained(folder.path, local_files_only=True, num_labels=1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network = transformers.AutoModelForSequenceClassification.from_config(config)
        path = Path(mkdtemp(prefix="cross-encoder-", dir=workshop.folder))
        network.save_pretrained(path)
        transformers.AutoTokenizer.from_pretrained(folder.path, local_files_only=True).save_pretrained(path)
        return ModelFolder(folder.name, path, folder.identity)


def _check_weights(transformers: ModuleType, folder: ModelFolder) -> None:
    """Raise `StageFailed` for a model without the trained head that makes scores; the library would draw one at random."""
    _, report = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder.path, local_files_only=True, output_loading_info=True
    )
    missing = sorted(report["missing_keys"])
    if missing:
        msg = f"the model `{folder.name}` is not a trained cross-encoder: weights for `{missing[0]}` are missing"
        raise StageFailed(msg, hint="write `weights: random` for an untrained one")


class _PairScorer:
    def __init__(self, workshop: Workshop, model: Any, spec: CrossEncoder) -> None:
        self._workshop, self._model, self._spec = workshop, model, spec
        self.untrained = spec.weights == "random"

    def order(self, query: Query, head: Ranked) -> Ranked:
        """Return the documents by the model's scores."""
        import torch

        scores = self._model.predict(
            [(query.text, text) for text in self._workshop.texts(head.documents)],
            batch_size=self._spec.batch,
            activation_fn=torch.nn.Identity(),
            show_progress_bar=False,
        )
        return score_texts(head, scores, self._spec.model)
