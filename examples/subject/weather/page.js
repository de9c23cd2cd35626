/* Forecasts: who is closest, and the error of everyone. */

definePage("weather", "", (page, subject) => {
  const { rows } = subject.pages.weather;
  page.append(
    h("h1", {}, "Forecasts"),
    table({
      name: "Errors",
      rows,
      columns: [
        { name: "source", left: true, text: true, value: row => row.source },
        { name: "error", value: row => float(row.error), cell: row => `${fixed(row.error, 1)} °C` },
      ],
      sort: ["error", false],
    }),
    notes(subject) || "",
  );
});
