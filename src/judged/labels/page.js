/* Agreement: labels against human grades, as a matrix with its counts, and what each label is worth. */

definePage("agreement", "", async (page, subject) => {
  const data = subject.pages.agreement;
  const title = [
    named(data.labels),
    " and ",
    named(data.human),
    known(data.kappa) ? ` agree at κ ${fixed(data.kappa, 2)}.` : ": κ is undefined.",
  ];
  page.append(
    ...headline(subject, title, [
      `${plural(data.items, "result")} that both graded: `,
      h("strong", {}, percent(data.exact)),
      ` have the same grade, ${percent(data.within)} differ by at most 1, and labels are ${data.bias > 0 ? "lenient" : data.bias < 0 ? "strict" : "unbiased"} by ${fixed(Math.abs(data.bias), 2)} on average. `,
      `κ of good or not (from grade ${data.threshold}): ${known(data.kappa) ? fixed(data.kappa) : data.undefined}${data.interval ? ` [${fixed(data.interval[0])}, ${fixed(data.interval[1])}]` : ""}; with quadratic weights ${fixed(data.quadratic)}.`,
    ]),
  );
  page.append(
    h(
      "div",
      { class: "even" },
      h("div", {}, h("h2", {}, "Results by human grade and label"), confusion(data.confusion)),
      h("div", {}, h("h2", {}, "What each label is worth"), calibration(data)),
    ),
  );
  page.append(notes(subject) || "");
  const content = await block(subject, "agreement", "blocks");
  for (const part of content) page.append(...[drawBlock(part)].flat(3).filter(Boolean));
});

function confusion({ grades, counts, totals, shares }) {
  const shade = share => (share === 0 ? "" : share < 0.2 ? "k1" : share < 0.5 ? "k2" : "k3");
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix" },
    h(
      "table",
      { class: "confusion" },
      h("caption", { class: "hidden" }, "Results by human grade (row) and label (column)"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col", class: "left" }, "human \\ label"),
          grades.map(g => h("th", { scope: "col" }, g)),
          h("th", { scope: "col" }, "all"),
        ),
      ),
      h(
        "tbody",
        {},
        counts.map((row, i) =>
          h(
            "tr",
            {},
            h("th", { scope: "row", class: "left" }, grades[i]),
            row.map((n, j) =>
              h(
                "td",
                { class: `${shade(shares[i][j])}${i === j ? " same" : ""}` },
                count(n),
                h("small", {}, totals[i] ? ` ${percent(shares[i][j], 0)}` : ""),
              ),
            ),
            h("td", { class: "soft" }, count(totals[i])),
          ),
        ),
      ),
    ),
    h("p", { class: "note" }, "Shade and percentage: share of the row; outlined: the same grade."),
  );
}

function calibration(data) {
  const grades = data.confusion.grades,
    rows = data.calibration;
  return [
    chart({
      kind: "calibration",
      rows,
      name: "Calibration",
      label: "Mean human grade of each label, with its interval; the table has the numbers",
      words: { least: Math.min(...grades), most: Math.max(...grades), grades },
      tips: row =>
        known(row.label) && {
          label: row.label,
          "mean human grade": fixed(row.mean, 2),
          interval: known(row.low) ? `${fixed(row.low, 2)} … ${fixed(row.high, 2)}` : "–",
          results: count(row.results),
        },
      caption: `On the dashed line a label means what it says; lines are ${percent(data.level, 0)} intervals.`,
    }),
    table({
      name: "Calibration",
      rows,
      columns: [
        { name: "label", value: row => row.label },
        { name: "results", value: row => row.results, cell: row => count(row.results) },
        { name: "mean human grade", value: row => float(row.mean) },
        { name: "low", value: row => float(row.low) },
        { name: "high", value: row => float(row.high) },
      ],
    }),
  ];
}
