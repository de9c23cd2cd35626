/* A study: which system wins and what that costs, quality against latency beside where the time goes, then every table. */

definePage("study", "", async (page, subject) => {
  const [answer, ...rest] = await block(subject, "study", "blocks");
  page.append(studyTitle(subject), h("p", { class: "lead" }, clip(answer.text, 4000)), warnings(subject) || "");
  const beside = rest.filter((part) => part.kind === "figure" && ["trade-off", "stages"].includes(part.name));
  if (beside.length) page.append(h("div", { class: "even" }, beside.map((part) => h("section", {}, drawBlock({ ...part, spec: fitted(part.spec) })))));
  for (const part of rest) if (!beside.includes(part)) page.append(...[drawBlock(part)].flat(3).filter(Boolean));
});

/** A figure as wide as its half of the page, its legend below it. */
const fitted = (spec) => ({ ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" }, config: { ...spec.config, legend: { ...(spec.config || {}).legend, orient: "bottom", columns: 4 } } });

function studyTitle(subject) {
  const { scored, pages } = subject, measure = scored && scored.measures[0].name;
  const answer = scored && pages.leaderboard && pages.leaderboard.answers && pages.leaderboard.answers[measure];
  if (!answer) return h("h1", {}, subject.title);
  return answerTitle(answer, measure, plural(scored.queries, scored.unit), better(subject, measure));
}
