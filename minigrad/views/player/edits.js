// Values that are edited: typed or dragged, where Python can run the program again. The
// new run takes the place of the one before; what differs from the original glows.

import { textButton } from "./controls.js";
import { Differences, editedPlaces, keyOfData } from "./differences.js";
import { element, setText, svgElement } from "./dom.js";
import { message } from "./messages.js";

/** @typedef {import("./channel.js").Channel} Channel */
/** @typedef {import("./player.js").Player} Player */
/** @typedef {import("./types").Part} Part */
/** @typedef {import("./types").PlayerOptions} PlayerOptions */
/** @typedef {import("./types").Ref} Ref */
/** @typedef {import("./types").Trace} Trace */
/** @typedef {import("./types").View} View */

/**
 * What can be another, as Python is told of it, and what it is now.
 * @typedef {{
 *   kind: string,
 *   key: string | number | null,
 *   ctx: string,
 *   position: number,
 *   ref: Ref,
 * }} Target
 */
/** @typedef {{ what: string, text: string } & Omit<Target, "ref">} Edit */
/** @typedef {{ edits: Edit[], trace: Trace, say: string }} Run */

const MOST_TYPED = 12; // numbers; of a larger array one element is typed
const SAYS_NOTHING_AFTER = 8000; // ms
const SLACK = 4; // px that a click may move
const PER_STEP = 3; // px of a drag

export class Edits {
  /** @param {Trace} trace @param {PlayerOptions} options */
  constructor(trace, options) {
    this.python = options.python;
    this.box = element("section", "edits");
    this.box.setAttribute("aria-label", message("edit.name"));
    this.told = element("p", "told");
    this.told.setAttribute("role", "status");
    this.undoing = textButton(message("edit.undo"), message("edit.undo"), message("edit.key"), () => this.undo());
    this.ending = textButton(message("edit.end"), message("edit.end"), "", () => this.undo(1));
    this.form = element("form");
    this.form.onsubmit = (event) => {
      event.preventDefault();
      this.type(this.input.value, null);
    };
    this.note = element("p", "note");
    this.note.setAttribute("role", "alert");
    this.badge = element("button", "badge", message("edit.badge"));
    this.badge.type = "button";
    this.badge.title = message("button.with-key", { label: message("edit.undo"), key: message("edit.key") });
    this.badge.onclick = () => this.undo();
    const buttons = element("span", "ways");
    buttons.append(this.undoing, this.ending);
    this.box.append(this.told, buttons, this.form, this.note);
    this.box.addEventListener("keydown", (event) => {
      if (isUndo(event) && event.target !== this.input) this.undo(), event.preventDefault();
      if (event.key === "Escape") this.player.root.focus({ preventScroll: true }), this.choose("", "");
    });
    this.start(trace);
  }

  /**
   * The run that all edits are made from.
   * @param {Trace} trace
   */
  start(trace) {
    /** @type {Run[]} */
    this.runs = [{ edits: [], trace, say: "" }];
    this.original = null;
    this.gesture = null;
    this.asked ||= 0;
    this.shown = this.asked + 1; // the first question whose answer may be shown
    this.what = "";
    this.render();
  }

  get isOpen() {
    return this.runs.length > 1 || !this.form.hidden;
  }

  /** @param {Player} player */
  belongTo(player) {
    this.player = player;
    const { root, story, trace } = player;
    if (!this.box.isConnected) root.after(this.box);
    if (trace === this.runs[0].trace) this.original = story;
    this.differences = this.runs.length > 1 && this.original ? new Differences(this.original, story) : null;
    this.edited = editedPlaces(trace);
    root.classList.toggle("edited", Boolean(this.differences));
    player.sentence.append(this.badge);
    player.graph.grab = (event) => this.grab(event);
    player.graph.drew = () => player.view && this.mark(player.view);
    if (this.python) this.connect();
    this.render();
  }

  // Whether Python listens, and can run this program again: if not, why.
  async connect() {
    if (this.channel) return this.channel;
    const found = this.python && (await this.python());
    this.why = found ? found.why : message(parent === window ? "edit.saved" : "edit.alone");
    if (!found || found.why) return null;
    this.channel = found.channel;
    this.player.root.classList.add("listens");
    return this.channel;
  }

