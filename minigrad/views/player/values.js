// Words and pictures of values.

import { element, rove, tabStop, tells } from "./dom.js";
import { message, wordFor } from "./messages.js";

// At most four digits; the same words as minigrad.views.values.number.
export function number(x) {
  if (x === null || x === undefined) return "nan";
  if (typeof x !== "number" || !Number.isFinite(x)) return String(x);
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e6) return String(x);
  if (size >= 1e5 || size < 1e-3) return untied(x, 3).toExponential(2);
  return String(Number(untied(x, 4).toPrecision(4)));
}

// Halfway between two numbers of so many digits Python takes the even one: there a
// hair less.
function untied(x, digits) {
  const tie = new RegExp(`^\\d\\.\\d{${digits - 2}}[02468]50*e`);
  return tie.test(Math.abs(x).toExponential(20)) ? x * (1 - 1e-9) : x;
}

// The digits that the recording has.
export function exact(x) {
  if (x === null || x === undefined) return "nan";
  return typeof x === "number" ? String(Number(x.toPrecision(7))) : String(x);
}

export function labelOf({ label, tensor }) {
  return tensor ? message("node.name", { label, tensor }) : label;
}

export const shortened = (words, most) => (words.length <= most ? words : `${words.slice(0, most - 1)}…`);

export function sizeOf(value) {
  return value.shape.reduce((product, length) => product * length, 1);
}

// The bytes of a whole array: the dtype's name has its bits.
export function bytesOf(value) {
  const bits = value.dtype === "bool" ? 8 : Number(value.dtype.match(/\d+$/)?.[0] || 64);
  return (sizeOf(value) * bits) / 8;
}

// The same words as minigrad.tracing.values.bytes_text.
export function bytesWords(count) {
  if (count < 10_000) return message("bytes.few", { count });
  const short = (size) => String(Number(size.toPrecision(4)));
  if (count < 10_000_000) return message("bytes.kilo", { count: short(count / 1e3) });
  return message("bytes.mega", { count: short(count / 1e6) });
}

export function shapeWords(shape) {
  return shape.length ? `[${shape.join("×")}]` : message("value.scalar");
}

// How many elements are no number and how many are infinite; empty without.
export function oddWords(value) {
  const words = [];
  if (value.nan) words.push(message("value.nan", { count: value.nan }));
  if (value.inf) words.push(message("value.inf", { count: value.inf }));
  const [first, second] = words;
  return second ? message("value.and-odd", { value: first, odd: second }) : first || "";
}

// One line for a value: used on edges, in returns and in labels.
export function brief(trace, ref) {
  if (!ref) return "None";
  if (ref.t === "P") return wordFor(ref.r);
  if (ref.t === "L") {
    const items = ref.i.map((item) => brief(trace, item));
    return items.length === 1 ? `(${items[0]},)` : `(${items.join(", ")})`;
  }
  const value = trace.values[ref.v];
  if (!value) return ref.name || "?";
  const cells = value.rows.flat();
  if (!value.cut && value.shape.length === 0) return number(cells[0]);
  if (!value.cut && value.shape.length === 1 && cells.length <= 4) {
    return `[${cells.map(number).join(", ")}]`;
  }
  const shape = shapeWords(value.shape);
  const odd = oddWords(value);
  if (!sizeOf(value)) return message("value.none", { shape });
  if (value.nan === sizeOf(value)) return message("value.all", { shape, value: "nan" });
  if (value.min === null) return message("value.odd", { shape, odd });
  const [min, max] = [number(value.min), number(value.max)];
  const range = message("value.range", { shape, min, max });
  if (odd) return message("value.and-odd", { value: range, odd });
  return min === max ? message("value.all", { shape, value: min }) : range;
}

// "saved.0" is shown as "saved[0]", "attr.constant" as "ctx.constant".
export function keyLabel(key) {
  const [family, ...rest] = key.split(".");
  if (family === "saved") return `saved[${rest.join(".")}]`;
  if (family === "attr") return `ctx.${rest.join(".")}`;
  return rest.length ? rest.join(".") : family;
}

export function keyRank(key) {
  const order = ["saved", "attr", "needs_input_grad", "edges", "flag"];
  const rank = order.indexOf(key.split(".")[0]);
  return rank < 0 ? order.length : rank;
}

const MAX_NUMBERS = 30;

