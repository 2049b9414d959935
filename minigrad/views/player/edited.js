// What was edited in a recording. The code that edits comes from Python (see edits.js), as
// nobody else can run a program again.

import { element, setText, svgElement } from "./dom.js";
import { message } from "./messages.js";

const SHOWN = "[data-place]:not(.edge, .op)"; // what shows a value

export class Edited {
  constructor(python) {
    this.python = python;
    this.told = element("p", { className: "told", role: "status" });
    this.note = element("p", { className: "note", role: "alert" });
    this.box = element("section", { className: "edits", ariaLabel: message("edit.name") }, this.told, this.note);
  }

  belongTo(player) {
    this.player = player;
    const { root, trace, graph } = player;
    if (!this.box.isConnected) root.after(this.box);
    this.edited = editedPlaces(trace);
    graph.drew = () => player.view && this.mark(player.view);
    if (this.python) this.connect();
    // The wire of a notebook that is loaded anew may come later than its players.
    root.onpointerenter = () => this.connect();
    this.render();
  }

  // What edits here, once Python listens and can run this program again: if not, why.
  async connect() {
    const { player } = this;
    const found = this.python && (await this.python());
    if (player.edits !== this) return player.edits;
    this.why = found ? found.why : message(parent === window ? "edit.saved" : "edit.alone");
    if (!found?.edits) return this;
    const edits = found.edits(player.trace);
    this.box.replaceWith(edits.box);
    player.edits = edits;
    edits.belongTo(player);
    if (player.view) edits.mark(player.view);
    return edits;
  }

  mark() {
    if (!this.edited.size) return;
    for (const shape of this.player.root.querySelectorAll(SHOWN)) {
      const is = this.edited.has(shape.dataset.place);
      if (is !== shape.classList.contains("changed")) markEdited(shape, is);
    }
  }

  // `outcome` is how it ends with what was edited.
  render(outcome = "") {
    const words = (this.player.trace.meta.edits || []).map((edit) => message("edit.is", edit));
    setText(this.told, [...words, outcome].join(" ").trim());
    this.box.hidden = !this.told.textContent && !this.note.textContent;
  }

  // What was clicked: if it can be another, a line to type it in.
  async choose(what, name) {
    this.say("");
    if (!isValue(what)) return;
    const edits = await this.connect();
    if (edits === this) this.say(this.why);
    else edits.choose(what, name);
  }

  say(words) {
    setText(this.note, words);
    this.render();
  }
}

export function isValue(what) {
  return /^(node|edge|grad|value|entry \S+ (saved|attr))/.test(what);
}

export function isUndo(event) {
  return (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key === "z";
}

// The places where the page shows what was edited.
function editedPlaces({ meta, events, graph }) {
  const found = new Set();
  for (const { place } of meta.edits || []) {
    const [kind, id, key] = place.split(" ");
    found.add(kind === "waits" ? `waits ${id}` : place);
    if (kind === "waits" && key === "0") found.add(`grad ${id}`);
    if (kind !== "leaf") continue;
    const ends = events.flatMap(({ ins = [] }) => ins).filter(({ t }) => t === id);
    const nodes = new Set(ends.map(({ leaf }) => leaf));
    for (const part of (graph.pictures || []).flatMap(({ parts }) => parts)) {
      if (part.k === "leaf" ? nodes.has(part.n) : part.id.endsWith(`.data${id}`)) found.add(`value ${part.id} 0`);
    }
  }
  return found;
}

function markEdited(shape, is) {
  shape.classList.toggle("changed", is);
  const card = shape.querySelector("rect");
  if (!card) return;
  shape.querySelector(".pencil")?.remove();
  if (!is) return;
  const [x, y, height] = ["x", "y", "height"].map((name) => Number(card.getAttribute(name)));
  shape.append(svgElement("text", { class: "pencil", x: x - 9, y: y + height / 2 + 5 }, "✎"));
}