  /** @param {View} view */
  mark(view) {
    this.differences?.mark(this.player.root, view);
    if (!this.edited.size) return;
    for (const shape of this.player.root.querySelectorAll("[data-place]")) {
      const is = this.edited.has(shape.dataset.place);
      if (is !== shape.classList.contains("changed")) markEdited(shape, is);
    }
  }

  render() {
    const { meta } = this.runs.at(-1).trace;
    const words = (meta.edits || []).map((/** @type {any} */ edit) => message("edit.is", edit));
    setText(this.told, [...words, this.runs.at(-1).say].join(" ").trim());
    const count = this.runs.length - 1;
    this.badge.hidden = this.undoing.hidden = !count;
    this.ending.hidden = count < 2;
    if (!this.what) this.form.hidden = true;
    this.box.hidden = this.form.hidden && !this.told.textContent && !this.note.textContent;
  }

  /**
   * What was clicked: if it can be another, a line to type it in.
   * @param {string} what @param {string} name
   */
  async choose(what, name) {
    const target = what && targetOf(this.player, what);
    const words = target && startText(this.player.trace, target.ref);
    this.what = words ? what : "";
    this.form.hidden = true;
    this.say("");
    if (!words) return;
    const listens = await this.connect();
    if (this.what !== what) return;
    if (listens) this.fillForm(name, words, target.ref);
    this.say(listens ? "" : this.why);
  }

  /** @param {string} name @param {string} words @param {Ref} ref */
  fillForm(name, words, ref) {
    const label = element("label", "", name);
    this.input = element("input");
    Object.assign(this.input, { type: "text", value: words, spellcheck: false, autocomplete: "off" });
    label.append(this.input);
    this.form.replaceChildren(label);
    const start = scalarOf(this.player.trace, ref);
    if (start !== null) {
      const [slider, most, step] = [element("input"), 2 * Math.abs(start) || 1, stepOf(start)];
      Object.assign(slider, { type: "range", min: -most, max: most, step, value: start });
      slider.setAttribute("aria-label", message("edit.slider", { name }));
      let gesture = {};
      slider.oninput = () => this.type((this.input.value = numberText(Number(slider.value), ref, this.player.trace)), gesture);
      slider.onchange = () => (gesture = {});
      this.input.oninput = () => (slider.value = this.input.value);
      this.form.append(slider);
    }
    this.form.hidden = false;
  }

  /** @param {string} words */
  say(words) {
    setText(this.note, words);
    this.input?.setAttribute("aria-invalid", String(Boolean(words)));
    this.render();
  }

  /** @param {string} text @param {object | null} gesture */
  type(text, gesture) {
    this.set(this.what, targetOf(this.player, this.what), text, gesture);
  }

  /**
   * Runs the program with another value. What belongs to one gesture is one edit; the
   * newest value of what was edited last takes the place of the one before.
   * @param {string} what @param {Target | null} target @param {string} text
   * @param {object | null} gesture
   */
  async set(what, target, text, gesture) {
    const goesOn = gesture !== null && gesture === this.gesture;
    const { edits } = this.runs.at(goesOn ? -2 : -1);
    const last = edits.at(-1);
    if (last?.what !== what && !target) return this.say(message("edit.not-here"));
    const { ref, ...rest } = target || {};
    const next = last?.what === what ? [...edits.slice(0, -1), { ...last, text }] : [...edits, { what, text, ...rest }];
    const number = (this.asked += 1);
    const silent = setTimeout(() => this.say(message("edit.silent")), SAYS_NOTHING_AFTER);
    this.player.pause();
    try {
      const answer = await this.channel.ask("edit", { edits: next });
      if (!answer || number < this.shown) return;
      if (gesture !== null && gesture === this.gesture) this.runs.pop();
      this.gesture = gesture;
      this.runs.push({ edits: next, ...answer });
      this.say("");
      this.show();
    } catch (error) {
      this.say(`⚠ ${error.message.replace(/^what_if: /, "")}`);
    } finally {
      clearTimeout(silent);
    }
  }

