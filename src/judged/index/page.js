/* A benchmark of vector indexes: the answer with its certainty, what each engine trades recall for, the chosen settings,
   and every setting on demand. An engine has one colour and one shape everywhere. */

definePage("index", "", async (page, subject) => {
  const data = subject.pages.index;
  page.append(...headline(subject, data.title, data.lead || null));
  if (!data.points.length) return void page.append(notes(subject) || "");
  const engines = new Map(
    data.engines.map((engine, i) => [engine.name, { ...engine, shape: SHAPES[i % SHAPES.length] }]),
  );
  const chosen = data.points.filter(point => point.chosen >= 0).sort((x, y) => x.chosen - y.chosen);
  page.append(h("p", { class: "note" }, data.facts.join(" · ")), tradeOff(data, engines));
  if (chosen.length)
    page.append(
      h("h2", {}, `The cheapest setting of each engine at recall ≥ ${data.target}`),
      indexTable(data, engines, chosen, true),
    );
  page.append(
    h(
      "details",
      { class: "note" },
      h("summary", {}, `All ${plural(data.points.length, "setting")}`),
      h(
        "ul",
        { class: "notes" },
        data.engines
          .filter(({ always }) => always)
          .map(({ name, version, always }) => h("li", {}, `${name} ${version}: always ${always}`)),
      ),
      indexTable(data, engines, data.points, false),
    ),
  );
  for (const part of await block(subject, "index", "blocks"))
    page.append(...[drawBlock(part)].flat(3).filter(Boolean));
  page.append(notes(subject) || "");
});

const SHAPES = ["circle", "triangle", "square", "diamond", "down", "cross", "bar"];

/** A mark of an engine; hollow where another of its settings is better in both. */
function engineMark({ hue, shape }, x, y, r, filled = true) {
  const paths = {
    triangle: `M${x} ${y - r}L${x + r} ${y + r}L${x - r} ${y + r}Z`,
    square: `M${x - r} ${y - r}H${x + r}V${y + r}H${x - r}Z`,
    diamond: `M${x} ${y - 1.2 * r}L${x + 1.2 * r} ${y}L${x} ${y + 1.2 * r}L${x - 1.2 * r} ${y}Z`,
    down: `M${x} ${y + r}L${x + r} ${y - r}L${x - r} ${y - r}Z`,
    cross: `M${x - r} ${y - r / 3}H${x - r / 3}V${y - r}H${x + r / 3}V${y - r / 3}H${x + r}V${y + r / 3}H${x + r / 3}V${y + r}H${x - r / 3}V${y + r / 3}H${x - r}Z`,
    bar: `M${x - r} ${y - r / 2}H${x + r}V${y + r / 2}H${x - r}Z`,
  };
  const colour = {
    fill: filled ? `var(--${hue})` : "var(--ground)",
    stroke: `var(--${hue})`,
    "stroke-width": 1.5,
  };
  return shape === "circle"
    ? h("circle", { cx: x, cy: y, r, ...colour })
    : h("path", { d: paths[shape], ...colour });
}

const engineName = (engine, setting) => [
  h(
    "svg",
    { width: 15, height: 12, viewBox: "0 0 15 12", "aria-hidden": "true" },
    engineMark(engine, 6, 6, 4.5),
  ),
  h("strong", {}, named(engine.name)),
  setting && ` ${setting}`,
];

/** A number with three significant digits. */
const brief = x => (known(x) ? x.toLocaleString("en-GB", { maximumSignificantDigits: 3 }) : "–");

/** The unit in which times of a column are between 1 and 1,000, and its factor. */
function timeUnit(points, name) {
  const values = points.map(point => point[name]?.[0]).filter(known);
  return Math.max(...values, 0) < 1 ? ["µs", 1000] : ["ms", 1];
}

