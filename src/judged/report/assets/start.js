/* Keys, theme, and the start: the page that the address names is drawn, and again whenever the address changes. */

let drawing = null;

function finishViews() {
  views.splice(0).forEach(view => view.finalize());
  pending.splice(0);
  byId("tip").hidden = true;
}

async function render(focus, keep) {
  const subject = readState(),
    page = PAGES[state.page],
    mine = (drawing = {});
  drawFrame(subject);
  finishViews();
  const content = h("div", { class: `page-${page.id}` });
  await page.draw(content, subject);
  if (drawing !== mine) return;
  const printed = [
    head.title,
    subject.title,
    page.uses.includes("m") && state.m,
    page.uses.includes("a") && state.a,
    page.uses.includes("b") && state.b && `against ${state.b}`,
  ];
  content.prepend(
    h(
      "p",
      { class: "printed" },
      subject.scored || !page.uses ? clip(printed.filter(Boolean).join(" · "), 300) : subject.title,
    ),
  );
  main.replaceChildren(content);
  drawPending();
  if (focus) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  if (keep) {
    const box = main.querySelector(keep);
    if (box) {
      box.focus();
      box.setSelectionRange(box.value.length, box.value.length);
    }
  }
  document.documentElement.dataset.ready = state.page;
  performance.mark("ready");
}

const KEYS = [
  ["1 … 9", "pages"],
  ["j k", "next, previous query"],
  ["/", "find"],
  ["t", "light or dark"],
  ["?", "this list"],
];

function showKeys() {
  const box = h(
    "dialog",
    { "aria-label": "Keyboard" },
    h("h2", {}, "Keyboard"),
    h(
      "dl",
      { class: "facts" },
      KEYS.map(([keys, what]) => [
        h(
          "dt",
          {},
          keys.split(" ").map(key => (key === "…" ? " … " : h("kbd", {}, key))),
        ),
        h("dd", {}, what),
      ]),
    ),
    h("form", { method: "dialog" }, h("button", { class: "quiet" }, "Close")),
  );
  document.body.append(box);
  box.addEventListener("close", () => box.remove());
  box.showModal();
}

function switchTheme() {
  note({ t: isDark() ? "light" : "dark" });
  document.documentElement.dataset.theme = state.t;
  document.querySelectorAll(".chart").forEach(figure => figure.many && figure.redraw()); // what is on a canvas has fixed colours
}

async function findSomething() {
  const box = () => main.querySelector("input[type=search]");
  if (!box() && head.pages.some(({ id }) => id === "queries") && state.page !== "queries") {
    go({ page: "queries" });
    for (let tries = 0; tries < 50 && !box(); tries++) await new Promise(resume => setTimeout(resume, 20));
  }
  if (box()) box().focus();
}

addEventListener("keydown", event => {
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) ||
    document.querySelector("dialog[open]")
  )
    return;
  const page = /^[1-9]$/.test(event.key) ? head.pages[+event.key - 1] : null;
  if (page) go({ page: page.id });
  else if (event.key === "t") switchTheme();
  else if (event.key === "?") showKeys();
  else if ((event.key === "j" || event.key === "k") && state.page === "query" && stepQuery)
    stepQuery(event.key === "j" ? 1 : -1);
  else if (event.key === "/") {
    event.preventDefault();
    findSomething();
  }
});
byId("theme").addEventListener("click", switchTheme);
byId("help").addEventListener("click", showKeys);
byId("foot").textContent = `judged ${head.versions.judged} · ${head.made} · one file, no network`;
addEventListener("hashchange", () => {
  if (location.hash !== "#main") render(true);
});
document.querySelector(".skip").addEventListener("click", event => {
  event.preventDefault();
  main.focus();
});
render(false);
