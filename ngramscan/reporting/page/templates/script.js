"use strict";
// The page is complete without this script. It sorts, filters, copies and lengthens tables, from
// the rows that stand as JSON beside each table. Texts are foreign: they only become text nodes.

const STEP = 500; // rows that "show more" adds
const CUT = 300; // characters of a text that are shown at once
const SIDE = 80; // the same beside a match
const SIDES = ["left", "match", "right"];
const STEERING =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;

const isNull = (value) => value === null || value === undefined;
const hex = (found, digits) => found.charCodeAt(0).toString(16).padStart(digits, "0");

// As ngramscan.progress.visible.
function visibleLines(text) {
  const escaped = (one) => (one.charCodeAt(0) < 0x100 ? `\\x${hex(one, 2)}` : `\\u${hex(one, 4)}`);
  return text.replace(STEERING, escaped);
}

const visible = (text) => visibleLines(text).replace(/\n/g, "\\n").replace(/\t/g, "\\t");

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Numbers beyond what JSON keeps exactly are texts.
const exact = (value) => (value === "Infinity" ? "inf" : value === "-Infinity" ? "-inf" : `${value}`);

// As display.number.
function rounded(value) {
  const number = Number(value);
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (typeof value === "string") return value.replace(/\B(?=(\d{3})+$)/g, ",");
  const size = Math.abs(number);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return number.toExponential(2).replace(/e-(\d)$/, "e-0$1");
  if (Number.isInteger(number)) return (number + 0).toLocaleString("en-US"); // no -0
  const digits = { maximumFractionDigits: size >= 1000 ? 1 : 12 };
  return Number(size >= 1000 ? number.toFixed(1) : number.toPrecision(4)).toLocaleString("en-US", digits);
}

function longText(text, side) {
  const most = side ? SIDE : CUT;
  const characters = Array.from(text);
  if (characters.length <= most) return [visible(text)];
  const cut = side === "left" ? characters.slice(-most) : characters.slice(0, most);
  const shown = visible(cut.join(""));
  const summary = make("summary", {}, side === "left" ? `… ${shown}` : `${shown} …`);
  return [make("details", {}, summary, make("div", { class: "whole" }, visibleLines(text)))];
}

const isWeb = (address) =>
  /^https?:\/\/[^\s/]/i.test(address) && address.length < 2000 && visible(address) === address;

// As display.source_of.
function sourceOf(metadata) {
  let outer = null;
  try {
    outer = JSON.parse(metadata);
  } catch {
    return ["", ""];
  }
  const isObject = (one) => one !== null && typeof one === "object" && !Array.isArray(one);
  if (!isObject(outer)) return ["", ""];
  const inner = isObject(outer.metadata) ? outer.metadata : {};
  const of = (place, name) => (Object.hasOwn(place, name) ? place[name] : null);
  for (const name of ["url", "source", "id", "path"]) {
    for (const place of [inner, outer]) {
      const given = of(place, name);
      if (typeof given === "string" && given) return [given, isWeb(given) ? given : ""];
    }
  }
  return ["", ""];
}

function sourceCell(metadata) {
  const [name, url] = sourceOf(metadata);
  if (!url) return make("td", { class: "source" }, ...longText(name || metadata, "source"));
  const link = { href: url, rel: "noreferrer noopener", target: "_blank" };
  return make("td", { class: "source" }, make("a", link, visible(url)));
}

function cell(table, name, value) {
  if (isNull(value)) return make("td", { class: "null", title: "unknown", "data-value": "" }, "–");
  if (table.numbers.has(name)) {
    const said = exact(value);
    return make("td", { class: "number", "data-value": said, title: said }, rounded(value));
  }
  if (typeof value === "boolean") {
    return make("td", { "data-value": value ? "True" : "False" }, value ? "yes" : "no");
  }
  if (table.concordance && name === "metadata") return sourceCell(value);
  const side = table.concordance && SIDES.includes(name) ? name : "";
  if (side === "match" && Array.from(value).length <= SIDE) {
    return make("td", { class: "match" }, make("mark", {}, visible(value)));
  }
  return make("td", side ? { class: side } : {}, ...longText(value, side));
}

// Sorting and filtering

function compared(isNumber, first, second) {
  if (isNull(first) || isNull(second)) return isNull(first) - isNull(second);
  const [one, other] = isNumber ? [Number(first), Number(second)] : [first, second];
  return one < other ? -1 : Number(one > other);
}

function arranged(table) {
  const asked = table.filter.value.trim().toLowerCase();
  const said = (row) => row.filter((value) => !isNull(value)).join("\u0000").toLowerCase();
  table.said ??= new Map();
  const text = (row) => table.said.get(row) ?? table.said.set(row, said(row)).get(row);
  const rows = asked ? table.rows.filter((row) => text(row).includes(asked)) : [...table.rows];
  if (table.sorted) {
    const { column, sign } = table.sorted;
    const at = table.shown.indexOf(column);
    const isNumber = table.numbers.has(column);
    rows.sort((one, other) => {
      const hasNull = isNull(one[at]) || isNull(other[at]); // unknown ones stay last
      return (hasNull ? 1 : sign) * compared(isNumber, one[at], other[at]);
    });
  }
  return rows;
}

