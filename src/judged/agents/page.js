/* Agentic search: gain and efficiency by iteration, new and duplicate results, where redundancy comes from, cost, one session. */

/** What gain is set against: its word, the size of the unit, and its place in the rows of sessions. */
const SPENT = {
  tokens: { word: "tokens", per: "1,000 tokens", size: 1000, at: 2 },
  seconds: { word: "seconds", per: "second", size: 1, at: 3 },
  cost: { word: "money", per: "unit of money", size: 1, at: 4 },
};
const amount = x => (known(x) ? x.toLocaleString("en-GB", { maximumSignificantDigits: 3 }) : "–");

definePage("sessions", "", async (page, subject) => {
  const data = subject.pages.sessions;
  page.append(...headline(subject, ...sessionsAnswer(data)));
  const measures = [...new Set(data.curves.map(curve => curve.measure))];
  if (measures.length)
    page.append(
      h(
        "div",
        { class: "even" },
        measures.map(measure => iterationCurve(data, measure)),
      ),
    );
  page.append(h("h2", {}, "New, good and duplicate results by iteration"), iterationStacks(data));
  if (data.redundancy) page.append(...redundancy(data));
  if (data.use?.length) page.append(...useTable(data));
  const units = Object.keys(data.cost);
  if (units.length)
    page.append(
      h("div", { class: "even" }, await Promise.all(units.map(unit => costChart(subject, data, unit)))),
      gainTable(data),
    );
  page.append(h("h2", {}, "Systems"), systemTable(subject, data));
  if (Object.keys(data.stops).length)
    page.append(h("h2", {}, "Had the agents stopped earlier"), stopTable(data));
  if (data.alone.length) page.append(h("h2", {}, "Good results in common"), ...overlapTables(data));
  page.append(notes(subject) || "");
  await oneSession(page, subject, data);
});

/** The title and the paragraph below it. */
function sessionsAnswer(data) {
  const { systems } = data,
    name = data.labelled && data.means["CG@last"] ? "CG@last" : data.measures[0].name;
  const direction = data.measures.find(m => m.name === name),
    way = direction?.better ? direction.better : 0;
  const order = systems
    .map((system, i) => [system, data.means[name][i]])
    .filter(([, mean]) => known(mean))
    .sort((x, y) => way * (y[1] - x[1]));
  const total = plural(
    data.sessions.reduce((x, y) => x + y, 0),
    "session",
  );
  if (!data.labelled)
    return [
      `${total} without gains: what was found, and how often again.`,
      "No result has a gain, so only counts and repeats mean something.",
    ];
  const [top, mean] = order[0] || [systems[0], null];
  const row = data.contrasts.find(one => one.measure === name && one.system === top);
  if (systems.length === 1)
    return [
      [named(top), ` gathers a good gain of ${fixed(mean, 2)} in a session.`],
      `${name} over ${total}.`,
    ];
  if (!row)
    return [
      [named(top), " gathers the most good material: ", `${name} ${fixed(mean, 2)}.`],
      `${total} of ${systems.length} systems. No difference was tested; name a baseline to compare them on the same tasks.`,
    ];
  const sure = known(row.p_corrected) && row.p_corrected < 0.05;
  return [
    [
      named(top),
      ` gathers the most good material, ${signed(row.difference, 2)} over `,
      named(row.baseline),
      sure ? "." : ": too little for these tasks to tell.",
    ],
    [
      `On ${plural(row.queries, "shared task")}: ${name} differs by `,
      h("strong", {}, signed(row.difference)),
      known(row.low) ? ` [${signed(row.low)}, ${signed(row.high)}]` : "",
      `, corrected ${sayP(row.p_corrected)}; ${row.wins} won, ${row.ties} tied, ${row.losses} lost.`,
    ],
  ];
}

const CURVE_WORDS = {
  CG: "good gain so far",
  SRE: "share of results new and good",
  SRR: "share of results seen before",
};

