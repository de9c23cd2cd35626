/* One query: ranked lists side by side, grades, moves between lists, and what each document adds to the measure. */

let stepQuery = null;

definePage("query", "mab", async (page, subject) => {
  const { scored } = subject,
    about = await block(subject, "queries", "queries"),
    measure = state.m,
    data = subject.pages.query;
  const single = scored.systems.length === 1;
  const A = await column(subject, measure, state.a),
    B = single ? A : await column(subject, measure, state.b);
  const difference = single ? Array.from(A) : differences(A, B);
  const walk = about.id
    .map((_, i) => i)
    .filter(i => known(difference[i]))
    .sort((x, y) => difference[y] - difference[x]);
  let at = about.id.indexOf(state.q);
  if (at < 0) at = walk[0] ?? 0;
  state.q = about.id[at];
  const place = walk.indexOf(at);
  stepQuery = by => go({ q: about.id[walk[(place + by + walk.length) % walk.length]] });
  const others = (state.s || "")
    .split(",")
    .filter(Boolean)
    .map(i => scored.systems[+i])
    .filter(name => name && name !== state.a && name !== state.b);
  const names = single ? [state.a] : [state.b, state.a, ...others].slice(0, 4);
  const values = Object.fromEntries(
    await Promise.all(names.map(async name => [name, (await column(subject, measure, name))[at]])),
  );
  const lists = data.why
    ? null
    : (await block(subject, "query", `lists:${Math.floor(at / data.chunk)}`))[at % data.chunk];
  const text = about.text?.[at];

  page.append(
    ...headline(subject, text ? `“${clip(text, 160)}”` : ["Query ", named(about.id[at])], [
      text ? ["Query ", named(about.id[at]), ". "] : "",
      lists ? `${plural(lists.rel, "relevant document")} among ${count(lists.jud)} judged. ` : "",
      `${measure}: `,
      names.map((name, k) => [k ? ", " : "", named(name), " ", h("strong", {}, fixed(values[name]))]),
      ".",
      !single && place >= 0
        ? ` The difference, ${signed(difference[at])}, is the ${place ? `${ordinal(place + 1)} ` : ""}largest of ${count(walk.length)}.`
        : "",
    ]),
  );
  page.append(querySteps(scored, names));
  if (!lists)
    return page.append(h("p", { class: "note" }, `Ranked lists are not in this file: ${data.why}.`));
  page.append(drawLists(subject, lists, names, values, measure), listKey(data, lists, measure));
  page.append(
    h(
      "p",
      { class: "note" },
      `This file keeps the first ${data.depth} documents of each list, in the order of the protocol.`,
      data.left ? ` ${capital(data.left)}.` : "",
      data.adds.length < scored.measures.length
        ? ` What documents add is kept for ${data.adds.join(", ") || "no measure"}.`
        : "",
    ),
  );
  page.append(listTable(lists, names, subject, measure));
});

function querySteps(scored, names) {
  const rest = scored.systems.filter(name => !names.includes(name));
  const more = name => go({ s: [...names.slice(2), name].map(one => scored.systems.indexOf(one)).join(",") });
  return h(
    "div",
    { class: "steps" },
    quiet(["← Previous", h("span", { class: "opt" }, " (k)")], () => stepQuery(-1)),
    quiet(["Next", h("span", { class: "opt" }, " (j)"), " →"], () => stepQuery(1)),
    rest.length > 0 &&
      names.length > 1 &&
      names.length < 4 &&
      h(
        "select",
        { class: "quiet", "aria-label": "Add a system", onchange: event => more(event.target.value) },
        h("option", { value: "" }, "+ Add a system"),
        rest.map(name => h("option", { value: name }, clip(name, 60))),
      ),
    names.length > 2 && quiet("Only two", () => go({ s: "" })),
  );
}

function drawLists(subject, lists, names, values, measure) {
  const { systems } = subject.scored,
    row = lists.t ? 46 : 30;
  const adds =
    lists.a && subject.pages.query.adds.includes(measure)
      ? lists.a[subject.pages.query.adds.indexOf(measure)]
      : null;
  const grid = h("div", { class: "lists", tabindex: "0", role: "region", "aria-label": "Ranked lists" });
  grid.style.setProperty("--row", `${row}px`);
  grid.style.setProperty(
    "--columns",
    names.map((_, k) => `${k ? "minmax(40px,.22fr) " : ""}minmax(190px,1fr)`).join(" "),
  );
  if (!lists.t) grid.style.maxWidth = `${430 * names.length}px`;
  const light = d =>
    grid
      .querySelectorAll("[data-d]")
      .forEach(node => node.classList.toggle("hot", node.dataset.d === String(d)));
  names.forEach((name, k) => {
    const at = systems.indexOf(name),
      list = lists.l[at],
      before = k ? lists.l[systems.indexOf(names[k - 1])] : null;
    if (before) grid.append(drawMoves(before, list, lists, row));
    grid.append(
      h(
        "section",
        { "aria-label": clip(name, 60) },
        h(
          "h2",
          { class: names.length === 1 ? "" : name === state.a ? "up" : name === state.b ? "down" : "" },
          named(name),
        ),
        h(
          "p",
          { class: "sub" },
          `${measure} ${fixed(values[name])} · first ${list.length} of ${count(lists.of[at])}`,
        ),
        h(
          "ol",
          {},
          list.length
            ? list.map((d, rank) =>
                listItem(
                  lists,
                  d,
                  rank,
                  before,
                  names[k - 1],
                  adds && adds[at][rank] / subject.pages.query.scale,
                  light,
                ),
              )
            : h("li", {}, h("span"), h("span"), "no results"),
        ),
      ),
    );
  });
  return grid;
}