  /**
   * Back to the run before the newest edit, or to a run by its number.
   * @param {number} keep
   */
  undo(keep = this.runs.length - 1) {
    if (this.runs.length < 2) return;
    this.runs.length = keep;
    this.gesture = null;
    this.shown = this.asked + 1;
    this.say("");
    this.show();
  }

  show() {
    this.player.succeed(this.runs.at(-1).trace);
    if (!this.what || document.activeElement?.closest(".edits form")) return;
    const target = targetOf(this.player, this.what);
    if (target && this.input) this.input.value = startText(this.player.trace, target.ref);
  }

  /**
   * A number of the picture is dragged to the side; whether it is one.
   * @param {PointerEvent} event
   */
  grab(event) {
    const { player } = this;
    const under = document.elementsFromPoint(event.clientX, event.clientY);
    const place = under.map((one) => one.closest("[data-place]")).find(Boolean)?.dataset.place;
    const target = this.channel && place && targetOf(player, place);
    const start = target ? scalarOf(player.trace, target.ref) : null;
    if (start === null) return false;
    const { root, trace } = player;
    const [step, gesture, listening] = [stepOf(start), {}, new AbortController()];
    let now = start;
    root.addEventListener("pointermove", ({ clientX }) => {
      const by = clientX - event.clientX;
      if (now === start && Math.abs(by) < SLACK) return;
      this.player.graph.dragged = true;
      root.setPointerCapture(event.pointerId);
      const next = Number((start + Math.round(by / PER_STEP) * step).toPrecision(6));
      if (next !== now) this.set(place, target, numberText((now = next), target.ref, trace), gesture);
    }, { signal: listening.signal });
    for (const end of ["pointerup", "pointercancel"]) {
      root.addEventListener(end, () => listening.abort(), { signal: listening.signal });
    }
    return true;
  }
}

