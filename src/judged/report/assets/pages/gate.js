/* Gate: the verdict, then every measure with its difference, interval and margin, and the reason in words. */

const VERDICTS = { pass: "✓ passes", fail: "✗ fails", inconclusive: "? is inconclusive" };

definePage("gate", "", (page, subject) => {
  const { gates, verdict: worst } = subject.pages.gate;
  const [first] = gates;
  const title = [
    gates.length === 1
      ? [named(first.run), " against ", named(first.baseline), ": "]
      : `${plural(gates.length, "gate")}: `,
    h("span", { class: `verdict ${worst}` }, worst),
    ".",
  ];
  const counts = {};
  for (const { verdict } of gates.flatMap(gate => gate.measures))
    counts[verdict] = (counts[verdict] || 0) + 1;
  const lead = [
    Object.entries(counts)
      .map(([verdict, n]) => `${plural(n, "measure")} ${verdict}`)
      .join(", "),
    ". A measure passes if its difference is shown to be above the margin.",
  ];
  page.append(...headline(subject, title, lead));
  for (const gate of gates) page.append(...drawGate(gate, gates.length > 1));
  page.append(notes(subject) || "");
});

function drawGate(gate, several) {
  const ends = one => ({ low: one.low ?? one.difference, high: one.high ?? one.difference });
  const rows = gate.measures.map(one => ({
    measure: clip(one.measure, 40),
    difference: one.difference,
    margin: one.margin,
    verdict: one.verdict,
    ...ends(one),
  }));
  return [
    several && h("h2", {}, named(gate.name), ": ", VERDICTS[gate.verdict]),
    chart({
      kind: "margins",
      rows,
      name: `Gate ${gate.name}`,
      label: "Difference of each measure with its interval and margin; the table has the numbers",
      words: {},
      tips: row =>
        row.measure && {
          measure: row.measure,
          difference: signed(row.difference),
          interval: `${signed(row.low)} … ${signed(row.high)}`,
          margin: signed(row.margin),
          verdict: row.verdict,
        },
      caption:
        "Points are differences in the good direction, lines their intervals, black bars the margins; a line wholly to the right of its bar passes.",
    }),
    table({
      name: `Gate ${gate.name}`,
      rows: gate.measures,
      columns: [
        { name: "measure", text: true, left: true, value: row => row.measure },
        {
          name: "verdict",
          text: true,
          left: true,
          value: row => row.verdict,
          cell: row => h("span", { class: `verdict ${row.verdict}` }, row.verdict),
        },
        { name: "baseline", rank: 3, value: row => float(row.baseline_mean) },
        { name: "run", rank: 3, value: row => float(row.run_mean) },
        { name: "difference", value: row => float(row.difference), cell: row => signed(row.difference) },
        { name: "at least", rank: 3, value: row => float(row.low), cell: row => signed(row.low) },
        { name: "at most", rank: 3, value: row => float(row.high), cell: row => signed(row.high) },
        { name: "margin", value: row => float(row.margin), cell: row => signed(row.margin) },
        {
          name: "better/equal/worse",
          rank: 3,
          key: row => row.better - row.worse,
          value: row => `${row.better}/${row.equal}/${row.worse}`,
        },
      ],
    }),
    h(
      "ul",
      { class: "notes" },
      gate.measures.map(one => h("li", {}, h("bdi", {}, clip(one.why, 1200)))),
    ),
    h(
      "details",
      { class: "note" },
      h("summary", {}, "What changed most"),
      table({
        name: `Changes ${gate.name}`,
        rows: gate.measures.flatMap(one =>
          [...one.hurt, ...one.helped].map(([id, difference]) => ({
            measure: one.measure,
            unit: one.unit,
            id,
            difference,
          })),
        ),
        sort: ["difference", false],
        columns: [
          { name: "measure", text: true, left: true, value: row => row.measure },
          {
            name: gate.measures[0].unit,
            text: true,
            left: true,
            value: row => row.id,
            cell: row => h("bdi", {}, clip(row.id, 90)),
          },
          { name: "difference", value: row => float(row.difference), cell: row => signed(row.difference) },
        ],
      }),
    ),
  ].filter(Boolean);
}
