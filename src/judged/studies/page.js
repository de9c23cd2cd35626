/* A study: which system wins and what that costs, quality against latency next to where the time goes, then every table. */

definePage("study", "", async (page, subject) => {
  const [answer, ...rest] = await block(subject, "study", "blocks");
  page.append(...headline(subject, studyTitle(subject), clip(answer.text, 4000)));
  const beside = rest.filter(part => part.kind === "figure" && ["trade-off", "stages"].includes(part.name));
  if (beside.length)
    page.append(
      h(
        "div",
        { class: "even" },
        beside.map(part => h("section", {}, drawBlock({ ...part, spec: compact(part.spec), fit: true }))),
      ),
    );
  for (const part of rest)
    if (!beside.includes(part)) page.append(...[drawBlock(part)].flat(3).filter(Boolean));
  page.append(notes(subject) || "");
});

/** A figure for half of the page: its legend below it, its height in pixels, since its width follows the page. */
function compact(spec) {
  const { step } = spec.height,
    rows = new Set(spec.data.values.map(({ group }) => group)).size;
  const legend = { ...spec.config?.legend, orient: "bottom", columns: 4 };
  return { ...spec, height: step ? step * rows : spec.height, config: { ...spec.config, legend } };
}

function studyTitle(subject) {
  const { scored, pages } = subject,
    measure = scored?.measures[0].name;
  const answer = scored && pages.leaderboard?.answers?.[measure];
  if (!answer) return subject.title;
  return answerTitle(answer, measure, plural(scored.queries, scored.unit), better(subject, measure));
}