/** @param {KeyboardEvent} event */
export function isUndo(event) {
  return (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key === "z";
}

/** @param {Element} shape @param {boolean} is */
function markEdited(shape, is) {
  shape.classList.toggle("changed", is);
  const card = shape.querySelector("rect");
  if (!card) return;
  shape.querySelector(".pencil")?.remove();
  if (!is) return;
  const [x, y] = ["x", "y"].map((name) => Number(card.getAttribute(name)));
  const pencil = svgElement("text", { class: "pencil", x: x + 2, y: y + 2 });
  pencil.textContent = "✎";
  shape.append(pencil);
}

/**
 * What a hook, or a checkpoint, makes later of a value that is kept packed.
 * @param {Player} player
 * @param {string} ctx
 * @param {number} place
 * @returns {Ref | undefined}
 */
function unpackedLater({ story, position }, ctx, place) {
  const { node } = story.ctxs[ctx] || {};
  const later = story.events.slice(position);
  const read = later.find((one) => one.k === "hook.unpack" && one.n === node && one.place === place);
  return read?.new;
}

/**
 * Which leaf, saved value, attribute or gradient is meant by what was clicked or grabbed.
 * @param {Player} player @param {string} what @returns {Target | null}
 */
function targetOf(player, what) {
  const { story, position } = player;
  const [kind, id, key] = what.split(" ");
  if (kind === "entry") return entryOf(player, id, key);
  const part = kind === "value" && partOf(player.trace, id);
  const node = part ? part.n : id;
  if (part?.k === "data" || story.nodes[node]?.kind === "accumulate" && /node|value/.test(kind)) {
    const given = story.events.flatMap(({ ins = [] }) => ins);
    const one = given.find(({ t, leaf }) => (part?.k === "data" ? t === keyOfData(part) : leaf === node));
    return one?.v ? { kind: "leaf", key: one.t, ctx: "", position: 0, ref: one.v } : null;
  }
  return kind === "value" ? null : gradientOf(story.events, position, kind, id, Number(key) || 0);
}

/** @param {Trace} trace @param {string} id */
function partOf({ graph }, id) {
  return (graph.pictures || []).flatMap(({ parts }) => parts).find((one) => one.id === id);
}

/**
 * @param {Player} player @param {string} ctx @param {string} entry
 * @returns {Target | null}
 */
function entryOf(player, ctx, entry) {
  const { position, story } = player;
  const ref = story.stateAt(position).ctxs[ctx]?.[entry];
  const dot = entry.indexOf(".");
  const [kind, key] = [entry.slice(0, dot), entry.slice(dot + 1)];
  if (kind === "saved") {
    const kept = ref?.t === "S" ? ref : unpackedLater(player, ctx, Number(key));
    return kept ? { kind, key: Number(key), ctx, position, ref: kept } : null;
  }
  return kind === "attr" && ref ? { kind: "attributes", key, ctx, position, ref } : null;
}

/**
 * The newest gradient that was told of a node, an edge or a `.grad`.
 * @param {import("./types").Event[]} events @param {number} position
 * @param {string} kind @param {string} id @param {number} slot
 * @returns {Target | null}
 */
function gradientOf(events, position, kind, id, slot) {
  const kinds = { edge: ["grad"], grad: ["grad.accumulate", "grad"] }[kind] || ["node.enter", "grad", "backward.begin"];
  for (let at = position; at > 0; at--) {
    const event = events[at - 1];
    const root = (event.roots || []).findIndex(({ n }) => n === id);
    const isIt = kind === "edge" ? event.e === id : event.n === id || root >= 0;
    if (!isIt || !kinds.includes(event.k)) continue;
    const several = { "node.enter": event.g, "backward.begin": (event.roots || []).map(({ g }) => g) }[event.k];
    const place = root >= 0 ? root : slot;
    const ref = several ? several[place] : event.k === "grad" ? event.g : event.new;
    return ref ? { kind: "gradient", key: several ? place : 0, ctx: "", position: at, ref } : null;
  }
  return null;
}

/**
 * The number that a value is, if it is one alone.
 * @param {Trace} trace @param {Ref} ref
 */
function scalarOf(trace, ref) {
  const value = trace.values[ref.v];
  const one = value && !value.shape.length ? value.rows[0][0] : ref.t === "P" && ref.r !== "" ? Number(ref.r) : NaN;
  return typeof one === "number" && Number.isFinite(one) ? one : null;
}

/**
 * A value as one would type it; nothing for what cannot be typed.
 * @param {Trace} trace @param {Ref} ref
 */
function startText(trace, ref) {
  if (ref.t === "P") return /^[<(]/.test(ref.r) ? "" : ref.r;
  const value = ref.v && trace.values[ref.v];
  const numbers = value?.rows.flat() || [];
  if (!numbers.length || !numbers.every(Number.isFinite)) return "";
  /** @param {number | string} one */
  const text = (one) => numberText(one, ref, trace);
  if (!value.shape.length) return text(numbers[0]);
  const count = value.shape.reduce((a, b) => a * b, 1);
  if (count > MOST_TYPED || value.cut) {
    const place = value.shape.map(() => 0).join(", ");
    const key = value.shape.length > 1 ? `(${place})` : place;
    return `{${key}: ${text(numbers[0])}}`;
  }
  let parts = numbers.map(text);
  for (const length of value.shape.slice(1).reverse()) {
    const starts = parts.flatMap((_, at) => (at % length ? [] : [at]));
    parts = starts.map((at) => listed(parts.slice(at, at + length)));
  }
  return listed(parts);
}

/** @param {string[]} parts */
function listed(parts) {
  return `[${parts.join(", ")}]`;
}

/**
 * A number as Python writes one of this kind.
 * @param {number | string} one @param {Ref} ref @param {Trace} trace
 */
function numberText(one, ref, trace) {
  const isFloat = ref.t === "P" ? !/^-?\d+$/.test(ref.r) : /^float/.test(trace.values[ref.v].dtype);
  const text = String(one);
  return isFloat && /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/**
 * A round hundredth of a number; of a whole one a tenth, at most 1.
 * @param {number} number
 */
function stepOf(number) {
  const size = Math.abs(number) || 1;
  return Number(`1e${Math.floor(Math.log10(size)) - 1}`);
}