function indexTable(data, engines, points, isAnswer) {
  const quantity = (name, title, factor, rank) => ({
    name: title,
    rank,
    value: point => (point[name] ? float(point[name][0] * factor) : null),
    cell: point => (point[name] ? brief(point[name][0] * factor) : "–"),
    title: "the mean over rounds; open a row for its interval",
    style: point => (isAnswer && data.best[name] === point.chosen ? "best" : ""),
  });
  const range = (name, title, factor) => ({
    name: `${title}, interval`,
    only: "copy",
    value: point => {
      const [, low, high] = point[name] || [];
      return known(low) || known(high)
        ? `${brief(low * factor)} to ${known(high) ? brief(high * factor) : "–"}`
        : null;
    },
  });
  const [p99, p99Factor] = timeUnit(points, "p99"),
    [cpu, cpuFactor] = timeUnit(points, "cpu");
  const quantities = [
    ["qps", "queries/s", 1, 1],
    ["p99", `p99 ${p99}`, p99Factor, 2],
    ["cpu", `CPU ${cpu}`, cpuFactor, 3],
    ["build", "build s", 1, 3],
    ["memory", "memory MiB", 1 / 2 ** 20, 4],
  ];
  const words = { shown: "yes", likely: "likely", "not shown": "no" };
  const columns = [
    {
      name: "engine and setting",
      left: true,
      text: true,
      value: point => point.name,
      cell: point => engineName(engines.get(point.engine), point.setting),
    },
    { name: data.recall, value: point => float(point.recall), cell: point => fixed(point.recall, 3) },
    ...(isAnswer
      ? [
          intervalColumn({
            rows: points,
            of: point => [point.recall, point.low, point.high],
            level: "95 %",
            reference: data.target,
          }),
        ]
      : []),
    {
      name: `reaches ${data.target}`,
      left: true,
      text: true,
      rank: isAnswer ? 1 : 2,
      value: point => words[point.evidence],
    },
    ...quantities.map(([name, title, factor, rank]) => quantity(name, title, factor, rank)),
    ...quantities.map(([name, title, factor]) => range(name, title, factor)),
    ...Object.keys(points[0].measures)
      .slice(1)
      .map(name => ({ name, only: "copy", value: point => float(point.measures[name]) })),
    { name: "failed queries", only: "copy", value: point => point.failed },
    ...(isAnswer && data.ratios.some(Boolean)
      ? [
          {
            name: "costs",
            rank: 2,
            value: point =>
              point.chosen && data.ratios[point.chosen - 1] ? float(data.ratios[point.chosen - 1][0]) : null,
            cell: point => {
              const ratio = point.chosen ? data.ratios[point.chosen - 1] : null;
              return ratio
                ? `${ratio[0].toFixed(2)} [${ratio[1].toFixed(2)}, ${ratio[2].toFixed(2)}] ×`
                : "–";
            },
          },
        ]
      : []),
  ];
  return table({
    name: isAnswer ? "Cheapest settings" : "All settings",
    rows: points,
    columns,
    caption: isAnswer
      ? `“Yes”: the whole 95 % interval of recall is at or above ${data.target}; “likely”: only the recall itself is. Costs: ${data.by} of a query as a multiple of the first engine's, over rounds. Bold: its interval is apart from all others.`
      : null,
  });
}

/** Throughput against recall, which is stretched towards 1; redrawn as its width changes. */
function tradeOff(data, engines) {
  const holder = h("div", {
    role: "img",
    "aria-label": `Queries a second against recall: ${plural(data.points.length, "setting")} of ${plural(engines.size, "engine")}`,
  });
  let width = 0;
  const fit = () => {
    if (Math.abs(holder.clientWidth - width) <= 8) return;
    width = holder.clientWidth;
    holder.replaceChildren(drawTradeOff(data, engines, Math.max(320, width)));
  };
  new ResizeObserver(fit).observe(holder);
  return h(
    "div",
    {},
    holder,
    h(
      "p",
      { class: "note" },
      "Up and to the right is better. Filled marks and lines: settings that no other of the engine beats in both; hollow: beaten. Ring: the answer.",
    ),
  );
}

const RECALLS = [0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 1];
const stretch = recall => -Math.log10(Math.max(1 - recall, 0.0008));