// The index of what is shown in a row and a column; nothing for a scalar.
export function elementIndex({ shape }, [row, column]) {
  if (!shape.length) return "";
  const index = [column];
  let rest = row;
  for (const length of shape.slice(0, -1).reverse()) {
    index.unshift(rest % length);
    rest = Math.floor(rest / length);
  }
  return `[${index.join(", ")}]`;
}

// An array as a grid of tinted cells; with its numbers when there are few. With `ask`
// each is a button; arrow keys go among them, and the grid is one stop of the Tab key.
export function heatMap(value, ask = null, chosen = null) {
  const columns = value.rows[0]?.length || 0;
  const count = value.rows.length * columns;
  const withNumbers = count <= MAX_NUMBERS;
  const most = Math.max(Math.abs(value.min), Math.abs(value.max)) || 1;
  const cells = value.rows.flat().map((x, index) => {
    const cell = element(ask ? "button" : "span", `cell ${kindOf(x)}`);
    cell[withNumbers ? "textContent" : "title"] = number(x);
    const size = typeof x === "number" ? Math.abs(x) / most : Number(/^-?inf$/.test(x));
    cell.style.setProperty("--tint", `${(Math.min(1, size) * 55).toFixed(0)}%`);
    if (!ask) return cell;
    const place = [Math.floor(index / columns), index % columns];
    const ariaLabel = message("number.element", { index: elementIndex(value, place), value: number(x) });
    return Object.assign(cell, { tabIndex: -1, ariaLabel, onclick: () => ask(place) });
  });
  const [min, max] = [number(value.min), number(value.max)];
  const ariaLabel = message("value.array", { shape: shapeWords(value.shape), min, max });
  const is = { className: withNumbers ? "heat" : "heat tiny", role: ask ? "group" : "img", ariaLabel };
  const map = element("div", is, ...cells);
  map.style.gridTemplateColumns = `repeat(${columns}, auto)`;
  if (!ask) return map;
  tabStop(map, cells[chosen ? chosen[0] * columns + chosen[1] : 0]);
  if (chosen) cells[chosen[0] * columns + chosen[1]].ariaCurrent = "true";
  rove(map, "button", { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns });
  return map;
}

// What marks a cell beside its tint; what is not finite or not real is a word.
function kindOf(x) {
  const word = String(x ?? "nan");
  if (word.includes("nan")) return "nan";
  return x < 0 || word === "-inf" ? "negative" : "";
}

// A value as elements: what it is, its version, its numbers. Its name is left out where
// the label beside it says the same.
export function valueView(trace, ref, label = "") {
  if (!ref || ref.t === "P") {
    const text = ref ? ref.r : "None";
    return element("div", "value", element("code", text === "freed" ? text : "", wordFor(text)));
  }
  if (ref.t === "L") {
    const isPlain = ref.i.every((item) => !item || item.t === "P");
    if (isPlain) return element("div", "value", element("code", "", brief(trace, ref)));
    return element("div", "value list", ...ref.i.map((item) => valueView(trace, item)));
  }
  const value = trace.values[ref.v];
  const said = value ? [`${value.dtype} ${shapeWords(value.shape)}`] : [];
  const stale = ref.t === "S" && ref.now !== ref.ver && message("value.saved.stale", { saved: ref.ver, now: ref.now });
  if (ref.t === "S" && !stale) said.push(message("value.saved", { saved: ref.ver, now: ref.now }));
  if (ref.t === "S" && (ref.out ?? null) !== null) said.push(message("value.output", { number: ref.out }));
  if (ref.t === "T" && ref.ver > 0) said.push(message("value.version", { version: ref.ver }));
  if (ref.t === "T" && ref.rg) said.push(message("value.requires-grad"));
  if (ref.tan) said.push(message("tangent.beside", { value: brief(trace, { t: "A", v: ref.tan }) }));
  const name = ref.name && ref.name !== label && element("b", "", ref.name);
  const about = [name, ...said.map((one) => element("span", "", one)), stale && element("span", "warn", stale)];
  const view = element("div", "value", element("div", "about", ...about));
  tells(view, () => ({ title: ref.name || label, ref }));
  if (!value) return view;
  if (sizeOf(value)) view.append(heatMap(value));
  const [min, max] = [number(value.min), number(value.max)];
  if (value.cut) view.append(element("div", "about", message("value.part", { min, max })));
  const odd = oddWords(value);
  if (odd) view.append(element("div", "about warn", odd));
  return view;
}
