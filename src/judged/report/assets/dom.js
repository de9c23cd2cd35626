/* Nodes and text. Whatever comes from data becomes a text node or an attribute's value: nothing is parsed as HTML. */

const head = JSON.parse(document.getElementById("head").textContent);
const main = document.getElementById("main");
const byId = id => document.getElementById(id);

const SVG = new Set(["svg", "line", "circle", "path", "rect", "text", "g"]);

/** Make an element: attributes that are null or false are left out, `on…` adds a listener, children are appended. */
function h(tag, attributes, ...children) {
  const node = SVG.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(9).filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

const hidden = text => h("span", { class: "hidden" }, text);
const clip = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
/** A name that may break after a separator, never inside a word. */
const breakable = text => text.split(/(?<=[_+/.-])/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));
const named = (text, length = 60) =>
  h(
    "bdi",
    { class: "name", title: text.length > length ? clip(text, 400) : null },
    breakable(clip(text, length)),
  );
const say = text => {
  byId("said").textContent = text;
};
const quiet = (text, onclick, attributes) =>
  h("button", { type: "button", class: "quiet", onclick, ...attributes }, text);

/* Numbers as people read them; the minus sign is a real one. */
const known = x => x !== null && x !== undefined && !Number.isNaN(x);
const fixed = (x, digits = 4) =>
  known(x) ? (Math.abs(x) < 0.5 * 10 ** -digits ? 0 : x).toFixed(digits).replace("-", "−") : "–";
const signed = (x, digits = 4) =>
  known(x) ? (x > 0 ? "+" : x < 0 ? "−" : "±") + Math.abs(x).toFixed(digits) : "–";
const count = n => n.toLocaleString("en-GB");
const plural = (n, word) =>
  `${count(n)} ${n === 1 ? word : word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`}`;
const percent = (x, digits = 1) => (known(x) ? `${(100 * x).toFixed(digits)} %` : "–");
const formatP = p => (!known(p) ? "–" : p < 0.0001 ? "<0.0001" : p.toFixed(4));
const sayP = p => (known(p) && p < 0.0001 ? "p < 0.0001" : `p = ${formatP(p)}`);
const ordinal = n =>
  count(n) + (n % 100 > 10 && n % 100 < 14 ? "th" : ["th", "st", "nd", "rd"][n % 10] || "th");

/** Names in a sentence; of many, how many they are. */
function listed(names, most = 3) {
  if (names.length > most + 1)
    return [names.slice(0, most).map(name => [named(name), ", "]), `and ${names.length - most} more`];
  return names.map((name, i) => [i === 0 ? "" : i === names.length - 1 ? " and " : ", ", named(name)]);
}

/** Round ends and steps of an axis that holds low and high. */
function axisTicks(low, high, steps = 4) {
  const raw = (high - low) / steps || Math.abs(high) / steps || 0.1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(x => x * power).find(x => x >= raw * 0.999);
  const from = Math.floor(low / step + 1e-9) * step;
  const to = Math.ceil(high / step - 1e-9) * step;
  return {
    from,
    to: to > from ? to : from + step,
    ticks: Array.from({ length: Math.round((to - from) / step) + 1 }, (_, i) => from + i * step),
  };
}
