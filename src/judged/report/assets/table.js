/* Tables that sort, grow, and are copied.
   A column: name; value(row), what is copied and sorted by (or key(row)); cell(row), what is shown; text: sorts upwards first;
   left: aligned left; opt: not shown on narrow screens; only: "copy" (never shown) or "show" (never copied). */

let tables = 0;

function table({ name, columns, rows, sort, caption, limit = 60, rowClass, label, foot }) {
  const id = `caption-${++tables}`;
  const shownColumns = columns.filter(column => column.only !== "copy");
  const copied = columns.filter(column => column.only !== "show");
  let [by, down] = sort ? [shownColumns.findIndex(column => column.name === sort[0]), sort[1]] : [-1, true];
  let shown = limit;
  const headRow = h("tr"),
    body = h("tbody");
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
          ? h(
              "button",
              {
                type: "button",
                onclick: () => {
                  down = by === i ? !down : !column.text;
                  by = i;
                  fill();
                  headRow.children[i].querySelector("button").focus();
                },
              },
              clip(column.name, 40),
            )
          : column.name || hidden("action")),
    );
  const bodyCell = row => (column, i) =>
    h(
      i === 0 ? "th" : "td",
      { scope: i === 0 ? "row" : null, class: classes(column, row) },
      column.cell ? column.cell(row) : clip(inShort(column.value(row)) || "–", 160),
    );
  const classes = (column, row) =>
    [column.left && "left", column.opt && "opt", column.class, row && column.style?.(row)]
      .filter(Boolean)
      .join(" ") || null;

  function fill() {
    headRow.replaceChildren(...shownColumns.map(headCell));
    const all = sorted();
    body.replaceChildren(
      ...all.slice(0, shown).map(row => h("tr", { class: rowClass?.(row) }, shownColumns.map(bodyCell(row)))),
    );
    more.hidden = shown >= all.length;
    more.textContent = `Show ${count(Math.min(240, all.length - shown))} more of ${count(all.length - shown)}`;
  }
  fill();
  const cells = () => [
    copied.map(column => column.name),
    ...sorted().map(row => copied.map(column => (column.value ? column.value(row) : null))),
  ];
  return h(
    "div",
    { class: "tabled" },
    h(
      "div",
      { class: "wide", tabindex: "0", role: "region", "aria-label": label || name },
      h(
        "table",
        { "aria-describedby": caption ? id : null },
        h("caption", { class: "hidden" }, name),
        h("thead", {}, headRow),
        body,
        foot,
      ),
    ),
    more,
    caption && h("p", { class: "note", id }, caption),
    exportButtons(name, cells),
  );
}
