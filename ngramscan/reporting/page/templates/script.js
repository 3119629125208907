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

// As ngramscan.progress.marked_line.
const visible = (text) => visibleLines(text).replace(/\n/g, "⏎").replace(/\t/g, " ");

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Numbers beyond what JSON keeps exactly are texts.
const exact = (value) => (value === "Infinity" ? "inf" : value === "-Infinity" ? "-inf" : `${value}`);

// A number with some digits after the point; of two that are equally near, the even one, as in Python.
function nearest(value, digits) {
  const scaled = value * 10 ** digits;
  const isTie = Number.isInteger(value * 2 ** (digits + 1)) && Math.abs(scaled % 1) === 0.5;
  return (isTie ? (2 * Math.round(scaled / 2)) / 10 ** digits : value).toFixed(digits);
}

const power = (number) => number.toExponential().replace(/e([+-])(\d)$/, "e$10$2");

// As layout.cell.
function rounded(value) {
  const number = Number(value);
  const size = Math.abs(number);
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "-∞";
  if (typeof value === "string") return value.replace(/\B(?=(\d{3})+$)/g, ",");
  if (size >= 1e15) return power(Number(number.toPrecision(3)));
  if (size >= 100) return Number(nearest(number, 0)).toLocaleString("en-US");
  const digits = size && 2 - Number(number.toExponential(2).split("e")[1]);
  const short = Number(digits > 7 ? number.toPrecision(3) : nearest(number, digits));
  return short && Math.abs(short) < 1e-4 ? power(short) : `${short + 0}`; // no -0
}

// As layout.percent.
function percent(fraction) {
  const value = Number((100 * Number(fraction)).toFixed(9));
  if (!Number.isFinite(value)) return rounded(fraction);
  if (!value || Math.abs(value) >= 0.05) return nearest(value + 0, 1);
  const short = Number(value.toPrecision(1));
  return Math.abs(short) < 1e-4 ? power(short) : `${short}`;
}

// As display.shown_number.
const shownNumber = (value, unit) =>
  isNull(value) ? "–" : unit === "number" ? rounded(value) : percent(value);

// As display._number: a number with its interval.
function numberText(column, [value, low, high]) {
  const text = shownNumber(value, column.unit);
  if (isNull(low) && isNull(high)) return text;
  const end = (limit, none) => (isNull(limit) ? none : shownNumber(limit, column.unit));
  return `${text} [${end(low, "-∞")}, ${end(high, "∞")}]`;
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

// A value of a row, and the limits that stand in the same cell.
const valuesOf = (table, column, row) =>
  [column.name, ...(column.limits ?? [])].map((name) => row[table.places.get(name)]);

function cell(table, column, row) {
  const [value, ...limits] = valuesOf(table, column, row);
  const name = column.name;
  if (column.isNumber && !(isNull(value) && !limits.length)) {
    const [said, low, high] = [value, ...limits].map((one) => (isNull(one) ? "" : exact(one)));
    const ends = limits.length ? { "data-low": low, "data-high": high } : {};
    const attributes = { class: "number", "data-value": said, ...ends, title: said || "unknown" };
    return make("td", attributes, numberText(column, [value, ...limits]));
  }
  if (isNull(value)) return make("td", { class: "null", title: "unknown", "data-value": "" }, "–");
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
    const at = table.places.get(column);
    const { isNumber } = table.table.find((one) => one.name === column);
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
    const cells = table.table.map((column) => cell(table, column, row));
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

// Besides quotes and commas, whatever some reader takes as the end of a row, or as another
// separator, is quoted, as in files.
const quoted = (text) => (/[",;|'#\p{Cc}\u2028\u2029]/u.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

function asText(value) {
  if (isNull(value)) return "";
  return typeof value === "boolean" ? (value ? "True" : "False") : exact(value);
}

function csv(table) {
  const of = (row, name) => (table.places.has(name) ? row[table.places.get(name)] : table.same[name]);
  const lines = table.arranged.map((row) =>
    table.columns.map((name) => quoted(asText(of(row, name)))).join(",")
  );
  return `${[table.columns.map(quoted).join(","), ...lines].join("\n")}\n`;
}

function escaped(text) {
  const said = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
  return visibleLines(text)
    .replace(/\n/g, "\\n")
    .replace(/\t/g, "\\t")
    .replace(/[\\~^{}&%$#_]/g, (one) => said[one] ?? `\\${one}`)
    .replace(/[<>|]/g, "$$$&$$");
}

function latex(table) {
  const number = (text) => text.replace(/(\d),(?=\d)/g, "$1{,}").replace(/(?<!e)-/g, "$-$").replace(/∞/g, "$\\infty$");
  const said = (column, row) => {
    const [value, ...limits] = valuesOf(table, column, row);
    if (column.isNumber && !(isNull(value) && !limits.length)) {
      return number(numberText(column, [value, ...limits])).replace("–", "--");
    }
    if (isNull(value)) return "--";
    return typeof value === "boolean" ? (value ? "yes" : "no") : escaped(value);
  };
  // The end of the line above, and a rule, would take a bracket or a star for their own.
  const line = (cells) => `${/^[[*]/.test(cells[0]) ? "{}" : ""}${cells.join(" & ")} \\\\`;
  const rows = table.arranged.map((row) => line(table.table.map((column) => said(column, row))));
  const columns = table.table.map((column) => (column.isNumber ? "r" : "l")).join("");
  const head = line(table.table.map((column) => escaped(column.heading)));
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
  const places = new Map(given.shown.map((name, at) => [name, at]));
  const table = { ...given, places, filter, status, more };
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

// What is folded is printed by browsers that know `::details-content`; others need it unfolded.
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details.fold")) fold.open = true;
});
// On a phone only figures and sentences are unfolded, and rows without any figure.
if (matchMedia("(max-width: 40rem)").matches)
  for (const fold of document.querySelectorAll(".results > .fold:not(.only)")) fold.open = false;
prepareTheme();
document.querySelectorAll(".rows").forEach(prepare);
