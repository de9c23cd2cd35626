/* Per query: sorted differences, one system against the other, distributions, and a table; any bar or row opens its query. */

definePage("queries", "mab", async (page, subject) => {
  const { scored } = subject,
    measure = state.m;
  const [about, A] = await Promise.all([
    block(subject, "queries", "queries"),
    column(subject, measure, state.a),
  ]);
  if (scored.systems.length === 1) return drawValues(page, subject, about, A, measure);
  const B = await column(subject, measure, state.b),
    against = await contrasts(subject, state.b);
  const row = against?.rows[measure][scored.systems.indexOf(state.a)];
  const way = better(subject, measure) || 1,
    difference = differences(A, B);
  const rows = about.id
    .map((id, i) => ({
      i,
      id,
      text: about.text?.[i],
      label: about.text?.[i] || id,
      x: A[i],
      y: B[i],
      difference: difference[i],
      sign: difference[i] * way > 0 ? "won" : difference[i] * way < 0 ? "lost" : "tied",
    }))
    .filter(({ x, y }) => known(x) && known(y));
  page.append(...headline(subject, ...queriesAnswer(subject, row, rows, measure)));
  const plots = h("div"),
    below = h("div");
  const filter = queryFilter(subject, about, rows, kept => {
    finishViews();
    plots.replaceChildren(...queryPlots(subject, kept, rows, measure));
    below.replaceChildren(queryTable(subject, about, kept, measure, against));
    drawDistribution(subject, measure, plots.querySelector("[data-plot=distribution]"));
    drawPending();
  });
  page.append(filter.form, plots, below);
  filter.update();
});

/** The title and the paragraph below it. */
function queriesAnswer(subject, row, rows, measure) {
  const { scored } = subject,
    total = rows.length,
    of = sign => rows.filter(one => one.sign === sign).length;
  const [won, tied, lost] =
    row && known(row[FIELD.wins])
      ? [row[FIELD.wins], row[FIELD.ties], row[FIELD.losses]]
      : [of("won"), of("tied"), of("lost")];
  const unit = plural(total, scored.unit),
    way = verdict(row, scored.alpha, better(subject, measure));
  const title =
    way > 0
      ? [named(state.a), " beats ", named(state.b), ` on ${count(won)} of ${unit}.`]
      : way < 0
        ? [named(state.a), " loses to ", named(state.b), ` on ${count(lost)} of ${unit}.`]
        : [
            named(state.a),
            ` wins ${count(won)} and loses ${count(lost)} of ${unit} against `,
            named(state.b),
            row ? ": these cannot tell them apart." : ".",
          ];
  if (!row)
    return [
      title,
      `${count(won)} won, ${count(tied)} tied, ${count(lost)} lost in ${measure}. No difference was tested.`,
    ];
  const interval = known(row[FIELD.low]) ? ` [${signed(row[FIELD.low])}, ${signed(row[FIELD.high])}]` : "";
  return [
    title,
    [
      `${measure} differs by `,
      h("strong", {}, signed(row[FIELD.difference])),
      `${interval} on average; g ${signed(row[FIELD.hedges], 2)}, corrected ${sayP(row[FIELD.p_corrected])}. ${count(won)} won, ${count(tied)} tied, ${count(lost)} lost.`,
    ],
  ];
}

/** The filters above plots and table; `show` is called with the queries that are left. */
function queryFilter(subject, about, rows, show) {
  const search = h("input", { type: "search", placeholder: "text or id", value: state.text || "" });
  const different = h("input", { type: "checkbox", checked: state.only === "1" });
  const option = (value, text, chosen) => h("option", { value, selected: value === (chosen || "") }, text);
  const least = h(
    "select",
    {},
    [
      ["", "any"],
      ["0.01", "≥ 0.01"],
      ["0.05", "≥ 0.05"],
      ["0.1", "≥ 0.1"],
      ["0.25", "≥ 0.25"],
      ["0.5", "≥ 0.5"],
    ].map(([value, text]) => option(value, text, state.min)),
  );
  const parts = Object.entries(subject.pages.queries.slices);
  const slice = parts.length
    ? h(
        "select",
        {},
        option("", "all", state.slice),
        parts.flatMap(([name, values]) =>
          values.map(value =>
            option(JSON.stringify([name, value]), clip(`${name} ${value}`, 60), state.slice),
          ),
        ),
      )
    : null;
  const said = h("span", { role: "status" });
  function update() {
    const needle = search.value.trim().toLowerCase(),
      size = +(least.value || 0);
    const [name, value] = slice?.value ? JSON.parse(slice.value) : [];
    const kept = rows.filter(
      row =>
        (!different.checked || row.difference !== 0) &&
        Math.abs(row.difference) >= size &&
        (!needle || row.id.toLowerCase().includes(needle) || row.text?.toLowerCase().includes(needle)) &&
        (!name || about.slices[name][row.i] === value),
    );
    said.textContent =
      kept.length === rows.length
        ? ""
        : `${count(kept.length)} of ${plural(rows.length, subject.scored.unit)}`;
    show(kept);
  }
  const changed = () => {
    note({
      text: search.value,
      min: least.value,
      only: different.checked ? "1" : "",
      slice: slice ? slice.value : "",
    });
    update();
  };
  search.addEventListener("input", () => {
    clearTimeout(search.timer);
    search.timer = setTimeout(changed, 180);
  });
  for (const input of [least, different, slice]) if (input) input.addEventListener("change", changed);
  const form = h(
    "form",
    { class: "filter", onsubmit: event => event.preventDefault() },
    h("label", {}, "Find ", search),
    slice && h("label", {}, "Slice ", slice),
    h("label", {}, "Difference ", least),
    h("label", {}, different, "different only"),
    said,
  );
  return { form, update };
}

