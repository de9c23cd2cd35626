/* Leaderboard: the answer as a sentence, the doubts, then systems × measures with intervals on a common axis. */

definePage("leaderboard", "mb", async (page, subject) => {
  const data = subject.pages.leaderboard,
    { scored } = subject,
    measure = state.m;
  const against = await contrasts(subject, state.b);
  page.append(...headline(subject, ...leaderAnswer(subject, data, measure)));
  const rows = ranked(subject, measure).map(name => leaderRow(subject, data, against, measure, name));
  const shown = rows.filter(row => !hiddenSystems().includes(row.at));
  if (scored.systems.length > 8 || shown.length < rows.length) page.append(systemFilter(rows, shown));
  const needle = (state.text || "").trim().toLowerCase();
  const kept = shown.filter(row => !needle || row.name.toLowerCase().includes(needle));
  page.append(
    table({
      name: `Leaderboard ${measure}`,
      label: "Leaderboard",
      rows: kept,
      limit: 100,
      columns: leaderColumns(subject, data, against, measure, kept),
      sort: better(subject, measure) ? [measure, better(subject, measure) > 0] : null,
      rowClass: row => (scored.compared && row.name === state.b ? "is-base" : null),
      caption: leaderCaption(subject, data, against, measure),
    }),
  );
  page.append(notes(subject) || "");
  const tied = data.ties?.[measure] ? rows.filter(row => row.ties) : [];
  if (tied.length)
    page.append(
      h(
        "p",
        { class: "note" },
        "Means over all orders of tied results: ",
        tied
          .slice(0, 10)
          .map((row, i) => [i ? "; " : "", named(row.name), ` ${fixed(row.ties[0])}–${fixed(row.ties[1])}`]),
        tied.length > 10 ? `; and ${tied.length - 10} more` : "",
        ".",
      ),
    );
  for (const part of data.errors || []) page.append(...[drawBlock(part)].flat(3).filter(Boolean));
  page.append(leaderFigure(subject, kept, measure));
  if (data.trade_off)
    page.append(
      ...panel("Accuracy against latency", {
        spec: data.trade_off,
        name: "Trade-off",
        label: "Accuracy against latency; the table has the numbers",
        caption:
          "Filled: Pareto-optimal, that is, no other system is at least as good on everything and better on something.",
      }),
    );
});

/** The title and the paragraph below it. */
function leaderAnswer(subject, data, measure) {
  const { scored } = subject,
    order = ranked(subject, measure),
    unit = plural(scored.queries, scored.unit);
  const answer = data.answers?.[measure];
  const [mean, low, high] = data.means[measure][scored.systems.indexOf(order[0])];
  const way = better(subject, measure);
  if (answer) return [answerTitle(answer, measure, unit, way), clip(answer.text, 2000)];
  const interval = known(low) ? `, ${percent(scored.level, 0)} interval ${fixed(low)} to ${fixed(high)}` : "";
  if (order.length === 1)
    return [[named(order[0]), `: ${measure} ${fixed(mean)}`], `Over ${unit}${interval}.`];
  const what = way
    ? [
        named(order[0]),
        ` has the ${way > 0 ? "highest" : "lowest"} ${measure} of ${order.length} systems, ${fixed(mean)}.`,
      ]
    : [`${measure} of ${order.length} systems.`];
  return [
    what,
    [
      `Over ${unit}${interval}. Nothing was tested here: `,
      h("code", {}, "judged compare"),
      " says which differences these queries can show.",
    ],
  ];
}

function answerTitle({ best, open, beaten, against }, measure, unit, way) {
  const most = way > 0 ? "highest" : "lowest",
    one = best.length === 1;
  if (against.length) return againstTitle(best, against, measure, most);
  if (!open.length && !beaten.length) return `All systems have the same ${measure}.`;
  if (!open.length)
    return [
      listed(best),
      ` ${one ? "is" : "are"} best in ${measure}, ahead of ${beaten.length === 1 ? "" : "every other system"}`,
      beaten.length === 1 && named(beaten[0]),
      ".",
    ];
  if (!beaten.length)
    return [
      listed(best),
      ` ${one ? "has" : "share"} the ${most} ${measure}, but ${unit} cannot separate ${one ? "it" : "them"} from ${open.length === 1 ? "" : "any other system"}`,
      open.length === 1 && named(open[0]),
      ".",
    ];
  return [
    listed(best),
    ` ${one ? "is" : "are"} best in ${measure}, but ${unit} cannot separate ${one ? "it" : "them"} from `,
    open.length > 4 ? `${open.length} others` : listed(open),
    ".",
  ];
}