function iterationCurve(data, measure) {
  const own = data.curves.filter(curve => curve.measure === measure),
    words = CURVE_WORDS[measure];
  const banded =
    own.length <= 2 ? own.map(curve => curve.system) : [own[0].system, own[own.length - 1].system];
  const rows = own.flatMap(({ system, points }) =>
    points.map(([iteration, running, value, low, high]) => ({
      system: clip(system, 40),
      iteration,
      running,
      value,
      low,
      high,
      band: banded.includes(system),
    })),
  );
  const spread = rows.some(row => known(row.low)),
    drawn = spread ? rows : rows.map(row => ({ ...row, low: row.value, high: row.value }));
  const longest = Math.max(1, ...rows.map(row => row.iteration)),
    step = Math.ceil(longest / 15);
  return h(
    "div",
    {},
    h("h2", {}, words ? `${measure}: ${words}` : measure),
    chart({
      kind: "iterations",
      rows: drawn,
      name: `${measure} by iteration`,
      label: `${measure} by iteration, a line for each system; the values are in its copies`,
      words: {
        y: measure,
        systems: own.map(curve => clip(curve.system, 40)),
        ticks: Array.from({ length: longest }, (_, i) => i + 1).filter(i => (i - 1) % step === 0),
      },
      tips: row =>
        row.system &&
        row.iteration && {
          system: row.system,
          iteration: row.iteration,
          [measure]: fixed(row.value),
          interval: spread && known(row.low) ? `${fixed(row.low)} … ${fixed(row.high)}` : "–",
          "still searching": plural(row.running, "session"),
        },
      caption: `Mean over sessions${spread ? `; bands are 95 % intervals${own.length > 2 ? ` of ${banded.map(name => clip(name, 30)).join(" and ")}` : ""}` : ""}. A session that has ended keeps its value.`,
    }),
    h(
      "details",
      { class: "note" },
      h("summary", {}, "Values"),
      table({
        name: `${measure} by iteration`,
        rows,
        limit: 30,
        columns: [
          { name: "system", text: true, left: true, value: row => row.system },
          { name: "iteration", value: row => row.iteration },
          { name: "sessions", value: row => row.running },
          { name: measure, value: row => float(row.value) },
          { name: "low", rank: 3, value: row => float(row.low) },
          { name: "high", rank: 3, value: row => float(row.high) },
        ],
      }),
    ),
  );
}

function iterationStacks(data) {
  const { a, b, rest } = head.palette;
  const kinds = data.labelled
    ? [
        ["new, good", "good", a],
        ["new, other", "other", rest],
        ["duplicate", "duplicates", b],
      ]
    : [
        ["new", "other", a],
        ["duplicate", "duplicates", b],
      ];
  const rows = data.systems.flatMap(system =>
    data.counts[system].flatMap(one =>
      kinds.map(([kind, field], order) => ({
        system: clip(system, 40),
        iteration: one.iteration,
        kind,
        count: one[field],
        order,
      })),
    ),
  );
  const flat = data.systems.flatMap(system => data.counts[system].map(one => ({ system, ...one })));
  return h(
    "div",
    {},
    chart({
      kind: "stacks",
      rows,
      columns: innerWidth > 760 ? Math.min(data.systems.length, 3) : 1,
      words: {
        kinds: kinds.map(([kind]) => kind),
        colours: kinds.map(([, , [light]]) => light),
        x: "iteration",
        y: "results",
      },
      name: "New and duplicate results",
      label: "Bars of new, good and duplicate results by iteration; the table has the numbers",
      tips: row => row.kind && { system: row.system, iteration: row.iteration, [row.kind]: row.count },
      caption: "All sessions of a system together.",
    }),
    h(
      "details",
      { class: "note" },
      h("summary", {}, "Values"),
      table({
        name: "Results by iteration",
        rows: flat,
        limit: 30,
        columns: [
          {
            name: "system",
            text: true,
            left: true,
            value: row => row.system,
            cell: row => named(row.system),
          },
          ...["iteration", "running", "searches", "results", "good", "other", "duplicates"].map(field => ({
            name: field,
            value: row => row[field],
            cell: row => count(row[field]),
          })),
        ],
      }),
    ),
  );
}