const MOST_BARS = 1200;

function queryPlots(subject, kept, rows, measure) {
  if (!head.figures) return [];
  const unit = subject.scored.unit,
    opens = "query" in subject.pages;
  const open = opens ? row => row.id !== undefined && go({ page: "query", q: row.id }) : null;
  const tips = row =>
    row.id === undefined
      ? null
      : {
          [unit]: row.label,
          difference: signed(row.difference),
          [state.a]: fixed(row.x),
          [state.b]: fixed(row.y),
        };
  const values = rows.flatMap(({ x, y }) => [x, y]);
  const most = values.reduce((m, x) => Math.max(m, x), 1),
    least = values.reduce((m, x) => Math.min(m, x), 0);
  const sorted = kept.slice().sort((x, y) => y.difference - x.difference),
    every = Math.ceil(sorted.length / MOST_BARS) || 1;
  const bars = sorted
    .filter((_, i) => i % every === 0)
    .map((row, i) => ({ ...row, from: i * every, to: Math.min((i + 1) * every, sorted.length) }));
  const words = {
    A: clip(state.a, 17),
    B: clip(state.b, 17),
    measure,
    most,
    least,
    n: Math.max(1, sorted.length),
    count: plural(sorted.length, unit),
  };
  const pair = `${measure} ${state.a} ${state.b}`;
  const higher = better(subject, measure) >= 0;
  return [
    h(
      "div",
      { class: "two" },
      h(
        "div",
        {},
        panel(`Difference by ${unit}`, {
          kind: "differences",
          rows: bars,
          words,
          name: `Differences ${pair}`,
          tips,
          click: open,
          label: `Bars of the difference in ${measure}, sorted; the table below has every value`,
          caption: [
            higher ? "Above zero " : "Below zero ",
            named(state.a),
            ` is better.${every > 1 ? ` One bar for every ${every}.` : ""}${opens ? " Choose a bar to open its query." : ""}`,
          ],
        }),
      ),
      h(
        "div",
        {},
        panel("One against the other", {
          kind: "scatter",
          rows: kept,
          words,
          name: `Scatter ${pair}`,
          tips,
          click: open,
          label: `Each ${unit} as a point: ${state.b} across, ${state.a} up; the table below has every value`,
          caption: "▲ won, ● tied, ▼ lost; the dashed line is equality.",
        }),
      ),
    ),
    h(
      "details",
      { class: "note", "data-plot": "distribution", open: state.dist === "1" },
      h("summary", {}, "Distribution of values"),
    ),
  ];
}

async function drawDistribution(subject, measure, details) {
  if (!head.figures) return;
  const { shares, quantiles } = await block(subject, "queries", "distribution");
  const rows = subject.scored.systems.flatMap((system, s) =>
    quantiles[measure][s].map((value, i) => ({
      system: clip(system, 60),
      role: system === state.a ? "a" : system === state.b ? "b" : "rest",
      value,
      share: shares[i],
    })),
  );
  const figure = chart({
    kind: "distribution",
    rows,
    later: true,
    words: { measure },
    name: `Distribution ${measure}`,
    label: `Empirical distribution of ${measure} for each system`,
    tips: row =>
      row.system && { system: row.system, [measure]: fixed(row.value), share: percent(row.share, 0) },
    caption: [
      "Over all queries, regardless of the filter: blue ",
      named(state.a),
      ", orange dashed ",
      named(state.b),
      subject.scored.systems.length > 2 ? ", grey the other systems." : ".",
    ],
  });
  details.append(figure);
  const redraw = () => {
    note({ dist: details.open ? "1" : "" });
    if (details.open && details.querySelector(".chart")) details.querySelector(".chart").redraw();
  };
  details.addEventListener("toggle", redraw);
  if (details.open) redraw();
}

