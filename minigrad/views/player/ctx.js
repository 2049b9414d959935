// The ctx pane: what the ctx at work holds, what moves, and the locals.

import { element, pane, rove, setChildren, setText, tells } from "./dom.js";
import { message, wordFor } from "./messages.js";
import { isMeant, keyLabel, keyRank, valueView } from "./values.js";

/** @typedef {import("./inspector.js").Inspector} Inspector */
/** @typedef {import("./story.js").Story} Story */
/** @typedef {import("./types").Advice} Advice */
/** @typedef {import("./types").Choose} Choose */
/** @typedef {import("./types").Event} Event */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Ref} Ref */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Trace} Trace */
/** @typedef {import("./types").View} View */
/** @typedef {import("./values.js").Ask} Ask */

/** @typedef {State["ctxs"][string] | undefined} Entries */

export class CtxPane {
  /** @type {HTMLElement} */
  box;
  /** @type {HTMLElement} */
  body;
  /** @type {HTMLElement} */
  title;
  /** @type {HTMLElement} */
  note;
  /** @type {string | null | undefined} */
  pinned; // the ctx that was selected; else it is that at work

  /**
   * @param {Trace} trace
   * @param {Story} story
   * @param {Inspector} inspector
   * @param {Choose} choose
   * @param {(node: string, slot: number, cell: number[]) => void} ask
   */
  constructor(trace, story, inspector, choose, ask) {
    this.trace = trace;
    this.story = story;
    this.inspector = inspector;
    this.choose = choose;
    this.ask = ask;
    Object.assign(this, pane("ctx", message("ctx.name")));
    this.advice = element("div", "advice");
    this.table = element("dl", "entries");
    this.empty = element("p", "empty");
    this.cue = element("span", "cue");
    this.moving = element("div", "moving");
    this.locals = element("details", "locals");
    this.locals.open = true;
    this.summary = element("summary");
    this.localsTable = element("dl", "entries");
    this.locals.append(this.summary, this.localsTable);
    this.body.append(this.advice, this.moving, this.empty, this.table, this.locals);
    /** @type {Map<string, {ref: Ref | null, more: string, row: HTMLElement}>} */
    this.rows = new Map(); // what -> the row of an entry or a local
    rove(this.body, ".entry");
    this.makesSome = trace.events.some((event) => event.k === "ctx.new");
  }

  /**
   * What has changed is made anew: if it has the focus, it keeps it.
   * @param {View} view
   */
  show(view) {
    const focused = this.body.contains(document.activeElement);
    const what = focused ? document.activeElement.dataset.what : null;
    this.render(view);
    if (!what) return;
    const entries = [...this.body.querySelectorAll(".entry")];
    const same = entries.find((entry) => entry.dataset.what === what);
    (same || this.body).focus({ preventScroll: true });
  }

