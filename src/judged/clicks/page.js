/* Clicks: the verdicts, means and differences by user, what was clicked at each rank, outcomes by day, and the checks. */

definePage("clicks", "", async (page, subject) => {
  const data = subject.pages.clicks;
  page.append(...headline(subject, ...clicksTitle(data)));
  page.append(h("h2", {}, "Systems"), clickMeans(subject, data));
  if (data.differences.length) page.append(h("h2", {}, "Differences by user"), clickDifferences(data));
  if (data.outcomes.length) page.append(h("h2", {}, "Interleaving"), clickOutcomes(data));
  if (data.ratio || data.splits.length) page.append(h("h2", {}, "Checks"), ...clickChecks(data));
  for (const figure of await block(subject, "clicks", "figures"))
    page.append(...[drawBlock(figure)].flat(3).filter(Boolean));
  if (data.ranks.length) page.append(clickRanks(data));
  page.append(notes(subject) || "");
});

/** The title and the paragraph below it. */
function clicksTitle(data) {
  const shown = plural(
    data.impressions.reduce((sum, n) => sum + n, 0),
    "impression",
  );
  if (data.failures.length && data.differences.length)
    return ["No verdict: a check failed.", `${capital(data.failures.join("; "))}. ${shown}.`];
  const [first, ...others] = data.verdicts;
  if (first)
    return [clip(first, 300), others.length ? clip(`${others.join("; ")}. ${shown}.`, 1200) : `${shown}.`];
  const [mean] = data.means;
  return [
    [
      named(data.systems[0]),
      mean ? ` has ${mean.measure} ${fixed(mean.mean, 3)} over ${shown}.` : ` has ${shown}.`,
    ],
    data.systems.length > 1 ? null : "The log names one system: nothing was compared.",
  ];
}

const systemColumn = {
  name: "system",
  text: true,
  left: true,
  value: row => row.system,
  cell: row => named(row.system),
};
const span = row => (known(row.low) ? `${fixed(row.low, 3)} to ${fixed(row.high, 3)}` : "–");

function clickMeans(subject, data) {
  return table({
    name: "Clicks",
    rows: data.means,
    columns: [
      systemColumn,
      { name: "measure", text: true, left: true, value: row => row.measure },
      { name: "mean", value: row => float(row.mean), cell: row => fixed(row.mean, 4) },
      { name: `${percent(data.level, 0)} interval`, text: true, value: span, rank: 2 },
    ],
    caption: `Means over impressions; intervals by user. Protocol: ${protocolText(subject)}.`,
  });
}

function clickDifferences(data) {
  const way = name => (data.measures.find(measure => measure.name === name) || { better: 0 }).better;
  const isSure = row => known(row.p_corrected) && row.p_corrected < 1 - data.level && !data.failures.length;
  return table({
    name: "Differences",
    rows: data.differences,
    columns: [
      { name: "measure", text: true, left: true, value: row => row.measure },
      systemColumn,
      {
        name: "against",
        text: true,
        left: true,
        value: row => row.baseline,
        cell: row => named(row.baseline),
      },
      {
        name: "difference",
        value: row => float(row.difference),
        cell: row => [
          mark(isSure(row) ? Math.sign(row.difference) * way(row.measure) : 0),
          ` ${signed(row.difference, 4)}`,
        ],
      },
      {
        name: "interval",
        text: true,
        rank: 2,
        value: row => (known(row.low) ? `${signed(row.low, 4)} to ${signed(row.high, 4)}` : "undefined"),
      },
      { name: "p", value: row => float(row.p_corrected), cell: row => formatP(row.p_corrected) },
      { name: "draws", rank: 3, value: row => row.draws, cell: row => count(row.draws) },
    ],
    caption:
      "Over different impressions; p is corrected for the comparisons of a measure. Draws are users, or what else is independent.",
  });
}

function clickOutcomes(data) {
  return table({
    name: "Interleaving",
    rows: data.outcomes,
    columns: [
      { name: "day", text: true, left: true, value: row => row.day || "all" },
      { name: "first", text: true, left: true, value: row => row.first, cell: row => named(row.first) },
      { name: "wins", value: row => row.first_wins, cell: row => count(row.first_wins) },
      { name: "second", text: true, left: true, value: row => row.second, cell: row => named(row.second) },
      { name: "second wins", value: row => row.second_wins, cell: row => count(row.second_wins) },
      { name: "credit", value: row => float(row.credit), cell: row => signed(row.credit, 4) },
      { name: "interval", text: true, rank: 2, value: span },
      { name: "p", value: row => float(row.p), cell: row => formatP(row.p) },
    ],
    caption:
      "Credit is 1 where an impression speaks for the first team, −1 for the second, averaged over impressions.",
  });
}

function clickChecks(data) {
  const parts = [];
  if (data.ratio) {
    const { unit, counts, expected, p, failed } = data.ratio;
    parts.push(
      table({
        name: "Sample ratio",
        rows: Object.keys(counts).map(system => ({ system })),
        columns: [
          systemColumn,
          { name: `${unit}s`, value: row => counts[row.system], cell: row => count(counts[row.system]) },
          {
            name: "planned",
            value: row => float(expected[row.system]),
            cell: row => percent(expected[row.system]),
          },
        ],
        caption: `Sample ratio: ${failed ? "not as planned" : "as planned"} (${sayP(p)}).`,
      }),
    );
  }
  if (data.splits.length)
    parts.push(
      table({
        name: "A/A splits",
        rows: data.splits,
        columns: [
          { name: "measure", text: true, left: true, value: row => row.measure },
          systemColumn,
          {
            name: "halves that differ",
            value: row => row.alarms,
            cell: row => `${row.alarms} of ${row.splits}`,
          },
          { name: "expected", value: row => float(row.alpha), cell: row => percent(row.alpha, 0) },
          { name: "check", text: true, value: row => (row.failed ? "fails" : "passes") },
        ],
        caption: "How often the test calls two random halves of the users of one system different.",
      }),
    );
  return parts;
}

const clickRanks = data =>
  h(
    "details",
    { class: "note" },
    h("summary", {}, "Click-through by rank"),
    table({
      name: "Ranks",
      rows: data.ranks,
      columns: [
        systemColumn,
        { name: "rank", value: row => row.rank },
        { name: "impressions", rank: 2, value: row => row.impressions, cell: row => count(row.impressions) },
        { name: "click-through", value: row => float(row.rate), cell: row => fixed(row.rate, 4) },
        { name: "interval", text: true, rank: 2, value: span },
      ],
    }),
  );