// only pairs with a baseline were tested, so the title claims nothing about the others
function againstTitle(best, against, measure, most) {
  const says = against.map(({ baseline, better: up, worse }, i) => [
    i ? ", " : "; ",
    `${up} significantly better and ${worse} worse than `,
    named(baseline),
  ]);
  return [listed(best), ` ${best.length === 1 ? "has" : "share"} the ${most} ${measure}`, says, "."];
}

const hiddenSystems = () => (state.hide || "").split(",").filter(Boolean).map(Number);

function systemFilter(rows, shown) {
  const search = h("input", { type: "search", placeholder: "name", value: state.text || "" });
  search.addEventListener("input", () => {
    clearTimeout(search.timer);
    search.timer = setTimeout(() => {
      note({ text: search.value });
      render(false, "input[type=search]");
    }, 180);
  });
  return h(
    "form",
    { class: "filter", onsubmit: event => event.preventDefault() },
    h("label", {}, "Find system ", search),
    shown.length < rows.length &&
      quiet(`Show ${plural(rows.length - shown.length, "hidden system")}`, () => go({ hide: "" })),
  );
}

function leaderRow(subject, data, against, measure, name) {
  const at = subject.scored.systems.indexOf(name);
  const [mean, low, high] = data.means[measure][at];
  const vs = against && name !== state.b ? against.rows[measure][at] : null;
  return {
    name,
    at,
    mean,
    low,
    high,
    vs,
    way: verdict(vs, subject.scored.alpha, better(subject, measure)),
    ties: data.ties?.[measure]?.[at],
  };
}

function leaderColumns(subject, data, against, measure, rows) {
  const { scored } = subject,
    level = percent(scored.level, 0);
  const best = name => {
    const way = better(subject, name);
    const values = data.means[name].map(([mean]) => mean).filter(known);
    return way && values.length > 1 ? (way > 0 ? Math.max(...values) : Math.min(...values)) : null;
  };
  const bestHere = best(measure);
  const of = field => row => (row.vs ? row.vs[FIELD[field]] : null);
  const columns = [
    {
      name: "system",
      text: true,
      left: true,
      value: row => row.name,
      cell: row => [
        named(row.name),
        scored.compared && row.name === state.b && h("span", { class: "soft base" }, " baseline"),
      ],
    },
    {
      name: measure,
      value: row => float(row.mean),
      cell: row => [
        fixed(row.mean),
        row.ties &&
          h(
            "span",
            { class: "soft", title: "the order of tied results matters" },
            "~",
            hidden(" ties matter"),
          ),
        row.mean === bestHere && hidden(" best"),
      ],
      style: row => (row.mean === bestHere ? "best" : ""),
    },
    { name: "low", only: "copy", value: row => float(row.low) },
    { name: "high", only: "copy", value: row => float(row.high) },
    intervalColumn({
      rows,
      level,
      of: row => [row.mean, row.low, row.high],
      reference: scored.compared ? rows.find(row => row.name === state.b)?.mean : null,
      style: row =>
        row.name === state.b && scored.compared ? "isb" : row.way > 0 ? "sig" : row.way < 0 ? "low" : "",
    }),
  ];
  if (against) columns.push(...differenceColumns(of, level));
  for (const other of scored.measures)
    if (other.name !== measure)
      columns.push(otherMeasure(subject, data, against, other.name, best(other.name)));
  if (data.judged?.[measure]) {
    const { at, shares } = data.judged[measure];
    columns.push({
      name: `judged@${at}`,
      rank: 4,
      title: `share of the first ${at} results that are judged`,
      value: row => float(shares[row.at]),
      cell: row => percent(shares[row.at]),
    });
  }
  if (data.latency) columns.push(...latencyColumns(data.latency));
  if (rows.length > 2)
    columns.push({
      name: "",
      only: "show",
      class: "act",
      cell: row =>
        quiet("×", () => go({ hide: [...hiddenSystems(), row.at].join(",") }), {
          "aria-label": `Hide ${clip(row.name, 60)}`,
          title: "Hide",
        }),
    });
  return columns;
}