function redundancy(data) {
  const { words, systems } = data.redundancy,
    kinds = Object.keys(words);
  const rows = data.systems.map(system => ({ system, ...systems[system] }));
  if (!rows.some(row => row.all))
    return [
      h("h2", {}, "Where redundancy comes from"),
      h("p", { class: "note" }, "No result is a duplicate."),
    ];
  return [
    h("h2", {}, "Where redundancy comes from"),
    table({
      name: "Redundancy",
      rows,
      columns: [
        { name: "system", text: true, left: true, value: row => row.system, cell: row => named(row.system) },
        { name: "duplicates", value: row => row.all, cell: row => count(row.all) },
        ...["id", "URL", "text"].map(field => ({
          name: `by ${field}`,
          value: row => row.copies[field],
          cell: row => count(row.copies[field]),
        })),
        ...kinds.map(kind => ({
          name: words[kind],
          value: row => row.counts[kind],
          cell: row => [
            count(row.counts[kind]),
            row.all ? h("span", { class: "soft" }, ` ${percent(row.shares[kind], 0)}`) : "",
          ],
        })),
      ],
      caption:
        "Every duplicate is counted once by what shows that it is a copy (id, URL, text), and once under the first source that holds.",
    }),
  ];
}

function useTable(data) {
  const fields = [
    ["retrieved", "retrieved"],
    ["opened", "opened"],
    ["cited", "cited"],
    ["opened_others", "opened, not retrieved"],
    ["cited_others", "cited, not retrieved"],
    ...(data.labelled
      ? [
          ["good", "good"],
          ["good_opened", "good and opened"],
          ["good_cited", "good and cited"],
        ]
      : []),
  ];
  return [
    h("h2", {}, "What was opened and cited"),
    table({
      name: "Use",
      rows: data.use,
      columns: [
        { name: "system", text: true, left: true, value: row => row.system, cell: row => named(row.system) },
        ...fields.map(([field, name]) => ({
          name,
          value: row => row[field],
          cell: row => count(row[field]),
        })),
      ],
      caption: "Of the distinct results that each session retrieved.",
    }),
  ];
}

async function costChart(subject, data, unit) {
  const costs = await block(subject, "sessions", "costs"),
    { at, word } = SPENT[unit];
  const ones = data.systems.flatMap(system =>
    costs[system]
      .filter(row => known(row[at]))
      .map(row => ({ system: clip(system, 40), session: row[0], gain: row[1], cost: row[at], one: true })),
  );
  const means = data.cost[unit];
  return h(
    "div",
    {},
    panel(`Gain against ${word}`, {
      kind: "cost",
      rows: [...ones, ...means.map(row => ({ ...row, system: clip(row.system, 40), one: false }))],
      words: { x: `${word} of a session`, y: "good gain", systems: data.systems.map(name => clip(name, 40)) },
      name: `Gain against ${word}`,
      label: `Good gain against ${word}: small points are sessions, large ones the means of systems`,
      tips: row =>
        row.system && {
          system: row.system,
          ...(row.one
            ? { session: row.session }
            : {
                "mean of": plural(
                  costs[data.systems.find(name => clip(name, 40) === row.system)].length,
                  "session",
                ),
              }),
          gain: fixed(row.gain, 2),
          [word]: amount(row.cost),
        },
      caption: [
        "Small points are sessions, large ones means. Pareto-optimal: ",
        listed(means.filter(row => row.pareto_optimal).map(row => row.system)),
        ".",
      ],
    }),
  );
}

/** Gain for each unit of what was spent, and what was spent for each unit of gain. */
function gainTable(data) {
  const units = Object.keys(data.cost);
  const rows = data.systems
    .map(name => ({
      name,
      ...Object.fromEntries(units.map(unit => [unit, data.cost[unit].find(one => one.system === name)])),
    }))
    .filter(row => units.some(unit => row[unit]));
  const rate = (row, unit) =>
    known(row[unit]?.gain_per_unit) ? SPENT[unit].size * row[unit].gain_per_unit : null;
  return table({
    name: "Gain and cost",
    rows,
    columns: [
      { name: "system", text: true, left: true, value: row => row.name, cell: row => named(row.name) },
      ...units.flatMap(unit => [
        {
          name: `gain per ${SPENT[unit].per}`,
          value: row => rate(row, unit),
          cell: row => amount(rate(row, unit)),
        },
        {
          name: `${SPENT[unit].word} per gain of 1`,
          value: row => row[unit]?.units_per_gain ?? null,
          cell: row => amount(row[unit]?.units_per_gain),
        },
      ]),
    ],
    caption:
      "Of all sessions together whose cost is known, those without good gain included; GainPerKiloToken, GainPerSecond and GainPerCost are means over sessions.",
  });
}

