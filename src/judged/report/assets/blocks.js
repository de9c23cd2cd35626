/* What several pages show: warnings, marks, grades, blocks of a result, the words of a protocol. */

/**
 * The head of a page: the answer as its title, in one paragraph what the answer rests on, and in one line what puts all
 * numbers in doubt; everything else is a note after them.
 */
function headline(subject, title, lead = null) {
  const care = () =>
    h("p", { class: "care" }, h("strong", {}, "Read with care. "), subject.doubts.map(sentence));
  return [
    h("h1", {}, title),
    ...(lead ? [h("p", { class: "lead" }, lead)] : []),
    ...(subject.doubts.length ? [care()] : []),
  ];
}

/** Notes on the numbers: a line for each kind of note, none of them cut. */
function notes(subject) {
  if (!subject.warnings.length) return null;
  return h(
    "ul",
    { class: "notes" },
    subject.warnings.map(text => h("li", {}, h("bdi", {}, sentence(text)))),
  );
}
const sentence = text => capital(text) + (/[.!?]$/.test(text) ? " " : ". ");
const capital = text => (/^[a-z][a-z]+ /.test(text) ? text[0].toUpperCase() + text.slice(1) : text);

/** A mark that says by shape and word whether a system is better. */
function mark(way) {
  const [sign, word, kind] =
    way > 0 ? ["▲", "better", "up"] : way < 0 ? ["▼", "worse", "down"] : ["=", "not separable", "soft"];
  return h(
    "span",
    { class: `mark ${kind}` },
    h("span", { "aria-hidden": "true" }, sign),
    hidden(` ${word} `),
  );
}

function grade(value) {
  if (!known(value)) return h("span", { class: "grade gx" }, "?", hidden(" unjudged"));
  const shade = Math.max(0, Math.min(3, Math.round(value)));
  return h("span", { class: `grade g${shade}` }, hidden("grade "), String(value).replace("-", "−"));
}

function protocolText(subject, measure) {
  const records = subject.protocols.filter(
    ({ measures }) => !measures.length || !measure || measures.includes(measure),
  );
  return records.map(({ text }) => text).join("; ");
}

const facts = pairs =>
  h(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]),
  );

/** A block of a result that has no page of its own. */
function drawBlock(content) {
  if (content.kind === "sentence") return h("p", { class: "said" }, clip(content.text, 4000));
  if (content.kind === "notes")
    return h(
      "ul",
      { class: "notes" },
      content.notes.map(text => h("li", {}, clip(text, 2000))),
    );
  if (content.kind === "figure")
    return panel(clip(content.title, 200), {
      spec: content.spec,
      fit: content.fit,
      name: content.name,
      label: content.title,
      caption: content.note,
    });
  return [content.title && h("h2", {}, clip(content.title, 200)), blockTable(content)];
}

function blockTable({ title, columns, numeric, rows, best, left, foot }) {
  const isBest = new Set(best.map(([row, column]) => `${row}:${column}`));
  const text = cell => (Array.isArray(cell) ? cell[0] : cell);
  const numbered = rows.map((cells, at) => ({ cells, at }));
  const whole = foot ? numbered.splice(numbered.length - foot) : [];
  const cellOf =
    i =>
    ({ cells }) => {
      const cell = cells[i];
      return Array.isArray(cell)
        ? Number.isInteger(cell[1]) && !text(cell).includes(".")
          ? cell[1]
          : float(cell[1])
        : cell;
    };
  const ranked = rankColumns(
    columns.map((name, i) => ({
      name: name || " ",
      left: !numeric[i] || i === 0,
      text: !numeric[i],
      value: cellOf(i),
      cell: ({ cells }) => clip(text(cells[i]) || "–", 300),
      style: ({ at }) => (isBest.has(`${at}:${i}`) ? "best" : ""),
    })),
  );
  return table({
    name: title || "Table",
    rows: numbered,
    columns: ranked,
    foot: whole,
    caption: left ? `${count(left)} more rows are not in this file.` : null,
  });
}