function drawTradeOff(data, engines, width) {
  const narrow = width < 560,
    height = narrow ? 300 : 360,
    left = 64,
    right = width - (narrow ? 16 : 110),
    top = 26,
    bottom = height - 44;
  const drawn = data.points.filter(point => point.qps && point.qps[0] > 0);
  const rates = drawn.map(point => Math.log10(point.qps[0]));
  const [least, most] = [Math.min(...rates) - 0.08, Math.max(...rates) + 0.08];
  const lowest = stretch(Math.min(data.target, ...drawn.map(point => point.recall)) - 0.01);
  const x = recall => left + ((stretch(recall) - lowest) / (stretch(1) - lowest)) * (right - left);
  const y = rate => bottom - ((Math.log10(rate) - least) / (most - least || 1)) * (bottom - top);
  const text = (words, at) =>
    h("text", { "font-size": 12, fill: "var(--soft)", stroke: "none", ...at }, words);
  const grid = at => h("line", { stroke: "var(--line)", ...at });
  const steps = [1, 2, 5].flatMap(digit =>
    Array.from({ length: 9 }, (_, power) => digit * 10 ** (power - 1)),
  );
  const ticks = steps.filter(rate => Math.log10(rate) >= least && Math.log10(rate) <= most);
  let last = -Infinity;
  const across = RECALLS.filter(recall => {
    const fits = x(recall) >= left - 1 && (x(recall) - last > 42 || recall === 1);
    if (fits) last = x(recall);
    return fits;
  });
  const marks = [...engines.values()].map(engine => {
    const own = drawn
      .filter(point => point.engine === engine.name)
      .sort((p, q) => p.recall - q.recall || q.qps[0] - p.qps[0]);
    const front = own.filter(point => point.front);
    return [
      front.length > 1 &&
        h("path", {
          d: `M${front.map(point => `${x(point.recall)} ${y(point.qps[0])}`).join("L")}`,
          fill: "none",
          stroke: `var(--${engine.hue})`,
          "stroke-width": 1.75,
        }),
      own.map(point => {
        const node = engineMark(engine, x(point.recall), y(point.qps[0]), point.front ? 5 : 3.5, point.front);
        node.addEventListener("mousemove", event =>
          showTip(event, {
            [engine.name]: point.setting || "one setting",
            [data.recall]: fixed(point.recall, 4),
            "queries/s":
              point.qps.filter(known).length > 1
                ? `${brief(point.qps[0])} [${brief(point.qps[1])}, ${brief(point.qps[2])}]`
                : brief(point.qps[0]),
          }),
        );
        node.addEventListener("mouseout", event => showTip(event, null));
        return node;
      }),
    ];
  });
  const answer = drawn.find(point => point.chosen === 0);
  const names = [...engines.values()]
    .map(engine => {
      const end = drawn
        .filter(point => point.engine === engine.name)
        .sort((p, q) => q.recall - p.recall || q.qps[0] - p.qps[0])[0];
      return end && { engine, at: y(end.qps[0]) + 4 };
    })
    .filter(Boolean)
    .sort((p, q) => p.at - q.at);
  for (let i = 1; i < names.length; i++) names[i].at = Math.max(names[i].at, names[i - 1].at + 15);
  return h(
    "svg",
    { width: "100%", height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    ticks.map(rate => [
      grid({ x1: left, x2: right, y1: y(rate), y2: y(rate) }),
      text(brief(rate), { x: left - 8, y: y(rate) + 4, "text-anchor": "end" }),
    ]),
    across.map(recall => [
      grid({ x1: x(recall), x2: x(recall), y1: top, y2: bottom }),
      text(String(recall), { x: x(recall), y: bottom + 17, "text-anchor": "middle" }),
    ]),
    h("line", {
      x1: x(data.target),
      x2: x(data.target),
      y1: top - 6,
      y2: bottom,
      stroke: "var(--ink)",
      "stroke-dasharray": "3 3",
    }),
    text(`target ${data.target}`, {
      x: x(data.target) - 5,
      y: top - 2,
      "text-anchor": x(data.target) < left + 80 ? "start" : "end",
    }),
    text("queries/s, one at a time (log)", { x: 0, y: 11 }),
    text(`${data.recall}, ties by distance; stretched towards 1`, {
      x: right,
      y: bottom + 36,
      "text-anchor": "end",
    }),
    marks,
    answer &&
      h("circle", {
        cx: x(answer.recall),
        cy: y(answer.qps[0]),
        r: 10,
        fill: "none",
        stroke: `var(--${engines.get(answer.engine).hue})`,
        "stroke-width": 1.5,
      }),
    !narrow &&
      names.map(({ engine, at }) =>
        text(engine.name, { x: right + 14, y: at, fill: `var(--${engine.hue})` }),
      ),
    narrow &&
      names.map(({ engine }, i) =>
        text(engine.name, { x: left + 8, y: bottom - 8 - 15 * i, fill: `var(--${engine.hue})` }),
      ),
  );
}
