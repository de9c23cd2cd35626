/* Charts: a specification of the head (see charts.py) filled in with words and rows, drawn by Vega when it is on the page. */

const views = [];
const pending = [];

/** The drawing program; its hash is in the policy, so it may run although it is inserted late. */
const runtime = () =>
  once("runtime", async () => {
    document.head.append(h("script", {}, new TextDecoder().decode(await unpack("runtime"))));
    return window.vegaEmbed;
  });

const isDark = () => (state.t ? state.t === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
const PALETTE = Object.fromEntries(
  Object.entries(head.palette).map(([name, [light, dark]]) => [light, { name, light, dark }]),
);

/** A specification with every colour of the palette exchanged: for CSS variables, or for fixed colours. */
function recolour(spec, how) {
  if (Array.isArray(spec)) return spec.map(part => recolour(part, how));
  if (spec && typeof spec === "object")
    return Object.fromEntries(
      Object.entries(spec).map(([key, part]) => [key, key === "values" ? part : recolour(part, how)]),
    );
  return typeof spec === "string" && spec in PALETTE ? how(PALETTE[spec]) : spec;
}
const asVariables = colour => `var(--${colour.name})`;
const asFixed = dark => colour => (dark ? colour.dark : colour.light);

/** Fill in {words}: alone they may be any value, within text they are text. */
function fillIn(spec, words) {
  if (Array.isArray(spec)) return spec.map(part => fillIn(part, words));
  if (spec && typeof spec === "object")
    return Object.fromEntries(Object.entries(spec).map(([key, part]) => [key, fillIn(part, words)]));
  if (typeof spec !== "string") return spec;
  const alone = /^\{(\w+)\}$/.exec(spec);
  if (alone && alone[1] in words) return words[alone[1]];
  return spec.replace(/\{(\w+)\}/g, (all, word) => (word in words ? clip(String(words[word]), 60) : all));
}

/** Draw what is pending, one chart after the other with a pause between, so that keys and clicks are served. */
async function drawPending() {
  for (const draw of pending.splice(0)) {
    await new Promise(resume => setTimeout(resume));
    await draw();
  }
}

const CANVAS_FROM = 1600;
const OPTIONS = { ast: true, actions: false, defaultStyle: false, mode: "vega-lite", tooltip: false };

/** A heading and its figure; nothing in a file that was written without the drawing program. */
const panel = (title, figure) => (head.figures ? [h("h2", {}, title), chart(figure)] : []);

/** A figure, null without the drawing program. `kind` names a chart of the head and `rows` its marks, or `spec` is a whole specification.
    `tips(row)` gives the tooltip of a mark as it is pointed at, `click(row)` is called for a mark that is chosen. */
function chart({
  kind,
  spec,
  fit,
  rows = [],
  words = {},
  name,
  label,
  caption,
  tips,
  click,
  columns,
  later,
}) {
  if (!head.figures) return null;
  const holder = h("div", { class: "chart", role: "img", "aria-label": label, "aria-busy": "true" });
  if (!spec && !rows.length) return h("p", { class: "note" }, `${name}: there is nothing to draw.`);
  const many = rows.length > CANVAS_FROM;
  function make(width, how) {
    const sized = fit ? { width, autosize: { type: "fit-x", contains: "padding" } } : {};
    if (spec)
      return recolour(
        {
          ...spec,
          ...sized,
          $schema: undefined,
          config: { ...spec.config, background: null },
          title: undefined,
        },
        how,
      );
    const cell = columns
      ? { columns, cell: Math.max(120, Math.floor((width - 62 - 28 * (columns - 1)) / columns)) }
      : {};
    const made = recolour({ ...fillIn(head.charts[kind], { ...words, ...cell }), config: head.config }, how);
    if (made.height?.step)
      made.height =
        made.height.step * Math.max(1, new Set(rows.map(row => row.system || row.slice || row.measure)).size);
    return {
      ...made,
      data: { values: rows },
      ...(columns ? {} : { width, autosize: { type: "fit-x", contains: "padding" } }),
    };
  }
  async function draw() {
    const embed = await runtime();
    if (!holder.isConnected || !holder.clientWidth) return;
    const inside = h("div");
    const how = many ? asFixed(isDark()) : asVariables;
    const made = await embed(inside, make(holder.clientWidth, how), {
      ...OPTIONS,
      renderer: many ? "canvas" : "svg",
    });
    views.push(made);
    hideParts(inside);
    holder.replaceChildren(inside);
    holder.setAttribute("aria-busy", "false");
    if (holder.scrollWidth > holder.clientWidth) holder.tabIndex = 0; // so that keys can scroll it
    listen(made.view, tips, click);
    performance.mark("drawn");
    watchWidth(holder, draw);
  }
  if (!later) pending.push(draw);
  Object.assign(holder, { redraw: draw, many });
  const picture = async () => {
    const made = await (await runtime())(
      h("div"),
      {
        ...make(Math.max(640, holder.clientWidth), asFixed(false)),
        background: head.palette.ground[0],
        padding: 12,
      },
      { ...OPTIONS, renderer: "svg" },
    );
    const text = await made.view.toSVG();
    made.finalize();
    return text;
  };
  return h(
    "figure",
    {},
    holder,
    caption && h("figcaption", {}, caption),
    h(
      "div",
      { class: "out" },
      h("span", {}, "Figure"),
      quiet("SVG", async () => saveFile([await picture()], "image/svg+xml", `${fileName(name)}.svg`), {
        "aria-label": `Save ${name} as SVG`,
      }),
      quiet(
        "PNG",
        async () => saveFile([await toPng(await picture())], "image/png", `${fileName(name)}.png`),
        { "aria-label": `Save ${name} as PNG` },
      ),
    ),
  );
}

/** The figure is one image with a label; its parts would be read one by one. */
function hideParts(node) {
  node.querySelectorAll("[role],[aria-roledescription],[aria-label]").forEach(part => {
    for (const name of ["role", "aria-roledescription", "aria-label"]) part.removeAttribute(name);
  });
  node.setAttribute("aria-hidden", "true");
}

function listen(view, tips, click) {
  if (tips) {
    view.addEventListener("mousemove", (event, item) => showTip(event, item?.datum && tips(item.datum)));
    view.addEventListener("mouseout", event => showTip(event, null));
  }
  if (click) view.addEventListener("click", (_, item) => item?.datum && click(item.datum));
}

function watchWidth(holder, draw) {
  if (holder.watched) return;
  let width = holder.clientWidth,
    timer = 0;
  holder.watched = new ResizeObserver(() => {
    if (!holder.isConnected || Math.abs(holder.clientWidth - width) <= 8) return;
    width = holder.clientWidth;
    clearTimeout(timer);
    timer = setTimeout(draw, 120);
  });
  holder.watched.observe(holder);
}

async function toPng(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = h("canvas", { width: image.width * 2, height: image.height * 2 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise(done => canvas.toBlob(done, "image/png"));
}

function showTip(event, value) {
  const box = byId("tip");
  box.hidden = !value;
  if (!value) return;
  box.replaceChildren(
    h(
      "dl",
      {},
      Object.entries(value).map(([key, text]) => [
        h("dt", {}, clip(key, 60)),
        h("dd", {}, clip(String(text), 200)),
      ]),
    ),
  );
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
  box.style.top = `${event.clientY + height + 24 > innerHeight ? event.clientY - height - 10 : event.clientY + 14}px`;
}