function systemTable(subject, data) {
  const rows = data.systems.map((name, at) => ({ name, at }));
  return table({
    name: "Sessions",
    rows,
    columns: [
      { name: "system", text: true, left: true, value: row => row.name, cell: row => named(row.name) },
      { name: "sessions", value: row => data.sessions[row.at], cell: row => count(data.sessions[row.at]) },
      ...data.measures.map(({ name }) => ({ name, value: row => float(data.means[name][row.at]) })),
    ],
    caption: [
      "Means over sessions. CG: gain of good results that were new; RG: the same for each iteration; SRE: share of results that were new and good; SRR: share seen before; N: iterations that searched. ",
      `A result is good from gain ${data.good}. Protocol: ${protocolText(subject)}.`,
    ],
  });
}

function stopTable(data) {
  const rows = Object.entries(data.stops).flatMap(([system, stops]) =>
    stops.map(stop => ({ system, ...stop })),
  );
  return table({
    name: "Stopping",
    rows,
    limit: 30,
    columns: [
      { name: "system", text: true, left: true, value: row => row.system, cell: row => named(row.system) },
      { name: "stop at", value: row => row.iteration },
      { name: "going on", value: row => row.running },
      { name: "CG", value: row => float(row.gain) },
      { name: "gain lost", value: row => float(row.lost), cell: row => percent(row.lost) },
      { name: "losing", rank: 3, value: row => row.losing },
      {
        name: "searches saved",
        value: row => float(row.searches_saved),
        cell: row => percent(row.searches_saved),
      },
      {
        name: "tokens saved",
        rank: 3,
        value: row => float(row.tokens_saved),
        cell: row => percent(row.tokens_saved),
      },
    ],
  });
}

function overlapTables(data) {
  const fields = names =>
    names.map(([field, name]) => ({ name, value: row => row[field], cell: row => count(row[field]) }));
  const name = field => ({
    name: field,
    text: true,
    left: true,
    value: row => row[field],
    cell: row => named(row[field]),
  });
  return [
    table({
      name: "Good results by system",
      rows: data.alone,
      columns: [
        name("system"),
        ...fields([
          ["found", "good results"],
          ["alone", "found by no other"],
          ["missed", "missed"],
        ]),
      ],
    }),
    data.overlaps.length &&
      table({
        name: "Good results in common",
        rows: data.overlaps,
        columns: [
          name("first"),
          name("second"),
          ...fields([
            ["tasks", "tasks"],
            ["only_first", "only first"],
            ["both", "both"],
            ["only_second", "only second"],
          ]),
          { name: "Jaccard", value: row => float(row.jaccard) },
        ],
      }),
  ].filter(Boolean);
}

async function oneSession(page, subject, data) {
  page.append(h("h2", {}, "One session"));
  if (data.why) return page.append(h("p", { class: "note" }, `Sessions are not in this file: ${data.why}.`));
  const lines = await block(subject, "sessions", "timelines");
  if (!lines.length) return undefined;
  const holder = h("div"),
    chosen = lines.find(line => line.id === state.id) || lines[0];
  const select = h(
    "select",
    {
      onchange: () => {
        note({ id: select.value });
        showTimeline(
          holder,
          lines.find(line => line.id === select.value),
          data.good,
        );
      },
    },
    lines.map(line =>
      h(
        "option",
        { value: line.id, selected: line === chosen },
        clip(`${line.system} · ${line.question || line.session}`, 80),
      ),
    ),
  );
  const step = by => {
    select.selectedIndex = (select.selectedIndex + by + lines.length) % lines.length;
    select.dispatchEvent(new Event("change"));
  };
  page.append(
    h(
      "form",
      { class: "filter", onsubmit: event => event.preventDefault() },
      h("label", {}, "Session ", select),
      quiet("← Previous", () => step(-1)),
      quiet("Next →", () => step(1)),
      h(
        "span",
        {},
        data.kept < data.total
          ? `${count(data.kept)} of ${count(data.total)} are in this file, those with the most duplicates first`
          : "those with the most duplicates first",
      ),
    ),
    holder,
  );
  requestAnimationFrame(() => showTimeline(holder, chosen, data.good));
  return undefined;
}

