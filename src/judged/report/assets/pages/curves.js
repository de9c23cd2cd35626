/* Curves: precision by recall, measures by cutoff, slices compared, and the critical-difference diagram. */

definePage("curves", "mab", async (page, subject) => {
  const data = subject.pages.curves,
    { scored } = subject,
    single = scored.systems.length === 1;
  const curves = data.curves ? await block(subject, "curves", "curves") : [];
  const key = [
    h("span", { class: "up" }, "━ ", named(state.a)),
    " and ",
    h("span", { class: "down" }, "┅ ", named(state.b)),
    scored.systems.length > 2 ? "; the other systems in grey. Point at a line to name it." : ".",
  ];
  const drawn = head.figures && !single && curves.length;
  page.append(...headline(subject, curvesAnswer(subject, data, curves), drawn ? key : null));
  if (data.why)
    page.append(
      h(
        "p",
        { class: "note" },
        `Precision by recall and measures by cutoff are not in this file: ${data.why}.`,
      ),
    );
  if (curves.length)
    page.append(
      h(
        "div",
        { class: "thirds" },
        curves.map((rows, i) => drawCurve(subject, data.curves[i], rows)),
      ),
      curveTable(subject, data, curves),
    );
  if (data.slices.length) await drawSlices(page, subject, data);
  const diagram = data.ranks[state.m];
  if (diagram)
    page.append(
      ...panel(`Average ranks by ${state.m}`, {
        spec: diagram.spec,
        name: `Critical difference ${state.m}`,
        label: "Average ranks of the systems; strokes join those that the test does not separate",
        caption: diagram.note || null,
      }),
    );
});

function curvesAnswer(subject, data, curves) {
  const { systems } = subject.scored,
    at = systems.indexOf(state.a),
    to = systems.indexOf(state.b);
  const i = (data.curves || []).findIndex(curve => curve.x === "cutoff");
  if (i < 0) return data.slices.length ? "Systems by slice" : "Systems by rank";
  const { name, points } = data.curves[i],
    wanted = [points.indexOf(1), points.indexOf(10), points.indexOf(100)].filter(k => k >= 0);
  if (systems.length === 1)
    return [
      `${name} of `,
      named(state.a),
      `: ${wanted.map(k => `${fixed(curves[i][k][at][0], 3)} at ${points[k]}`).join(", ")}.`,
    ];
  return [
    named(state.a),
    " against ",
    named(state.b),
    `: ${name} ${wanted.map(k => `${fixed(curves[i][k][at][0], 3)} against ${fixed(curves[i][k][to][0], 3)} at ${points[k]}`).join(", ")}.`,
  ];
}

function drawCurve(subject, { name, x, points }, means) {
  const { systems } = subject.scored,
    role = system => (system === state.a ? "a" : system === state.b ? "b" : "rest");
  const rows = systems.flatMap((system, s) =>
    points
      .map(
        (point, k) =>
          means[k][s] && {
            system: clip(system, 60),
            role: role(system),
            x: point,
            value: means[k][s][0],
            low: means[k][s][1],
            high: means[k][s][2],
          },
      )
      .filter(Boolean),
  );
  const title = x === "recall" ? "Precision by recall" : `${name} by cutoff`;
  return h(
    "div",
    {},
    panel(title, {
      kind: "curve",
      rows,
      name: title,
      label: `${title} of each system; the table below has the values`,
      words: {
        x: x === "recall" ? "recall" : "cutoff k",
        y: x === "recall" ? "interpolated precision" : `${name}@k`,
        ticks: x === "recall" ? [0, 0.2, 0.4, 0.6, 0.8, 1] : points,
        scale: x === "recall" ? "linear" : "log",
      },
      tips: row =>
        row.system && {
          system: row.system,
          [x]: row.x,
          mean: fixed(row.value),
          interval: known(row.low) ? `${fixed(row.low)} … ${fixed(row.high)}` : "–",
        },
      caption:
        x === "recall"
          ? `Interpolated at eleven points; bands are ${percent(subject.scored.level, 0)} intervals of the mean.`
          : "Logarithmic in k.",
    }),
  );
}