function show(table) {
  table.arranged = arranged(table);
  const rows = table.arranged.slice(0, table.most).map((row) => {
    const cells = table.shown.map((name, at) => cell(table, name, row[at]));
    return make("tr", {}, ...cells);
  });
  table.body.replaceChildren(...rows);
  const all = table.rows.length.toLocaleString("en-US");
  const found = table.arranged.length.toLocaleString("en-US");
  const filtered = table.filter.value.trim() ? `${found} of ${all} rows match` : `${all} rows`;
  table.status.textContent = `${filtered}; ${rows.length.toLocaleString("en-US")} shown.`;
  table.more.hidden = rows.length >= table.arranged.length;
}

function sortBy(table, column) {
  const isAgain = table.sorted?.column === column;
  table.sorted = { column, sign: isAgain ? -table.sorted.sign : 1 };
  for (const head of table.heads) {
    const isIt = head.dataset.column === column;
    head.setAttribute("aria-sort", !isIt ? "none" : table.sorted.sign > 0 ? "ascending" : "descending");
  }
  show(table);
}

// Copying

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

function asText(value) {
  if (isNull(value)) return "";
  return typeof value === "boolean" ? (value ? "True" : "False") : exact(value);
}

function csv(table) {
  const places = table.columns.map((name) => table.shown.indexOf(name));
  const of = (row, at, name) => (at < 0 ? table.same[name] : row[at]);
  const lines = table.arranged.map((row) =>
    places.map((at, n) => quoted(asText(of(row, at, table.columns[n])))).join(",")
  );
  return `${[table.columns.map(quoted).join(","), ...lines].join("\n")}\n`;
}

function escaped(text) {
  const said = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
  return visible(text).replace(/[\\~^{}&%$#_]/g, (one) => said[one] ?? `\\${one}`);
}

function latex(table) {
  const number = (value) => rounded(value).replace(/,/g, "{,}").replace(/^-/, "$-$").replace("∞", "$\\infty$");
  const said = (name, value) => {
    if (isNull(value)) return "--";
    if (table.numbers.has(name)) return number(value);
    return typeof value === "boolean" ? (value ? "yes" : "no") : escaped(value);
  };
  const line = (cells) => `${cells.join(" & ")} \\\\`;
  const rows = table.arranged.map((row) => line(table.shown.map((name, at) => said(name, row[at]))));
  const columns = table.shown.map((name) => (table.numbers.has(name) ? "r" : "l")).join("");
  const head = line(table.shown.map((name) => escaped(name.replace(/_/g, " "))));
  const parts = ["% needs \\usepackage{booktabs}", `\\begin{tabular}{@{}${columns}@{}}`, "\\toprule"];
  return [...parts, head, "\\midrule", ...rows, "\\bottomrule", "\\end{tabular}", ""].join("\n");
}

async function copy(table, text, format) {
  const count = `${table.arranged.length.toLocaleString("en-US")} rows`;
  try {
    await navigator.clipboard.writeText(text);
    table.status.textContent = `Copied ${count} as ${format}.`;
  } catch {
    // Without permission the text stands selected, for the keys that copy.
    table.fallback.hidden = false;
    table.fallback.value = text;
    table.fallback.focus();
    table.fallback.select();
    table.status.textContent = `${count} as ${format} are selected below: press Ctrl+C or ⌘C to copy them.`;
  }
}

// Tables

function revive(section) {
  const find = (selector) => section.querySelector(selector);
  const given = JSON.parse(find("script[type='application/json']").textContent);
  const [filter, status, more] = [find("input"), find("[role=status]"), find("button.more")];
  const table = { ...given, numbers: new Set(given.numbers), filter, status, more };
  table.body = find("tbody");
  table.fallback = find("textarea");
  table.most = table.body.rows.length;
  table.heads = [...section.querySelectorAll("thead th")];
  table.arranged = table.rows;
  return table;
}

function prepare(section) {
  const find = (selector) => section.querySelector(selector);
  let table = null;
  const known = () => (table ??= revive(section)); // parsed when it is first needed
  for (const head of section.querySelectorAll("thead th")) {
    const button = make("button", { type: "button" }, ...head.childNodes);
    button.addEventListener("click", () => sortBy(known(), head.dataset.column));
    head.setAttribute("aria-sort", "none");
    head.replaceChildren(button);
  }
  find("input").addEventListener("input", () => show(known()));
  find("button.more").hidden = !("left" in find("button.more").dataset);
  find("button.more").addEventListener("click", () => {
    known().most += STEP;
    show(known());
  });
  find("button.csv").addEventListener("click", () => copy(known(), csv(known()), "CSV"));
  find("button.latex").addEventListener("click", () => copy(known(), latex(known()), "LaTeX"));
  find(".tools").hidden = false;
}

// Theme

function prepareTheme() {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => (button.textContent = isDark() ? "Light theme" : "Dark theme");
  try {
    const kept = localStorage.getItem("ngramscan-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch {} // a page in a sandbox has no storage
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
    try {
      localStorage.setItem("ngramscan-theme", root.dataset.theme);
    } catch {}
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();
  button.hidden = false;
}

prepareTheme();
document.querySelectorAll(".rows").forEach(prepare);