function queryTable(subject, about, kept, measure, against) {
  const { scored } = subject,
    opens = "query" in subject.pages;
  const link = row =>
    opens
      ? h("a", { href: address({ page: "query", q: row.id }) }, clip(row.label, 90))
      : clip(row.label, 90);
  const holder = h(
    "div",
    {},
    h("h2", {}, scored.unit === "query" ? "Queries" : "Tasks"),
    table({
      name: `${scored.unit === "query" ? "Queries" : "Tasks"} ${measure}`,
      rows: kept,
      limit: 25,
      sort: ["difference", true],
      columns: [
        { name: "measure", only: "copy", value: () => measure },
        {
          name: "query",
          text: true,
          left: true,
          key: row => row.label,
          value: row => row.id,
          cell: row => [
            h("bdi", {}, link(row)),
            row.text && h("span", { class: "soft opt" }, `  ${clip(row.id, 40)}`),
          ],
        },
        { name: "system", only: "copy", value: () => state.a },
        { name: "baseline", only: "copy", value: () => state.b },
        { name: state.a, only: "show", rank: 3, key: row => row.x, cell: row => fixed(row.x) },
        { name: state.b, only: "show", rank: 3, key: row => row.y, cell: row => fixed(row.y) },
        { name: "value", only: "copy", value: row => float(row.x) },
        { name: "baseline_value", only: "copy", value: row => float(row.y) },
        {
          name: "difference",
          value: row => float(row.difference),
          cell: row =>
            h(
              "span",
              { class: row.sign === "won" ? "up" : row.sign === "lost" ? "down" : "soft" },
              signed(row.difference),
            ),
        },
      ],
      caption: `${measure} of each ${scored.unit}. Copies have the columns of the command's CSV.`,
    }),
  );
  holder.append(
    h(
      "div",
      { class: "out" },
      h("span", {}, "All systems and measures"),
      quiet("Save CSV", () => saveAll(subject, about, against), { "aria-label": "Save all scores as CSV" }),
    ),
  );
  return holder;
}

/** Write the table that `judged compare --per-query --format csv` writes, or `judged score`, from the scores of this file. */
async function saveAll(subject, about, against) {
  const parts = [];
  if (against) {
    parts.push("measure,query,system,baseline,value,baseline_value,difference\n");
    for (const { name } of subject.scored.measures)
      for (const system of subject.pages.queries.order) {
        if (system === state.b) continue;
        const first = await column(subject, name, system),
          second = await column(subject, name, state.b),
          difference = differences(first, second);
        parts.push(
          writeCsv(
            about.id
              .map((id, i) => [
                name,
                id,
                system,
                state.b,
                float(first[i]),
                float(second[i]),
                float(difference[i]),
              ])
              .filter(row => row[4] && row[5]),
          ),
        );
      }
  } else {
    parts.push("system,query,measure,value\n");
    for (const system of subject.scored.systems)
      for (const { name } of subject.scored.measures) {
        const values = await column(subject, name, system);
        parts.push(writeCsv(about.id.map((id, i) => [system, id, name, float(values[i])])));
      }
  }
  saveFile(parts, "text/csv", "queries.csv");
}

/** A single system: its values, the lowest first. */
function drawValues(page, subject, about, values, measure) {
  const rows = about.id
    .map((id, i) => ({
      id,
      text: about.text?.[i],
      label: about.text?.[i] || id,
      value: values[i],
    }))
    .filter(({ value }) => known(value));
  const opens = "query" in subject.pages;
  page.append(
    ...headline(
      subject,
      `${measure} of ${plural(rows.length, subject.scored.unit)}`,
      "One system, so nothing to compare: the lowest values come first.",
    ),
  );
  const details = h(
    "details",
    { class: "note", "data-plot": "distribution", open: true },
    h("summary", {}, "Distribution of values"),
  );
  page.append(
    head.figures ? details : "",
    table({
      name: `Queries ${measure}`,
      rows,
      limit: 40,
      sort: [measure, false],
      columns: [
        {
          name: "query",
          text: true,
          left: true,
          key: row => row.label,
          value: row => row.id,
          cell: row => [
            opens
              ? h("a", { href: address({ page: "query", q: row.id }) }, clip(row.label, 90))
              : clip(row.label, 90),
            row.text && h("span", { class: "soft opt" }, `  ${clip(row.id, 40)}`),
          ],
        },
        { name: measure, value: row => float(row.value) },
      ],
    }),
  );
  page.append(
    h(
      "div",
      { class: "out" },
      quiet("Save CSV of all measures", () => saveAll(subject, about, null)),
    ),
  );
  drawDistribution(subject, measure, details);
}