function curveTable(subject, data, curves) {
  const { systems } = subject.scored;
  const columns = data.curves.flatMap(({ name, x, points }, i) =>
    points.map((point, k) => ({
      name: x === "recall" ? `precision at ${point}` : `${name}@${point}`,
      rank: [1, 10, 100].includes(point) && x !== "recall" ? 1 : 3,
      value: row => float(curves[i][k][row.at] && curves[i][k][row.at][0]),
      cell: row => fixed(curves[i][k][row.at] && curves[i][k][row.at][0], 3),
    })),
  );
  return h(
    "details",
    { class: "note" },
    h("summary", {}, "Values"),
    table({
      name: "Curves",
      rows: systems.map((name, at) => ({ name, at })),
      columns: [
        { name: "system", text: true, left: true, value: row => row.name, cell: row => named(row.name) },
        ...columns,
      ],
    }),
  );
}

async function drawSlices(page, subject, data) {
  const parts = await block(subject, "curves", "slices"),
    { scored } = subject,
    at = scored.systems.indexOf(state.a),
    measure = state.m;
  const rows = data.slices.map(({ attribute, value, queries }, i) => {
    const row = parts[i].contrasts[state.b] && parts[i].contrasts[state.b][measure][at];
    return {
      slice: clip(`${attribute} ${value} (${count(queries)})`, 60),
      attribute,
      value,
      queries,
      mean: parts[i].means[measure][at],
      base: parts[i].means[measure][scored.systems.indexOf(state.b)],
      row,
      difference: row?.[FIELD.difference],
      low: row?.[FIELD.low],
      high: row?.[FIELD.high],
    };
  });
  const dependent = data.interactions.filter(
    found =>
      found.measure === measure &&
      ((found.system === state.a && found.baseline === state.b) ||
        (found.system === state.b && found.baseline === state.a)),
  );
  page.append(
    h("h2", {}, `${measure} by slice`),
    ...[
      chart({
        kind: "slices",
        rows: rows
          .filter(row => known(row.difference))
          .map(({ slice, difference, low, high }) => ({ slice, difference, low, high })),
        words: { measure, A: clip(state.a, 24), B: clip(state.b, 24) },
        name: `Slices ${measure}`,
        label: "Mean difference in each slice, with its interval; the table has the numbers",
        tips: row =>
          row.slice && {
            slice: row.slice,
            difference: signed(row.difference),
            interval: known(row.low) ? `${signed(row.low)} … ${signed(row.high)}` : "–",
          },
        caption:
          dependent
            .map(
              found =>
                `Does the difference depend on ${found.attribute}? ${known(found.p_corrected) ? `Corrected ${sayP(found.p_corrected)}` : found.undefined}. `,
            )
            .join("") || "Mean differences with their intervals.",
      }),
    ].filter(Boolean),
    table({
      name: `Slices ${measure}`,
      rows,
      columns: [
        { name: "attribute", text: true, left: true, value: row => row.attribute },
        { name: "slice", text: true, left: true, value: row => row.value },
        { name: "queries", value: row => row.queries, cell: row => count(row.queries) },
        { name: clip(state.a, 24), value: row => float(row.mean[0]) },
        { name: clip(state.b, 24), value: row => float(row.base[0]) },
        {
          name: "difference",
          value: row => float(row.difference),
          cell: row =>
            row.row
              ? [mark(verdict(row.row, scored.alpha, better(subject, measure))), signed(row.difference)]
              : "–",
        },
        { name: "low", rank: 3, value: row => float(row.low) },
        { name: "high", rank: 3, value: row => float(row.high) },
        {
          name: "p, corrected",
          rank: 3,
          value: row => float(row.row?.[FIELD.p_corrected]),
          cell: row => formatP(row.row?.[FIELD.p_corrected]),
        },
      ],
    }),
  );
}
