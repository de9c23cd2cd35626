/* State lives in the address, #/page?r=1&m=nDCG@10&a=new&b=old&q=7 …, so that a link shows what one sees. */

const PAGES = {};
const state = {};

/** Declare a page: `uses` lists its choosers (m measure, a system, b baseline), `draw(page, subject)` appends to it. */
function definePage(id, uses, draw) {
  PAGES[id] = { id, uses, draw };
}

const subjectsOf = page => head.subjects.filter(subject => page in subject.pages);

function readState() {
  const [page, rest] = location.hash.replace(/^#\/?/, "").split("?");
  for (const key of Object.keys(state)) delete state[key];
  Object.assign(state, Object.fromEntries(new URLSearchParams(rest || "")));
  state.page = head.pages.some(known => known.id === page) ? page : head.pages[0].id;
  const subjects = subjectsOf(state.page);
  const subject = subjects.find(one => one.key === state.r) || subjects[0];
  state.r = subject.key;
  if (subject.scored) readScored(subject.scored);
  return subject;
}

function readScored({ systems, measures, baselines }) {
  if (!measures.some(m => m.name === state.m)) state.m = measures[0].name;
  if (!baselines.includes(state.b)) state.b = baselines[0];
  if (!systems.includes(state.a) || state.a === state.b)
    state.a = systems.find(name => name !== state.b) || systems[0];
}

/** The address of the state with some changes; another subject forgets what belongs to this one. */
function address(change) {
  const next = { ...state, ...change };
  if (next.page && !(next.page in (head.subjects.find(one => one.key === next.r) || { pages: {} }).pages))
    delete next.r;
  if (change.r && change.r !== state.r)
    for (const key of ["m", "a", "b", "q", "s", "text", "slice", "hide", "id"]) delete next[key];
  const { page, ...rest } = next;
  for (const key of Object.keys(rest)) if (rest[key] === "" || !known(rest[key])) delete rest[key];
  return `#/${page}?${new URLSearchParams(rest)}`;
}
const go = change => {
  location.hash = address(change);
};
const note = change => {
  Object.assign(state, change);
  history.replaceState(null, "", address({}));
  refreshLinks();
};

function refreshLinks() {
  for (const link of byId("nav").children) link.setAttribute("href", address({ page: link.dataset.page }));
}

function drawFrame(subject) {
  const page = PAGES[state.page];
  const { title } = head.pages.find(known => known.id === state.page);
  document.title = `${title} · ${subject.title} · ${head.title}`;
  if (state.t) document.documentElement.dataset.theme = state.t;
  else delete document.documentElement.dataset.theme;
  byId("nav").replaceChildren(
    ...head.pages.map(({ id, title: name }) =>
      h(
        "a",
        { href: address({ page: id }), "data-page": id, "aria-current": id === state.page ? "page" : null },
        name,
      ),
    ),
  );
  byId("nav").querySelector("[aria-current]").scrollIntoView({ block: "nearest", inline: "center" });
  drawChoosers(subject, page.uses);
}

function chooser(label, key, options, value) {
  return h(
    "label",
    {},
    label,
    h(
      "select",
      { onchange: event => go({ [key]: event.target.value }) },
      options.map(([id, text]) => h("option", { value: id, selected: id === value }, clip(text, 60))),
    ),
  );
}

function drawChoosers(subject, uses) {
  const subjects = subjectsOf(state.page),
    scored = subject.scored;
  const names = list => list.map(name => [name, name]);
  const several = scored && scored.systems.length > 1;
  byId("choose").replaceChildren(
    ...[
      subjects.length > 1 &&
        chooser(
          "Result",
          "r",
          subjects.map(one => [one.key, one.title]),
          subject.key,
        ),
      scored &&
        uses.includes("m") &&
        chooser(
          "Measure",
          "m",
          scored.measures.map(({ name }) => [name, name]),
          state.m,
        ),
      several &&
        uses.includes("a") &&
        chooser("System", "a", names(scored.systems.filter(name => name !== state.b)), state.a),
      several &&
        uses.includes("b") &&
        (scored.compared || uses.includes("a")) &&
        chooser(uses.includes("a") ? "against" : "Baseline", "b", names(scored.baselines), state.b),
    ].filter(Boolean),
  );
  byId("choose").hidden = !byId("choose").children.length;
}

const better = (subject, measure) => subject.scored.measures.find(({ name }) => name === measure).better;
/** Systems by the mean of a measure, the best first; without a direction, as they come. */
function ranked(subject, measure) {
  const { systems } = subject.scored,
    means = subject.pages.leaderboard.means[measure],
    way = better(subject, measure) || 0;
  if (!way) return systems.slice();
  const worst = -Infinity;
  const value = name => {
    const [mean] = means[systems.indexOf(name)];
    return known(mean) ? way * mean : worst;
  };
  return systems.slice().sort((x, y) => value(y) - value(x));
}
