/* Answers: systems, where nuggets are lost, recall against words, and one question: every answer sentence by sentence. */

definePage("answers", "", async (page, result) => {
  const data = result.pages.answers,
    subject = { ...result, ...data.own };
  page.append(...headline(subject, ...answersTitle(data)));
  page.append(h("h2", {}, "Systems"), answerSystems(subject, data));
  if (data.upper.length) page.append(boundsNote(data));
  if (data.shares.length) page.append(...lossBars(data));
  const points = await block(subject, "answers", "points");
  if (points.length) page.append(recallAgainstWords(data, points));
  if (data.contrasts.length) page.append(h("h2", {}, "Paired differences"), ...answerContrasts(data));
  if (data.human.agreement.length) page.append(...humanSample(data.human));
  page.append(notes(subject) || "");
  await oneQuestion(page, subject, data, points);
});

const LOSS_KINDS = [
  ["retrieved_said", "a", "kept"],
  ["retrieved_unsaid", "b", "lost by the generator"],
  ["unretrieved_said", "d", "from the model's memory"],
  ["neither", "rest", "lost by retrieval"],
];
const SUPPORT_WORDS = {
  full: "supported",
  partial: "partly supported",
  none: "not supported",
  unlabelled: "unlabelled",
  uncited: "no citation",
};
const NUGGET_WORDS = { support: "said", partial_support: "partly said", not_support: "not said" };
const NUGGET_SIGNS = { support: "●", partial_support: "◐", not_support: "○" };

const meanOf = (data, measure, at) => data.means[measure][at];
const wayOf = (data, measure) => data.measures.find(({ name }) => name === measure).better || 1;

const wordsOf = data => data.measures.find(({ name }) => name === data.main).words;

/** The title and the paragraph below it. */
function answersTitle(data) {
  const { systems, main, total } = data,
    words = wordsOf(data);
  const order = systems
    .map((system, at) => [system, meanOf(data, main, at)])
    .filter(([, mean]) => known(mean))
    .sort((x, y) => wayOf(data, main) * (y[1] - x[1]));
  if (!order.length) return ["No system has labels to compare.", `${plural(total, "question")}.`];
  const [top, mean] = order[0],
    shares = data.shares.find(({ system }) => system === top);
  const retrieved = shares && shares.retrieved_said[0] + shares.retrieved_unsaid[0];
  const level = order.filter(([, other]) => other === mean).map(([system]) => system);
  const title =
    level.length > 1
      ? [listed(level), ` are level in ${words}, ${fixed(mean, 3)}.`]
      : [
          named(top),
          ` leads in ${words}, ${fixed(mean, 3)}`,
          shares ? `, and had retrieved ${percent(retrieved, 0)} of the nuggets.` : ".",
        ];
  if (systems.length === 1)
    return [
      [named(top), ` has ${words} ${fixed(mean, 3)} over ${plural(total, "question")}.`],
      shares
        ? `Better retrieval could add at most ${fixed(shares.neither[0], 3)}, better generation ${fixed(shares.retrieved_unsaid[0], 3)}.`
        : null,
    ];
  const rows = data.contrasts.filter(row => row.measure === main && known(row.difference));
  if (!rows.length) return [title, `${plural(total, "question")}. No difference was tested.`];
  const separated = rows.filter(row => known(row.p_corrected) && row.p_corrected < 0.05);
  return [
    title,
    `${plural(total, "question")}; ${separated.length} of ${plural(rows.length, "difference")} in ${words} ${separated.length === 1 ? "is" : "are"} separated (corrected p below 0.05).`,
  ];
}

function answerSystems(subject, data) {
  const rows = data.systems.map((name, at) => ({ name, at }));
  const line = row => [meanOf(data, data.main, row.at), ...data.intervals[data.main][row.at]];
  const column = ({ name, share }, i) => ({
    name,
    rank: i < 3 || name === "Words" ? 1 : 2,
    value: row => float(meanOf(data, name, row.at)),
    cell: row => fixed(meanOf(data, name, row.at), share ? 3 : 1),
  });
  const [first, ...others] = [
    ...data.measures.filter(({ name }) => name === data.main),
    ...data.measures.filter(({ name }) => name !== data.main),
  ];
  return table({
    name: "Answers",
    rows,
    sort: [first.name, wayOf(data, data.main) > 0],
    columns: [
      { name: "system", text: true, left: true, value: row => row.name, cell: row => named(row.name) },
      column(first, 0),
      intervalColumn({ rows, of: line, level: percent(data.level, 0) }),
      ...others.map((measure, i) => column(measure, i + 1)),
    ],
    caption: `Means over ${plural(data.total, "question")}, with ${percent(data.level, 0)} intervals of ${data.main}. Protocol: ${protocolText(subject)}.`,
  });
}

