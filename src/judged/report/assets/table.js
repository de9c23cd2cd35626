/* Tables that fit, open, sort, grow, and are copied.

   A column: name; value(row), what is copied and sorted by (or key(row)); cell(row), what is shown;
   rank: 1 is always shown; where the table is too wide, columns of rank 4 go first, then 3, then 2, from the right;
   text: sorts upwards first; left: aligned left; only: "copy" (never shown) or "show" (never copied).
   Where a column may give way, or is only copied, a row opens to all of its numbers: nothing is out of reach. */

let tables = 0;

const cellText = (column, row) => inShort(column.value(row)) || "–";

/** All that is known of a row, name by name, for the line that opens below it. */
function allNumbers(columns, row) {
  const shown = columns.filter(column => column.value && column.name.trim());
  const pair = column =>
    h("div", {}, h("dt", {}, column.name), h("dd", {}, clip(cellText(column, row), 2000)));
  return h("dl", { class: "pairs" }, shown.map(pair));
}

function table({ name, columns, rows, sort, caption, limit = 60, rowClass, label, foot = [] }) {
  const id = `caption-${++tables}`;
  const shownColumns = columns.filter(column => column.only !== "copy");
  const copied = columns.filter(column => column.only !== "show");
  const opens = columns.some(column => column.rank > 1 || column.only === "copy");
  let [by, down] = sort ? [shownColumns.findIndex(column => column.name === sort[0]), sort[1]] : [-1, true];
  let shown = limit;
  const gone = new Set();
  const headRow = h("tr"),
    body = h("tbody"),
    footer = h("tfoot");
  const more = quiet(
    "",
    () => {
      shown += 240;
      fill();
    },
    { class: "quiet more" },
  );

  const key = column =>
    column.key ||
    (row => {
      const x = column.value(row);
      return x instanceof Float ? x.value : x;
    });
  const sorted = () => {
    if (by < 0) return rows;
    const of = key(shownColumns[by]),
      flip = down ? -1 : 1;
    return rows.slice().sort((x, y) => {
      const p = of(x),
        q = of(y);
      return !known(p) ? (known(q) ? 1 : 0) : !known(q) ? -1 : (p < q ? -1 : p > q ? 1 : 0) * flip;
    });
  };
  const sortBy = i => {
    down = by === i ? !down : !shownColumns[i].text;
    by = i;
    fill();
    headRow.children[i].querySelector("button").focus();
  };
  const headCell = (column, i) =>
    h(
      "th",
      {
        scope: "col",
        class: classes(column),
        title: column.title,
        "aria-sort": i === by ? (down ? "descending" : "ascending") : null,
      },
      column.head ||
        (column.value || column.key
          ? h("button", { type: "button", onclick: () => sortBy(i) }, clip(column.name, 40))
          : column.name || hidden("action")),
    );
  const bodyCell = row => (column, i) =>
    h(
      i === 0 ? "th" : "td",
      {
        scope: i === 0 ? "row" : null,
        class: classes(column, row),
        "data-name": i ? clip(column.name, 40) : null,
      },
      i === 0 && opens && opener(row, shownColumns.length),
      column.cell ? column.cell(row) : clip(cellText(column, row), 160),
    );
  const classes = (column, row) =>
    [
      column.left && "left",
      column.rank > 1 && "ranked",
      gone.has(column) && "gone",
      column.class,
      row && column.style?.(row),
    ]
      .filter(Boolean)
      .join(" ") || null;
  const opener = (row, width) => {
    const button = quiet("", () => toggle(), { class: "quiet opener", "aria-expanded": "false" });
    button.append(hidden("All numbers"));
    const toggle = () => {
      const line = button.closest("tr"),
        open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      if (open) line.nextElementSibling.remove();
      else line.after(h("tr", { class: "all" }, h("td", { colspan: width }, allNumbers(columns, row))));
    };
    return button;
  };

  function fill() {
    headRow.replaceChildren(...shownColumns.map(headCell));
    const all = sorted();
    body.replaceChildren(
      ...all.slice(0, shown).map(row => h("tr", { class: rowClass?.(row) }, shownColumns.map(bodyCell(row)))),
    );
    footer.replaceChildren(...foot.map(row => h("tr", {}, shownColumns.map(bodyCell(row)))));
    more.hidden = shown >= all.length;
    more.textContent = `Show ${count(Math.min(240, all.length - shown))} more of ${count(all.length - shown)}`;
  }
  fill();
  const cells = () => [
    copied.map(column => column.name),
    ...sorted().map(row => copied.map(column => (column.value ? column.value(row) : null))),
  ];
  const grid = h(
    "table",
    { "aria-describedby": caption ? id : null, class: opens ? "opens" : null },
    h("caption", { class: "hidden" }, name),
    h("thead", {}, headRow),
    body,
    foot.length > 0 && footer,
  );
  const box = h("div", { class: "fit", role: "region", "aria-label": label || name }, grid);
  fitColumns(box, grid, shownColumns, gone, fill);
  return h(
    "div",
    { class: "tabled" },
    box,
    more,
    caption && h("p", { class: "note", id }, caption),
    exportButtons(name, cells),
  );
}

