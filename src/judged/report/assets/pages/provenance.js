/* Provenance: how the numbers were made, from which files, every note, and every table as data. */

definePage("provenance", "", (page, subject) => {
  const data = subject.pages.provenance,
    warned = data.notes.filter(one => one.severity === "warning").length;
  page.append(
    ...headline(
      subject,
      `${subject.title}: ${plural(data.inputs.length, "file")}, ${data.protocols.length === 1 ? "one protocol" : plural(data.protocols.length, "protocol")}, ${warned ? plural(warned, "warning") : "no warnings"}.`,
    ),
  );
  if (data.notes.length) page.append(h("h2", {}, "Notes"), noteTable(data.notes));
  page.append(
    h("h2", {}, "How it was made"),
    facts([
      ...data.protocols.map(({ text, measures }) => [
        measures.length ? `Protocol of ${clip(measures.join(", "), 80)}` : "Protocol",
        text,
      ]),
      ...Object.entries(data.settings).map(([key, value]) => [
        capital(`${key.replaceAll("_", " ")} `).trim(),
        clip(value, 400),
      ]),
      ["Scored by", `judged ${data.version}, ${data.machine}`],
      [
        "Written by",
        Object.entries(head.versions)
          .map(([name, version]) => `${name} ${version}`)
          .join(", "),
      ],
      ["Written", head.made],
      ["Command", head.command && h("code", { class: "mono" }, clip(head.command, 2000))],
    ]),
  );
  for (const { fingerprint, conventions, measures } of data.protocols)
    page.append(conventionTable(fingerprint, conventions, measures));
  if (data.inputs.length) page.append(h("h2", {}, "Files"), fileTable(data.inputs));
  page.append(h("h2", {}, "Data"), dataTable(subject, data));
});

function noteTable(notes) {
  const rows = notes.map(one => ({
    ...one,
    place: one.severity === "error" ? 0 : one.severity === "warning" ? 1 : 2,
  }));
  return table({
    name: "Notes",
    rows: rows.sort((x, y) => x.place - y.place),
    columns: [
      {
        name: "kind",
        text: true,
        left: true,
        value: row => row.severity,
        cell: row =>
          h(
            "span",
            { class: row.severity === "info" ? "soft" : "down" },
            row.severity === "info" ? "note" : row.severity,
          ),
      },
      {
        name: "message",
        text: true,
        left: true,
        class: "wrap",
        value: row => row.message,
        cell: row => h("bdi", {}, clip(row.message, 1000)),
      },
    ],
  });
}

function conventionTable(fingerprint, conventions, measures) {
  return h(
    "details",
    { class: "note" },
    h(
      "summary",
      {},
      `Every convention of the protocol${measures.length ? ` of ${clip(measures.join(", "), 60)}` : ""}, #${fingerprint}`,
    ),
    table({
      name: "Protocol",
      rows: Object.entries(conventions),
      columns: [
        { name: "convention", text: true, left: true, value: ([name]) => name },
        { name: "value", text: true, left: true, class: "wrap", value: ([, value]) => value },
      ],
    }),
  );
}

function fileTable(files) {
  return table({
    name: "Files",
    rows: files,
    columns: [
      { name: "role", text: true, left: true, value: file => file.role },
      {
        name: "system",
        text: true,
        left: true,
        value: file => file.system,
        cell: file => (file.system ? named(file.system) : ""),
      },
      {
        name: "file",
        text: true,
        left: true,
        class: "wrap",
        value: file => file.path,
        cell: file => h("bdi", {}, clip(file.path, 300)),
      },
      {
        name: "sha-256",
        text: true,
        left: true,
        rank: 3,
        value: file => file.sha256,
        cell: file =>
          file.sha256
            ? h("span", { class: "mono", title: file.sha256 }, `${file.sha256.slice(0, 16)}…`)
            : "–",
      },
    ],
    caption: "Copies have the whole hash.",
  });
}

function dataTable(subject, data) {
  const rows = Object.entries(data.tables).map(([name, about]) => ({ name, ...about }));
  const save = async ({ name }) =>
    saveFile([await tableCsv(subject, name)], "text/csv", `${fileName(name)}.csv`);
  const left = data.left.filter(
    name => !("queries" in subject.pages && (name === "queries" || name === "scores")),
  );
  return table({
    name: "Tables",
    rows,
    columns: [
      { name: "table", text: true, left: true, value: row => row.name },
      { name: "rows", value: row => row.rows, cell: row => count(row.rows) },
      {
        name: "columns",
        text: true,
        left: true,
        rank: 3,
        class: "wrap",
        value: row => row.columns.join(" "),
        cell: row => clip(row.columns.join(", "), 200),
      },
      {
        name: "",
        only: "show",
        cell: row =>
          quiet("Save CSV", () => save(row), { "aria-label": `Save the table ${row.name} as CSV` }),
      },
    ],
    caption: [
      "Every number in full, the same bytes as the command's CSV. ",
      "queries" in subject.pages && "The values of every query are saved from the page Per query. ",
      left.length ? `Too large for this file: ${left.join(", ")}.` : "",
    ],
  });
}

async function tableCsv(subject, name) {
  const columns = await block(subject, "provenance", `table:${name}`);
  const rows = (columns[0] ? columns[0].values : []).map((_, i) =>
    columns.map(one =>
      one.float && typeof one.values[i] === "number" ? float(one.values[i]) : one.values[i],
    ),
  );
  return writeCsv([columns.map(one => one.name), ...rows]);
}