const boundsNote = data =>
  h(
    "details",
    { class: "note" },
    h("summary", {}, "If every unlabelled pair were full support"),
    table({
      name: "Bounds",
      rows: data.upper,
      columns: [
        { name: "system", text: true, left: true, value: row => row.system, cell: row => named(row.system) },
        { name: "measure", text: true, left: true, value: row => row.measure },
        {
          name: "as none",
          value: row => float(meanOf(data, row.measure, data.systems.indexOf(row.system))),
        },
        { name: "as full", value: row => float(row.value) },
      ],
    }),
  );

/** A bar of four shares for each system; words and signs say what colours say. */
function lossBars(data) {
  const bar = row => {
    let x = 0;
    const said = LOSS_KINDS.map(([kind]) => `${data.words[kind]} ${percent(row[kind][0], 0)}`).join(", ");
    const parts = LOSS_KINDS.flatMap(([kind, colour]) => {
      const share = row[kind][0],
        from = x;
      x += share;
      return [
        h("rect", {
          class: `fill-${colour}`,
          x: percent(from, 3).replace(" ", ""),
          width: percent(share, 3).replace(" ", ""),
          height: 26,
        }),
        share > 0.07 &&
          h(
            "text",
            { class: `on-${colour}`, x: percent(from + 0.008, 3).replace(" ", ""), y: 18 },
            percent(share, 0),
          ),
      ];
    });
    return h("svg", { class: "shares", role: "img", "aria-label": said }, parts);
  };
  return [
    h("h2", {}, "Where nuggets are lost"),
    h("p", { class: "note" }, "Every nugget is in a retrieved document or not, and in the answer or not."),
    h(
      "div",
      { class: "lossbars" },
      data.shares.map(row => [h("span", {}, named(row.system)), bar(row)]),
    ),
    h(
      "ul",
      { class: "keys" },
      LOSS_KINDS.map(([kind, colour, words]) =>
        h(
          "li",
          {},
          h("span", { class: `key fill-${colour}` }),
          h("strong", {}, data.words[kind]),
          `: ${words}`,
        ),
      ),
    ),
    h(
      "details",
      { class: "note" },
      h("summary", {}, "Values"),
      table({
        name: "Losses",
        rows: data.shares,
        columns: [
          {
            name: "system",
            text: true,
            left: true,
            value: row => row.system,
            cell: row => named(row.system),
          },
          ...LOSS_KINDS.map(([kind]) => ({
            name: data.words[kind],
            value: row => float(row[kind][0]),
            cell: row => [
              fixed(row[kind][0], 3),
              known(row[kind][1]) &&
                h("span", { class: "soft" }, ` ${fixed(row[kind][1], 3)} to ${fixed(row[kind][2], 3)}`),
            ],
          })),
          { name: "said of retrieved", value: row => float(row.use), cell: row => fixed(row.use, 3) },
        ],
        caption:
          "Shares of the nuggets of a question, averaged over questions. “Neither” is the most that better retrieval could add to recall, “retrieved, not said” the most that better generation could.",
      }),
    ),
  ];
}

function recallAgainstWords(data, points) {
  const at = name => data.systems.indexOf(name);
  const means = data.systems.map(name => ({
    system: clip(name, 40),
    cost: meanOf(data, "Words", at(name)),
    gain: meanOf(data, data.main, at(name)),
    one: false,
  }));
  return h(
    "div",
    {},
    panel(`${capital(wordsOf(data))} against length`, {
      kind: "cost",
      rows: [
        ...points.map(row => ({
          system: clip(row.system, 40),
          query: row.query,
          cost: row.words,
          gain: row.value,
          one: true,
        })),
        ...means,
      ],
      words: { x: "words of an answer", y: data.main, systems: data.systems.map(name => clip(name, 40)) },
      name: `${data.main} against words`,
      label: `${data.main} against words: small points are answers, large ones the means of systems`,
      tips: row =>
        row.system && {
          system: row.system,
          ...(row.one ? { question: clip(row.query, 60) } : {}),
          [data.main]: fixed(row.gain, 3),
          words: count(Math.round(row.cost)),
        },
      caption: "Small points are answers, large ones means. Longer answers say more: is it more than that?",
    }),
  );
}

