// The ctx pane: what the ctx at work holds, what moves, and the locals.

import { iconButton } from "./controls.js";
import { Pane, element, rove, setChildren, setText, tells } from "./dom.js";
import { linesOfEntry } from "./inspector.js";
import { message, wordFor } from "./messages.js";
import { keyLabel, keyRank, valueView } from "./values.js";

export class CtxPane extends Pane {
  pinned; // the ctx that was selected; else it is that at work

  constructor(player) {
    super("ctx", message("ctx.name"));
    this.player = player;
    const { trace, story } = player;
    Object.assign(this, { trace, story });
    this.head.append(iconButton("close", message("ctx.close"), "c", () => player.inspect(false)));
    this.advice = element("div", "advice");
    this.table = element("dl", "entries");
    this.empty = element("p", "empty");
    this.summary = element("summary");
    this.localsTable = element("dl", "entries");
    this.locals = element("details", { className: "locals", open: true }, this.summary, this.localsTable);
    this.body.append(this.advice, this.empty, this.table, this.locals);
    this.rows = new Map(); // what -> the row of an entry or a local
    rove(this.body, ".entry");
    this.makesSome = trace.events.some((event) => event.k === "ctx.new");
  }

  // What has changed is made anew: if it has the focus, it keeps it.
  show(view) {
    if (!this.player.root.classList.contains("inspecting")) return;
    const focused = this.body.contains(document.activeElement);
    const what = focused ? document.activeElement.dataset.what : null;
    this.render(view);
    if (!what) return;
    const entries = [...this.body.querySelectorAll(".entry")];
    const same = entries.find((entry) => entry.dataset.what === what);
    (same || this.body).focus({ preventScroll: true });
  }

  render(view) {
    const { event, changes, level } = view;
    const state = this.pinned ? { ...view.state, cid: this.pinned } : view.state;
    const ctx = this.story.ctxs[state.cid];
    const entries = state.ctxs[state.cid];
    this.box.dataset.ctx = entries ? state.cid : "";
    setText(this.note, ctx ? ctx.name : "");
    setText(this.title, ctx ? message("ctx.of", { function: ctx.function }) : message("ctx.name"));
    setText(this.empty, this.emptyWords(state, event, entries));
    this.empty.hidden = !this.empty.textContent;
    const keys = Object.keys(entries || {});
    keys.sort((a, b) => keyRank(a) - keyRank(b) || a.localeCompare(b, "en", { numeric: true }));
    const rows = keys.map((key) => {
      const changed = changes.ctx.has(`${state.cid} ${key}`);
      const what = `entry ${state.cid} ${key}`;
      const lines = linesOfEntry(this.player, state.cid, key, entries[key], view);
      const row = this.rowOf(what, keyLabel(key), entries[key], changed, lines);
      row.dataset.key = key;
      return row;
    });
    setChildren(this.table, rows);
    this.showAdvice(state.advice[event?.k === "lint" ? event.cid ?? "" : state.cid] || [], event);
    this.showLocals(state, changes, level);
    for (const [what, { row }] of this.rows) if (!row.isConnected) this.rows.delete(what);
  }

  // A change would go unseen below the fold.
  measure() {
    const row = this.body.querySelector(".flash");
    if (!row) return;
    const place = row.getBoundingClientRect();
    const pane = this.body.getBoundingClientRect();
    if (place.top < pane.top) this.body.scrollTop -= pane.top - place.top + 8;
    if (place.bottom <= pane.bottom) return;
    const below = place.bottom - pane.bottom;
    const tops = Array.from(this.rows.values(), (one) => one.row.getBoundingClientRect().top);
    const whole = tops.map((top) => top - pane.top).filter((top) => top >= below);
    this.body.scrollTop += Math.min(...whole, place.top - pane.top);
  }

  emptyWords(state, event, entries) {
    if (entries) {
      const saved = Object.keys(entries).some((key) => key.startsWith("saved."));
      return saved ? "" : message("ctx.nothing-saved");
    }
    if (state.cid) return message("ctx.unrecorded");
    const node = this.story.nodes[event?.n];
    if (node?.kind === "accumulate") {
      const tensor = node.tensor || message("its-tensor.unnamed");
      return message("ctx.leaf", { tensor });
    }
    // Where backward alone was recorded, apply had made them before.
    const stillToCome = !Object.keys(state.ctxs).length && this.makesSome;
    return message(stillToCome ? "ctx.not-yet" : "ctx.none");
  }

  // A row that would be the same again stays: a step changes few of them.
  rowOf(what, label, ref, changed, lines = []) {
    const more = lines.join("\n");
    let known = this.rows.get(what);
    if (known?.ref !== ref || known.more !== more) {
      known = { ref, more, row: this.makeRow(what, label, ref, lines) };
      this.rows.set(what, known);
    }
    known.row.classList.toggle("flash", changed);
    return known.row;
  }

  makeRow(what, label, ref, lines) {
    const choose = () => this.player.choose(what, label);
    const entry = element("button", { className: "entry", onclick: choose }, label);
    entry.dataset.what = what;
    tells(entry, () => ({ title: label, ref }));
    const value = element("dd", {}, valueView(this.trace, ref, label));
    value.addEventListener("click", () => getSelection().isCollapsed && choose()); // as its label does
    const row = element("div", "row", element("dt", {}, entry), value);
    row.dataset.place = what;
    if (lines.length) row.append(element("dd", "more", ...lines.map((line) => element("p", "", line))));
    return row;
  }

  // What teaching mode has said of this ctx, with the line that is meant.
  showAdvice(found, event) {
    const pieces = found.map(({ what, rest, line }) => {
      const said = element("p", "warn", message("advice.what", { what }));
      const code = line && element("code", "", message("advice.line", { number: line[0], text: line[1] }));
      const kind = event?.advice?.what === what ? "piece flash" : "piece";
      return element("div", kind, said, code, ...rest.map((words) => element("p", "", words)));
    });
    this.advice.replaceChildren(...pieces);
    this.advice.hidden = !found.length;
  }

  // The engine's own variables are shown only to those who follow the engine's lines.
  showLocals(state, changes, level) {
    const frame = state.stack.at(-1);
    const engine = frame && this.story.isEngine(frame.s);
    const names = engine && level < 3 ? [] : Object.keys(frame?.locals || {});
    this.locals.hidden = !names.length;
    const rows = names.map((name) => {
      const changed = changes.locals.has(name);
      return this.rowOf(`local ${frame.s} ${name}`, name, frame.locals[name], changed);
    });
    setChildren(this.localsTable, rows);
    if (!names.length) return;
    const of = wordFor(this.trace.sources[frame.s].name);
    const number = this.trace.sources[frame.s].first + frame.l;
    setText(this.summary, message(localsWords(frame), { function: of, number }));
  }
}

// Of which moment the locals are: a line that is marked has not set its own yet.
function localsWords(frame) {
  if (frame.failed) return "ctx.locals.failed";
  if (frame.over) return "ctx.locals.end";
  return frame.begun ? "ctx.locals" : "ctx.locals.start";
}
