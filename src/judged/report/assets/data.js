/* The packed data: blocks are unpacked when they are first asked for, and kept. */

const opened = new Map();

function once(name, make) {
  if (!opened.has(name)) opened.set(name, make());
  return opened.get(name);
}

async function unpack(name) {
  const node = document.querySelector(`script[data-block="${CSS.escape(name)}"]`);
  if (!node) throw new Error(`no block ${name}`);
  const text = node.textContent;
  const raw = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(text)
    : Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The block of a page of a subject, as plain data. */
const block = (subject, page, name) =>
  once(`${subject.key}/${page}/${name}`, async () =>
    JSON.parse(new TextDecoder().decode(await unpack(`${subject.key}/${page}/${name}`))),
  );

/** The block of a page of a subject, as arrays of float64 (see packing.py). */
const numbers = (subject, page, name) =>
  once(`${subject.key}/${page}/${name}`, async () => {
    const data = await unpack(`${subject.key}/${page}/${name}`);
    const length = new DataView(data.buffer).getUint32(0, true);
    let at = 4 + length;
    const take = (n, width) => {
      const bytes = unshuffle(data, at, n, width);
      at += n * width;
      return bytes;
    };
    return JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length))).map(
      ({ kind, count: n, table }) => {
        if (kind === "f8") return new Float64Array(take(n, 8));
        const values = new Float64Array(take(table, 8));
        const places = kind === "u1" ? new Uint8Array(take(n, 1)) : new Uint16Array(take(n, 2));
        return Float64Array.from(places, place => values[place]);
      },
    );
  });

/** Undo what packing did: the first bytes of all numbers come first, then the second ones. */
function unshuffle(data, start, n, width) {
  const out = new Uint8Array(n * width);
  for (let byte = 0; byte < width; byte++)
    for (let i = 0, from = start + byte * n; i < n; i++) out[i * width + byte] = data[from + i];
  return out.buffer;
}

/** The values of a measure of one system, over all queries. */
async function column(subject, measure, system) {
  const { systems, measures } = subject.scored;
  const all = await numbers(subject, "queries", "values");
  const table = all[measures.findIndex(m => m.name === measure)];
  const n = table.length / systems.length;
  const at = systems.indexOf(system);
  return table.subarray(at * n, (at + 1) * n);
}

/** First minus second, by the library's rule (`judged.stats.paired.differences`): equal but for rounding is equal. */
function differences(first, second) {
  const raw = Array.from(first, (x, i) => x - second[i]);
  const scale = first.reduce(
    (most, x, i) => (known(raw[i]) ? Math.max(most, Math.abs(x), Math.abs(second[i])) : most),
    0,
  );
  if (scale === 0) return raw;
  const power = 10 ** Math.min(12 - Math.ceil(Math.log10(scale)), 300);
  const sizes = new Map();
  return raw.map(x => {
    if (!known(x)) return x;
    const rounded = roundHalfEven(x * power);
    if (rounded === 0) return 0;
    const size = Math.abs(rounded);
    if (!sizes.has(size)) sizes.set(size, Math.abs(x));
    return Math.sign(rounded) * sizes.get(size);
  });
}

function roundHalfEven(x) {
  const low = Math.floor(x);
  const rest = x - low;
  return rest < 0.5 ? low : rest > 0.5 ? low + 1 : low % 2 === 0 ? low : low + 1;
}

/** The contrasts of a measure with a baseline: a row of numbers for each system, and the family of the correction. */
async function contrasts(subject, baseline) {
  const at = subject.scored.baselines.indexOf(baseline);
  return subject.scored.compared && at >= 0 ? block(subject, "leaderboard", `contrasts:${at}`) : null;
}
const FIELD = Object.fromEntries(head.contrast.map((name, i) => [name, i]));

/** 1: better at the corrected level, −1: worse, 0: these queries cannot tell, null: no contrast. */
function verdict(row, alpha, better) {
  if (!row) return null;
  const p = row[FIELD.p_corrected];
  return !known(p) || p >= alpha || !better ? 0 : Math.sign(row[FIELD.difference]) * better;
}