/** The differences in the main measure, and those in others on request. */
function answerContrasts(data) {
  const main = data.contrasts.filter(row => row.measure === data.main),
    others = data.contrasts.filter(row => row.measure !== data.main);
  if (!main.length) return [contrastTable(data.contrasts)];
  return [
    contrastTable(main, `On the same questions, in ${wordsOf(data)}`),
    others.length
      ? h(
          "details",
          { class: "note" },
          h("summary", {}, "Differences in other measures"),
          contrastTable(others),
        )
      : "",
  ];
}

function contrastTable(rows, caption = "") {
  return table({
    name: "Differences",
    rows,
    limit: 30,
    columns: [
      { name: "measure", text: true, left: true, value: row => row.measure },
      { name: "system", text: true, left: true, value: row => row.system, cell: row => named(row.system) },
      {
        name: "against",
        text: true,
        left: true,
        value: row => row.baseline,
        cell: row => named(row.baseline),
      },
      { name: "difference", value: row => float(row.difference), cell: row => signed(row.difference, 3) },
      {
        name: "interval",
        value: row => (known(row.low) ? `${signed(row.low, 3)} to ${signed(row.high, 3)}` : "undefined"),
        rank: 2,
      },
      { name: "p", value: row => float(row.p_corrected), cell: row => formatP(row.p_corrected) },
    ],
    caption: `${caption || "On the same questions"}; p is corrected for the comparisons of a measure.`,
  });
}

/** Agreement of labels with those of people, and means corrected by them. */
function humanSample({ agreement, means }) {
  return [
    h("h2", {}, "Labels against people"),
    table({
      name: "Agreement",
      rows: agreement,
      columns: [
        { name: "labels", text: true, left: true, value: row => row.labels },
        { name: "pairs", value: row => float(row.pairs), cell: row => count(row.pairs) },
        { name: "same", value: row => float(row.same), cell: row => percent(row.same, 0) },
        { name: "κ", value: row => float(row.kappa), cell: row => fixed(row.kappa, 3) },
        {
          name: "quadratic κ",
          value: row => float(row.quadratic_kappa),
          cell: row => fixed(row.quadratic_kappa, 3),
          rank: 2,
        },
        { name: "ordinal α", value: row => float(row.alpha), cell: row => fixed(row.alpha, 3), rank: 2 },
      ],
    }),
    means.length
      ? table({
          name: "Corrected",
          rows: means,
          limit: 30,
          columns: [
            {
              name: "system",
              text: true,
              left: true,
              value: row => row.system,
              cell: row => named(row.system),
            },
            { name: "measure", text: true, left: true, value: row => row.measure },
            { name: "by labels", value: row => float(row.labels), cell: row => fixed(row.labels, 3) },
            { name: "corrected", value: row => float(row.corrected), cell: row => fixed(row.corrected, 3) },
            {
              name: "interval",
              value: row =>
                known(row.low) ? `${fixed(row.low, 3)} to ${fixed(row.high, 3)}` : row.reason || "–",
              rank: 2,
            },
            {
              name: "questions by people",
              value: row => float(row.queries),
              cell: row => count(row.queries),
              rank: 2,
            },
          ],
          caption:
            "Corrected by the labels of people on a sample of the questions, which must be a random one.",
        })
      : "",
  ];
}