function listItem(lists, d, rank, before, other, adds, light) {
  const from = before ? before.indexOf(d) : null,
    relevant = lists.g[d] > 0;
  const move =
    !before || from === rank
      ? ""
      : from < 0
        ? h("span", { title: `not among the first ${before.length} of ${clip(other, 60)}` }, "new")
        : h(
            "span",
            { class: relevant ? (from > rank ? "up" : "down") : "" },
            h("span", { "aria-hidden": "true" }, from > rank ? `↑${from - rank}` : `↓${rank - from}`),
            hidden(from > rank ? `up ${from - rank}` : `down ${rank - from}`),
          );
  return h(
    "li",
    { "data-d": d, onmouseenter: () => light(d), onmouseleave: () => light(null) },
    h("span", { class: "rank" }, rank + 1),
    grade(lists.g[d]),
    h(
      "span",
      { class: "doc", title: clip(lists.t?.[d] ? lists.t[d] : lists.d[d], 400) },
      h("bdi", {}, clip(lists.d[d], 200)),
      lists.t && h("small", {}, lists.t[d] || "–"),
    ),
    h(
      "span",
      { class: "move" },
      h("span", {}, move),
      known(adds) && h("span", { class: "adds" }, adds ? signed(adds, 3) : ""),
    ),
  );
}

/** Lines between two lists, of the relevant documents that both have. */
function drawMoves(before, list, lists, row) {
  const height = Math.max(before.length, list.length, 1) * row;
  const svg = h("svg", {
    class: "links",
    viewBox: `0 0 100 ${height}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  list.forEach((d, to) => {
    const from = before.indexOf(d);
    if (from < 0 || !(lists.g[d] > 0)) return;
    const [y0, y1] = [(from + 0.5) * row, (to + 0.5) * row];
    svg.append(
      h("path", {
        "data-d": d,
        class: from > to ? "up" : from < to ? "down" : "",
        "vector-effect": "non-scaling-stroke",
        d: `M0 ${y0} C50 ${y0} 50 ${y1} 100 ${y1}`,
      }),
    );
  });
  svg.style.height = `${height}px`;
  return svg;
}

function listKey(data, lists, measure) {
  const grades = [...new Set(lists.g.filter(known))].sort((x, y) => x - y);
  const unjudged = data.unjudged === "removed" ? "unjudged" : "unjudged, counts as not relevant";
  return h(
    "div",
    { class: "key" },
    lists.g.some(g => !known(g)) && h("span", {}, grade(null), unjudged),
    grades.map(g => h("span", {}, grade(g), g <= 0 ? "not relevant" : `grade ${g}`)),
    h("span", {}, "↑ ↓ places gained or lost from the list to its left; lines join relevant documents"),
    lists.a && data.adds.includes(measure) && h("span", {}, `+0.123 what the document adds to ${measure}`),
  );
}

function listTable(lists, names, subject, measure) {
  const at = subject.pages.query.adds.indexOf(measure),
    { systems } = subject.scored;
  const rows = names.flatMap(name =>
    lists.l[systems.indexOf(name)].map((d, rank) => ({
      name,
      d,
      rank,
      adds: at >= 0 ? lists.a[at][systems.indexOf(name)][rank] / subject.pages.query.scale : null,
    })),
  );
  return h(
    "details",
    { class: "note" },
    h("summary", {}, "As a table"),
    table({
      name: "Ranked lists",
      rows,
      columns: [
        { name: "system", text: true, left: true, value: row => row.name, cell: row => named(row.name) },
        { name: "rank", value: row => row.rank + 1 },
        {
          name: "document",
          text: true,
          left: true,
          value: row => lists.d[row.d],
          cell: row => clip(lists.d[row.d], 80),
        },
        {
          name: "grade",
          value: row => lists.g[row.d],
          cell: row => (known(lists.g[row.d]) ? lists.g[row.d] : "unjudged"),
        },
        ...(at >= 0 ? [{ name: "adds", value: row => float(row.adds) }] : []),
      ],
    }),
  );
}
