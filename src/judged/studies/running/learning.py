"""Learning from the training queries of a study: weights of fusions, and the best expert for each query."""

from __future__ import annotations

from judged.errors import JudgedError
from judged.scoring.evaluate import evaluate_many
from judged.studies.factors.tuned import SettingsTuning, Trials
from judged.studies.fusion.tuning import FusionTuning, tune_fusion
from judged.studies.running.answers import make_run
from judged.studies.running.plan import StudyInputs
from judged.studies.systems.building import Build, Learned
from judged.studies.systems.declared import SystemSpec
from judged.tables.run import Run


class Learning:
    """Learns from the answers of systems that are finished."""

    def __init__(self, inputs: StudyInputs) -> None:
        self._inputs = inputs
        self._tunings: dict[str, FusionTuning] = {}

    def learn(self, spec: SystemSpec, build: Build) -> Learned:
        """Return what a system learns from the runs of its parts, or by trying settings, which `build` takes."""
        if not spec.learns:
            return Learned()
        if spec.tune is not None:
            found = self.tune_settings(spec, build)
            return Learned(settings=found.by_query, settings_of_others=found.settings)
        if spec.fuse is not None:
            return Learned(weights=self.tune(spec).weights)
        return Learned(best_expert=self._find_best_experts(spec))

    def tune_settings(self, spec: SystemSpec, build: Build | None = None) -> SettingsTuning:
        """Return the settings chosen for a system: those that an earlier run chose, or else by trials."""
        inputs, study = self._inputs, self._inputs.spec
        assert spec.tune is not None  # noqa: S101 - the caller has looked
        planned = next(planned for planned in inputs.plan if planned.spec.name == spec.name)
        path = planned.log.path.with_suffix(".tuning.json")
        found = SettingsTuning.load(path)
        if found is None:
            if build is None:
                msg = f"the tuned settings of `{spec.name}` are lost: {path} is not there, or damaged"
                raise JudgedError(msg, hint="run the study into another folder")
            trials = Trials(
                spec.tune,
                inputs.judgments,
                spec.tune.measure or study.measure_names()[0],
                study.protocol,
                inputs.collection.queries,
                build,
            )
            found = trials.tune(inputs.training or None, seed=study.seed, level=study.level)
            found.save(path)
        return found

    def tune(self, spec: SystemSpec) -> FusionTuning:
        """Return the tuning of a fusion: weights from the training queries, scored on the others."""
        fuse, study = spec.fuse, self._inputs.spec
        assert fuse is not None  # noqa: S101 - the caller has looked
        assert fuse.tune is not None  # noqa: S101
        if spec.name not in self._tunings:
            self._tunings[spec.name] = tune_fusion(
                self._inputs.judgments,
                {part: self._run_of(part) for part in fuse.of},
                fuse.tune.measure or study.measure_names()[0],
                method=fuse.method,
                normalisation=fuse.normalisation,
                search=fuse.tune.search,
                train=self._inputs.training,
                step=fuse.tune.step,
                particles=fuse.tune.particles,
                iterations=fuse.tune.iterations,
                seed=study.seed,
                level=study.level,
                depth=spec.depth or study.depth,
                protocol=study.protocol,
                **fuse.parameters,  # type: ignore[arg-type]  # the method's own, checked by `FuseSpec.choose`
            )
        return self._tunings[spec.name]

    def _run_of(self, name: str) -> Run:
        """Return the run of a system over all queries, training queries included."""
        log = next(planned.log for planned in self._inputs.plan if planned.spec.name == name)
        return make_run(name, ((asked.query, asked.documents, asked.scores) for asked in log.first_pass()))

    def _find_best_experts(self, spec: SystemSpec) -> dict[str, str]:
        """Return the best expert of each training query, by the first measure; of equal ones the first."""
        study = self._inputs.spec
        scored = evaluate_many(
            self._inputs.judgments.select(self._inputs.training),
            {part: self._run_of(part) for part in spec.parts},
            study.measure_names()[0],
            protocol=study.protocol,
        )
        measure = scored.measures[0]
        sign = -1.0 if measure.higher_is_better is False else 1.0
        values = {name: evaluation.scores.by_query(measure) for name, evaluation in scored.items()}
        return {
            query: max(spec.parts, key=lambda part, query=query: sign * values[part].get(query, 0.0))  # type: ignore[misc]
            for query in self._inputs.training
        }