async function oneQuestion(page, subject, data, points) {
  page.append(h("h2", {}, "One question"));
  if (!data.queries.length)
    return page.append(h("p", { class: "note" }, "Answers are not in this file, only their values."));
  const [answers, nuggets, passages] = await Promise.all(
    ["answers", "nuggets", "passages"].map(name => block(subject, "answers", name)),
  );
  const holder = h("div", { class: "answers" }),
    ids = data.queries.map(({ id }) => id),
    chosen = ids.includes(state.id) ? state.id : ids[0];
  const show = id =>
    holder.replaceChildren(
      ...((nuggets[id] || []).length ? [nuggetTable(data, nuggets[id])] : []),
      ...(answers[id] || []).map(answer =>
        oneAnswer(answer, passages, answerFacts(data, points, id, answer)),
      ),
    );
  const select = h(
    "select",
    {
      onchange: () => {
        note({ id: select.value });
        show(select.value);
      },
    },
    data.queries.map(({ id, text }) =>
      h("option", { value: id, selected: id === chosen }, clip(text ? `${id} · ${text}` : id, 80)),
    ),
  );
  const step = by => {
    select.selectedIndex = (select.selectedIndex + by + ids.length) % ids.length;
    select.dispatchEvent(new Event("change"));
  };
  page.append(
    h(
      "form",
      { class: "filter", onsubmit: event => event.preventDefault() },
      h("label", {}, "Question ", select),
      quiet("← Previous", () => step(-1)),
      quiet("Next →", () => step(1)),
      data.kept < data.total && h("span", {}, `${count(data.kept)} of ${count(data.total)} are in this file`),
    ),
    h(
      "ul",
      { class: "keys" },
      Object.entries(SUPPORT_WORDS).map(([support, words]) =>
        h("li", {}, h("span", { class: `key sent-${support}` }), words),
      ),
    ),
    holder,
  );
  show(chosen);
  return undefined;
}

function nuggetTable(data, rows) {
  const systems = data.systems.filter(system => rows.some(row => system in row.labels));
  const label = (row, system) =>
    system in row.labels ? NUGGET_WORDS[row.labels[system]] || "unlabelled" : "no answer";
  return table({
    name: "Nuggets",
    rows,
    columns: [
      { name: "nugget", text: true, left: true, value: row => row.text, cell: row => h("bdi", {}, row.text) },
      { name: "importance", text: true, left: true, rank: 2, value: row => row.importance || "–" },
      ...systems.map(system => ({
        name: system,
        text: true,
        left: true,
        value: row => label(row, system),
        cell: row => [
          h("span", { "aria-hidden": "true" }, `${NUGGET_SIGNS[row.labels[system]] || "?"} `),
          label(row, system),
        ],
      })),
    ],
  });
}

/** The value, the length and the support of one answer, in a line. */
function answerFacts(data, points, id, { system, attempt, sentences, supported }) {
  const point = attempt === null && points.find(row => row.system === system && row.query === id),
    cites = sentences.some(({ citations }) => citations.length);
  return [
    point && `${wordsOf(data)} ${fixed(point.value, 3)}`,
    cites && known(supported) && `${count(supported)} of ${plural(sentences.length, "sentence")} supported`,
    point && plural(point.words, "word"),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** An answer, a sentence after the other; a citation opens its passage below. */
function oneAnswer({ system, attempt, sentences }, passages, facts) {
  const opened = h("div", { class: "passage", role: "status" });
  let current = null;
  const open = (button, document, words) => {
    const same = current === button;
    if (current) current.setAttribute("aria-expanded", "false");
    current = same ? null : button;
    opened.replaceChildren(
      ...(same
        ? []
        : [
            h("p", {}, h("strong", {}, h("bdi", {}, document)), ` · ${words}`),
            h("p", {}, h("bdi", {}, passages[document] || "The text of this passage is not in this file.")),
          ]),
    );
    if (!same) button.setAttribute("aria-expanded", "true");
  };
  const cite = ([document, label], number) => {
    const words = SUPPORT_WORDS[label || "unlabelled"];
    const button = h(
      "button",
      {
        type: "button",
        class: `cite cite-${label || "unlabelled"}`,
        "aria-expanded": "false",
        "aria-label": `citation ${number + 1}: ${clip(document, 80)}, ${words}`,
      },
      `${number + 1}`,
    );
    button.addEventListener("click", () => open(button, document, words));
    return button;
  };
  return h(
    "section",
    { class: "answer" },
    h("h3", {}, named(system), attempt ? h("span", { class: "soft" }, ` attempt ${attempt}`) : ""),
    facts && h("p", { class: "soft facts" }, facts),
    sentences.length
      ? h(
          "p",
          {},
          sentences.map(({ text, support, citations }) => [
            h(
              "span",
              { class: `sent sent-${support}` },
              h("bdi", {}, text || "(no text)"),
              hidden(` (${SUPPORT_WORDS[support]}) `),
            ),
            citations.map(cite),
            " ",
          ]),
        )
      : h("p", { class: "soft" }, "No answer."),
    opened,
  );
}