/** What a search asked and brought again. */
function repeats(search) {
  const asked = { repeated: "the same query again", near: "nearly the same query again" }[search.a];
  const brought = !search.new
    ? "nothing new"
    : search.again
      ? `${count(search.new)} new, ${count(search.again)} again`
      : null;
  return [asked, brought]
    .filter(Boolean)
    .map(text => ` · ${text}`)
    .join("");
}

/** The searches of a session from top to bottom; arcs lead from duplicates to the iteration that first found them. */
function showTimeline(holder, line, good) {
  const searches = line.searches.map((search, number) => ({ ...search, number }));
  const iterations = [...new Set(searches.map(search => search.i))];
  const arcs = new Map();
  const item = (result, i) => {
    if (!result.new && result.f !== i) arcs.set(`${result.f}:${i}`, [result.f, i]);
    const what = result.new
      ? known(result.g)
        ? result.g >= good
          ? "new and good"
          : "new"
        : "new, unlabelled"
      : "";
    const used = result.u.length ? h("span", { class: "soft" }, ` ${result.u.join(" and ")} `) : null;
    return h(
      "li",
      { class: "hit" },
      grade(result.g),
      h("bdi", { class: "what", title: result.n }, clip(result.n, 120), used),
      h(
        "span",
        { class: result.new ? "what soft" : "what dup", title: result.y },
        result.new
          ? `${what}${result.s ? ` · ${result.s}` : ""}`
          : `↩ duplicate, first in iteration ${result.f}`,
      ),
    );
  };
  const list = h(
    "ol",
    { class: "session" },
    iterations.map(i =>
      h(
        "li",
        { "data-i": i },
        h("span", { class: "n" }, hidden("iteration "), i),
        h(
          "div",
          {},
          searches
            .filter(search => search.i === i)
            .map(search => [
              h(
                "p",
                {},
                search.q === null ? "searched" : ["searched “", h("bdi", {}, clip(search.q, 200)), "”"],
                search.t && h("span", { class: "soft" }, ` with ${clip(search.t, 40)}`),
                h("span", { class: search.new ? "soft" : "again" }, repeats(search)),
              ),
              search.r.length
                ? h(
                    "ul",
                    {},
                    search.r.map(result => item(result, i)),
                  )
                : h("p", { class: "soft" }, "no results"),
              search.left > 0 &&
                h("p", { class: "soft" }, `${count(search.left)} more results are not in this file`),
            ]),
        ),
      ),
    ),
  );
  holder.replaceChildren(
    h("p", {}, h("bdi", {}, line.question || `Session ${line.session}`)),
    h(
      "p",
      { class: "note" },
      `${clip(line.system, 60)}, task ${clip(line.task, 80)}: ${plural(line.iterations, "iteration")}, ${plural(line.duplicates, "duplicate")}.`,
    ),
    list,
  );
  drawRail(list, line, arcs, good);
}

function drawRail(list, line, arcs, good) {
  const at = new Map([...list.children].map(node => [+node.dataset.i, node.offsetTop + 19]));
  const fine = new Set(
    line.searches
      .filter(search => search.r.some(result => result.new && result.g >= good))
      .map(search => search.i),
  );
  const places = [...at.values()],
    narrow = list.clientWidth < 700,
    x = narrow ? 20 : 58,
    reach = narrow ? 16 : 50;
  const bend = (from, to) => Math.min(reach, 14 + 0.16 * Math.abs(to - from));
  list.prepend(
    h(
      "svg",
      { class: "rail", "aria-hidden": "true" },
      h("line", { x1: x, x2: x, y1: places[0], y2: places[places.length - 1] }),
      [...arcs.values()]
        .filter(([f, i]) => at.has(f) && at.has(i))
        .map(([f, i]) =>
          h("path", {
            d: `M${x} ${at.get(i)} C${x - bend(at.get(f), at.get(i)) * 1.3} ${at.get(i)} ${x - bend(at.get(f), at.get(i)) * 1.3} ${at.get(f)} ${x} ${at.get(f)}`,
          }),
        ),
      [...at].map(([i, y]) => h("circle", { class: fine.has(i) ? "good" : null, cx: x, cy: y, r: 5 })),
    ),
  );
}