const fitted = new Map();

/** Let columns go by their rank until the table fits its box, whenever the box changes or the page is printed. */
function fitColumns(box, grid, columns, gone, fill) {
  const leaving = columns
    .filter(column => column.rank > 1)
    .reverse()
    .sort((x, y) => y.rank - x.rank);
  if (!leaving.length) return;
  let last = 0;
  const fit = (width = box.clientWidth) => {
    if (!width || width === last) return;
    last = width;
    gone.clear();
    fill();
    for (const column of leaving) {
      if (grid.scrollWidth <= width) break;
      gone.add(column);
      fill();
    }
  };
  new ResizeObserver(() => fit()).observe(box);
  fitted.set(box, fit);
}

const PAPER = 690; // CSS pixels between the margins of A4
addEventListener("beforeprint", () => {
  for (const [box, fit] of fitted) box.isConnected ? fit(PAPER) : fitted.delete(box);
});
addEventListener("afterprint", () => {
  for (const fit of fitted.values()) fit();
});

/** Ranks for a table whose columns nobody ranked: the first and three more stay, the others give way from the end. */
const rankColumns = columns =>
  columns.map((column, i) => ({ ...column, rank: i < 4 ? 1 : i < 6 ? 2 : i < 9 ? 3 : 4 }));

/** A column of intervals on a common axis, as wide as there is room.
    of(row) is [mean, low, high], ends may be missing; reference is a value that every line is seen against. */
function intervalColumn({ rows, of, level, reference = null, style, signedAxis = false }) {
  const ends = rows.flatMap(row => of(row).map((x, i) => x ?? (i ? of(row)[0] : null))).filter(known);
  if (known(reference)) ends.push(reference);
  const { from, to, ticks } = axisTicks(Math.min(...ends), Math.max(...ends));
  const at = x => `${((100 * (x - from)) / (to - from)).toFixed(2)}%`;
  const line = (x, kind) => h("line", { class: kind, x1: at(x), x2: at(x), y1: -8, y2: 28 });
  const tick = x => (signedAxis && x > 0 ? "+" : "") + String(+x.toPrecision(6)).replace("-", "−");
  return {
    name: "interval",
    only: "show",
    class: "bar",
    style,
    head: [
      hidden(`${level} interval`),
      h(
        "svg",
        { "aria-hidden": "true", class: "ticks" },
        ticks.map(x => h("text", { x: at(x), y: 14 }, tick(x))),
      ),
    ],
    cell: row => {
      const [mean, low, high] = of(row);
      if (!known(mean)) return "–";
      const said = known(low) ? `${fixed(low)} to ${fixed(high)}` : fixed(mean);
      return h(
        "svg",
        { role: "img", "aria-label": said },
        ticks.map(x => line(x, "grid")),
        known(reference) && line(reference, "zero"),
        known(low) && h("line", { class: "ci", x1: at(low), x2: at(high), y1: 10, y2: 10 }),
        h("circle", { cx: at(mean), cy: 10, r: 3.75 }),
      );
    },
  };
}
