/* Tables as CSV, Markdown and LaTeX. CSV has every number in full, written as Python writes it. */

/** A number that Python writes with a point, as in the command's CSV. */
class Float {
  constructor(value) {
    this.value = value;
  }
}
const float = x => (known(x) ? new Float(x) : null);

/** The shortest text that reads back as the same number, laid out as Python's repr. */
function writeFloat(x) {
  if (!Number.isFinite(x)) return x > 0 ? "inf" : x < 0 ? "-inf" : "";
  if (Object.is(x, -0)) return "-0.0";
  const [mantissa, power] = Math.abs(x).toExponential().split("e");
  const digits = mantissa.replace(".", ""),
    exponent = +power,
    sign = x < 0 ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ""}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

function inFull(cell) {
  if (cell instanceof Float) return writeFloat(cell.value);
  if (typeof cell === "boolean") return cell ? "True" : "False";
  if (typeof cell === "number") return Number.isInteger(cell) ? String(cell) : writeFloat(cell);
  return known(cell) ? String(cell) : "";
}
function inShort(cell) {
  const x = cell instanceof Float ? cell.value : cell;
  return typeof x === "number" && (cell instanceof Float || !Number.isInteger(x)) ? x.toFixed(4) : inFull(x);
}

const quoteCsv = text => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const writeCsv = rows => rows.map(row => `${row.map(cell => quoteCsv(inFull(cell))).join(",")}\n`).join("");

const isNumber = cell => cell instanceof Float || typeof cell === "number";
const oneLine = text => text.replace(/\s+/g, " ");
const escapeMarkdown = text => oneLine(text).replace(/([\\`*_[\]<>|#])/g, "\\$1");
function writeMarkdown([names, ...rows]) {
  const rule = names.map((_, i) => (rows.some(row => isNumber(row[i])) ? "---:" : ":---"));
  return [names, ...rows]
    .map(row => row.map(cell => escapeMarkdown(inShort(cell))))
    .toSpliced(1, 0, rule)
    .map(row => `| ${row.join(" | ")} |\n`)
    .join("");
}

const TEX = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
  '"': "\\textquotedbl{}",
  "→": "$\\rightarrow$",
  "−": "$-$",
};
const escapeTex = text => oneLine(text).replace(/[\\&%$#_{}~^<>|"→−]/g, c => TEX[c] || `\\${c}`);
function writeLatex([names, ...rows]) {
  const kinds = names.map((_, i) => (rows.some(row => isNumber(row[i])) ? "r" : "l")).join("");
  const line = row => `${row.map(cell => escapeTex(inShort(cell))).join(" & ")} \\\\\n`;
  return `\\begin{tabular}{${kinds}}\n\\toprule\n${line(names)}\\midrule\n${rows.map(line).join("")}\\bottomrule\n\\end{tabular}\n`;
}

async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "hidden", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(done);
}

function saveFile(parts, type, name) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  say(`${name} saved`);
}
const fileName = text =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9@.]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80) || "table";

/** Buttons that copy and save what `cells` returns: the names of columns, then the rows. */
function exportButtons(name, cells) {
  const kinds = [
    ["CSV", writeCsv],
    ["Markdown", writeMarkdown],
    ["LaTeX", writeLatex],
  ];
  return h(
    "div",
    { class: "out" },
    h("span", {}, "Copy"),
    kinds.map(([kind, write]) =>
      quiet(kind, () => copy(write(cells()), `${name} copied as ${kind}`), {
        "aria-label": `Copy ${name} as ${kind}`,
      }),
    ),
    quiet("Save CSV", () => saveFile([writeCsv(cells())], "text/csv", `${fileName(name)}.csv`), {
      "aria-label": `Save ${name} as CSV`,
    }),
  );
}