  /** @param {View} view */
  render(view) {
    const { event, changes, cue, level } = view;
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
      const lines = this.inspector.linesOf(state.cid, key, entries[key], view);
      const row = this.rowOf(what, keyLabel(key), entries[key], changed, cue, lines);
      row.dataset.key = key;
      return row;
    });
    setChildren(this.table, rows);
    this.showAdvice(state.advice[event?.k === "lint" ? event.cid ?? "" : state.cid] || [], event);
    this.showMoving(event);
    this.showLocals(state, changes, cue, level);
    this.showCue(cue, entries);
    for (const [what, { row }] of this.rows) if (!row.isConnected) this.rows.delete(what);
  }

  // What moves, and a change, would go unseen below the fold.
  measure() {
    const moving = this.moving.hidden ? null : this.moving;
    const row = this.body.querySelector(".cued") || moving || this.body.querySelector(".flash");
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

  /**
   * Where no entry is meant, the cue is the gradient on its way or the ctx itself.
   * @param {string | null} cue @param {Entries} entries
   */
  showCue(cue, entries) {
    this.cue.hidden = !cue || this.body.querySelector(".cued") !== null;
    setText(this.cue, cue || "");
    if (!this.moving.hidden) this.moving.querySelector("h3").append(this.cue);
    else if (!entries) this.cue.hidden = true;
    else if (this.title.nextSibling !== this.cue) this.title.after(this.cue);
  }

  /** @param {State} state @param {Event | null} event @param {Entries} entries */
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

  /**
   * A row that would be the same again stays: a step changes few of them.
   * @param {string} what
   * @param {string} label
   * @param {Ref | null} ref
   * @param {boolean} changed
   * @param {string | null} cue
   * @param {string[]} lines
   */
  rowOf(what, label, ref, changed, cue, lines = []) {
    const more = lines.join("\n");
    let known = this.rows.get(what);
    if (known?.ref !== ref || known.more !== more) {
      known = { ref, more, row: this.makeRow(what, label, ref, lines) };
      this.rows.set(what, known);
    }
    known.row.classList.toggle("flash", changed);
    known.row.classList.toggle("cued", isMeant(cue, label));
    return known.row;
  }

  /**
   * @param {string} what
   * @param {string} label
   * @param {Ref | null} ref
   * @param {string[]} lines
   */
  makeRow(what, label, ref, lines) {
    const row = element("div", "row");
    const name = element("dt");
    const entry = element("button", "entry", label);
    entry.type = "button";
    entry.dataset.what = what;
    entry.onclick = () => this.choose(what, label);
    tells(entry, () => ({ title: label, ref }));
    name.append(entry);
    const value = element("dd");
    value.append(valueView(this.trace, ref, label));
    value.onclick = () => {
      if (getSelection().isCollapsed) this.choose(what, label); // as its label does
    };
    row.append(name, value);
    if (!lines.length) return row;
    const more = element("dd", "more");
    more.append(...lines.map((line) => element("p", "", line)));
    row.append(more);
    return row;
  }

  /**
   * What teaching mode has said of this ctx, with the line that is meant.
   * @param {Advice[]} found @param {Event | null} event
   */
  showAdvice(found, event) {
    this.advice.replaceChildren();
    for (const { what, rest, line } of found) {
      const box = element("div", event?.advice?.what === what ? "piece flash" : "piece");
      box.append(element("p", "warn", message("advice.what", { what })));
      if (line) {
        const [at, text] = line;
        box.append(element("code", "", message("advice.line", { number: at, text })));
      }
      box.append(...rest.map((words) => element("p", "", words)));
      this.advice.append(box);
    }
    this.advice.hidden = !found.length;
  }

  /**
   * Of a gradient: what leads to its steps, and to what it might be instead.
   * @param {string} words @param {string | null} what
   */
  headOf(words, what) {
    const head = element("h3");
    if (!what) {
      head.textContent = words;
      return head;
    }
    const entry = element("button", "entry", words);
    entry.type = "button";
    entry.dataset.what = what;
    entry.onclick = () => this.choose(what, words);
    head.append(entry);
    return head;
  }

  /** @param {Event | null} event */
  showMoving(event) {
    this.moving.replaceChildren();
    /**
     * @param {string} words
     * @param {Ref | null} ref
     * @param {number | null} slot of a gradient whose numbers can be asked
     * @param {string | null} what leads to its steps
     */
    const add = (words, ref, slot = null, what = null) => {
      /** @type {Ask | null} */
      const ask = slot === null ? null : (cell) => this.ask(event.n, slot, cell);
      this.moving.append(this.headOf(words, what), valueView(this.trace, ref, "", ask));
    };
    if (event?.k === "grad") {
      const slot = event.slot || 0;
      add(message("gradient.on-edge"), event.g, slot, `edge ${event.e}`);
      const sum = event.total && event.total.v !== event.g?.v;
      if (sum) add(message("gradient.together"), event.total, slot);
    } else if (event?.k === "node.enter") {
      /** @type {(Ref | null)[]} */
      (event.g || []).forEach((gradient, slot) => {
        const one = event.g.length === 1;
        const words = message(one ? "gradient.waited" : "gradient.waited.slot", { slot });
        if (gradient) add(words, gradient, slot, `node ${event.n} ${slot}`);
      });
    } else if (event?.k === "grad.accumulate") {
      const tensor = this.story.nodes[event.n]?.tensor || message("tensor.unnamed");
      if (event.old) add(message("gradient.before", { tensor }), event.old);
      add(message("gradient.now", { tensor }), event.new, 0, `grad ${event.n}`);
    } else if (event?.k === "what.if" && !event.ctx) {
      add(message("what-if.was"), event.old);
      add(message("what-if.now"), event.new);
    } else if (event?.k.startsWith("hook.")) {
      add(message("gradient.given"), event.g);
      if (event.new) add(message("gradient.hooked"), event.new);
    } else if (event?.k === "tangent") {
      add(message("tangent.value"), event.t);
      add(message("tangent.of"), event.g);
    } else if (event?.k === "inplace") {
      add(message("tensor.changed"), event.t);
    } else if (event?.k === "grad.captured") {
      add(message("gradient.on-edge"), event.g, event.slot || 0);
    }
    this.moving.hidden = !this.moving.childElementCount;
  }

  /**
   * The engine's own variables are shown only to those who follow the engine's lines.
   * @param {State} state
   * @param {View["changes"]} changes
   * @param {string | null} cue
   * @param {number} level
   */
  showLocals(state, changes, cue, level) {
    const frame = state.stack.at(-1);
    const engine = frame && this.story.isEngine(frame.s);
    const names = engine && level < 3 ? [] : Object.keys(frame?.locals || {});
    this.locals.hidden = !names.length;
    const rows = names.map((name) => {
      const changed = changes.locals.has(name);
      return this.rowOf(`local ${frame.s} ${name}`, name, frame.locals[name], changed, cue);
    });
    setChildren(this.localsTable, rows);
    if (!names.length) return;
    const of = wordFor(this.trace.sources[frame.s].name);
    const number = this.trace.sources[frame.s].first + frame.l;
    setText(this.summary, message(localsWords(frame), { function: of, number }));
  }
}

/**
 * Of which moment the locals are: a line that is marked has not set its own yet.
 * @param {Frame} frame
 */
function localsWords(frame) {
  if (frame.failed) return "ctx.locals.failed";
  if (frame.over) return "ctx.locals.end";
  return frame.begun ? "ctx.locals" : "ctx.locals.start";
}