function differenceColumns(of, level) {
  const wins = row =>
    known(of("wins")(row)) ? `${of("wins")(row)}/${of("ties")(row)}/${of("losses")(row)}` : null;
  return [
    {
      name: `vs ${clip(state.b, 24)}`,
      title: "mean difference from the baseline",
      value: row => float(of("difference")(row)),
      cell: row => (row.vs ? [mark(row.way), signed(row.vs[FIELD.difference])] : ""),
    },
    {
      name: `${level} interval`,
      only: "show",
      rank: 4,
      cell: row =>
        row.vs
          ? known(of("low")(row))
            ? h("span", { class: "soft" }, `${signed(of("low")(row), 3)} … ${signed(of("high")(row), 3)}`)
            : h("span", { class: "soft" }, clip(row.vs[FIELD.undefined] || "–", 30))
          : "",
    },
    { name: "difference low", only: "copy", value: row => float(of("low")(row)) },
    { name: "difference high", only: "copy", value: row => float(of("high")(row)) },
    {
      name: "p, corrected",
      rank: 2,
      value: row => float(of("p_corrected")(row)),
      cell: row => (row.vs ? formatP(of("p_corrected")(row)) : ""),
    },
    { name: "p", only: "copy", value: row => float(of("p")(row)) },
    {
      name: "effect g",
      rank: 4,
      title: "difference in standard deviations, with Hedges' correction",
      value: row => float(of("hedges")(row)),
      cell: row => (row.vs ? signed(of("hedges")(row), 2) : ""),
    },
    {
      name: "won/tied/lost",
      rank: 4,
      key: row => (row.vs ? of("wins")(row) - of("losses")(row) : null),
      value: wins,
      cell: row => wins(row) || "",
    },
  ];
}

function otherMeasure(subject, data, against, name, best) {
  const value = row => data.means[name][row.at][0];
  const way = row =>
    against && row.name !== state.b
      ? verdict(against.rows[name][row.at], subject.scored.alpha, better(subject, name))
      : null;
  return {
    name,
    rank: 3,
    value: row => float(value(row)),
    style: row => (value(row) === best ? "best" : ""),
    cell: row => [
      way(row) !== null && mark(way(row)),
      fixed(value(row), 3),
      value(row) === best && hidden(" best"),
    ],
  };
}

function latencyColumns(latency) {
  const of = (row, field) => (latency[row.at] ? latency[row.at][field] : null);
  const column = (name, field, rank) => ({
    name,
    rank,
    value: row => float(of(row, field)),
    cell: row => [
      known(of(row, field)) ? fixed(of(row, field), 1) : "–",
      field === "mean_ms" &&
        of(row, "pareto_optimal") &&
        h(
          "span",
          {
            class: "soft",
            title:
              "Pareto-optimal: no other system is at least as good on everything and better on something",
          },
          " ★",
          hidden(" Pareto-optimal"),
        ),
    ],
  });
  return [
    column("mean ms", "mean_ms", 3),
    column("p50 ms", "p50_ms", 4),
    column("p95 ms", "p95_ms", 3),
    column("p99 ms", "p99_ms", 4),
  ];
}

function leaderCaption(subject, data, against, measure) {
  const { scored } = subject,
    level = percent(scored.level, 0);
  const says = [
    `${plural(scored.queries, scored.unit)}; dots are means${data.means[measure].some(([, low]) => known(low)) ? `, lines ${level} intervals` : ""}${against ? ", the dashed line is the baseline" : ""}; bold: best of its column. `,
  ];
  if (against)
    says.push(
      `▲ better and ▼ worse than `,
      named(state.b),
      `, = not separable, at corrected p < ${scored.alpha}. Test: ${data.method}; this table: ${against.family}, ${data.intervals} of differences. `,
    );
  if (data.left)
    says.push(`${plural(data.left, "system")} cannot be chosen as baseline, to keep this file small. `);
  if (data.latency === null) says.push("No timings were given, so there is no latency. ");
  if (data.latency) says.push("★ Pareto-optimal in accuracy and latency. ");
  const protocol = protocolText(subject, measure);
  return protocol ? [...says, `Protocol: ${protocol}.`] : says;
}

function leaderFigure(subject, rows, measure) {
  if (!head.figures) return "";
  const order = rows.map(row => row.name);
  const figure = chart({
    kind: "intervals",
    later: true,
    name: `Intervals ${measure}`,
    label: `Mean ${measure} of each system with its interval; the table has the numbers`,
    words: { title: `${measure}, mean with ${percent(subject.scored.level, 0)} interval` },
    rows: rows.map(row => ({
      system: clip(row.name, 60),
      mean: row.mean,
      low: row.low,
      high: row.high,
      role: row.name === order[0] ? "a" : subject.scored.compared && row.name === state.b ? "b" : "rest",
    })),
  });
  const details = h("details", { class: "note" }, h("summary", {}, "As a figure"), figure);
  details.addEventListener("toggle", () => details.open && details.querySelector(".chart")?.redraw());
  return details;
}
