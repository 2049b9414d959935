// What if a saved value, an attribute or a gradient were another at this step: a line to
// type it in where Python listens; else the line of Python that asks.

import { element } from "./dom.js";
import { message } from "./messages.js";

/** @typedef {import("./player.js").Player} Player */
/** @typedef {import("./types").Ref} Ref */
/** @typedef {import("./types").Trace} Trace */

/**
 * What can be another, as trace.what_if is told of it, and what it is now.
 * @typedef {{
 *   kind: string,
 *   key: string | number | null,
 *   ctx: string,
 *   ref: Ref,
 * }} Target
 */

const MOST_TYPED = 12; // numbers; of a larger array one element is typed

export class WhatIf {
  /** @param {Player} player */
  constructor(player) {
    this.player = player;
    this.box = element("form", "what-if");
    this.box.hidden = true;
    this.box.onsubmit = (event) => {
      event.preventDefault();
      this.ask();
    };
  }

  /**
   * What was clicked, if it can be another at this step.
   * @param {string} what @param {string} name
   */
  show(what, name) {
    const { player } = this;
    const foreign = (player.trace.meta.engines || []).includes("torch");
    this.target = player.options.side || foreign ? null : targetOf(player, what);
    const words = this.target && startText(player.trace, this.target.ref);
    this.box.hidden = !words;
    this.box.replaceChildren();
    if (!words) return;
    if (player.options.channel) this.showInput(name, words);
    else this.showLine(name, words);
  }

  hide() {
    this.box.hidden = true;
  }

  /** @param {string} name @param {string} words */
  showInput(name, words) {
    const label = element("label", "", message("what-if.were", { name }));
    this.input = element("input");
    this.input.type = "text";
    this.input.value = this.before = words;
    this.input.spellcheck = false;
    this.input.autocomplete = "off";
    label.append(this.input);
    const button = element("button", "", message("what-if.see"));
    button.type = "submit";
    this.problem = element("span", "problem");
    this.problem.setAttribute("role", "alert");
    this.box.append(label, button, this.problem);
  }

  /** @param {string} name @param {string} words */
  showLine(name, words) {
    const code = element("code", "", pythonLine(this.target, this.player.position, words));
    code.tabIndex = 0;
    const lead = element("span", "", message("what-if.in-python", { name }));
    this.box.append(lead, code, element("span", "note", message("what-if.kept")));
  }

  async ask() {
    const { player, target, input, before } = this;
    if (!player.options.channel) return;
    if (input.value.trim() === before) {
      this.complain(message("what-if.same"));
      return;
    }
    const { kind, key, ctx } = target;
    const content = { position: player.position, kind, key, ctx, text: input.value };
    player.pause();
    this.complain("");
    try {
      const comparison = await player.options.channel.ask("what-if", content);
      if (comparison) player.options.compare(comparison, input);
    } catch (error) {
      this.complain(error.message);
    }
  }

  /** @param {string} words */
  complain(words) {
    this.problem.textContent = words ? `⚠ ${words.replace(/^what_if: /, "")}` : "";
    this.input.setAttribute("aria-invalid", String(Boolean(words)));
  }
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
 * Which saved value, attribute or gradient of the step is meant by what was clicked.
 * @param {Player} player @param {string} what @returns {Target | null | undefined}
 */
function targetOf(player, what) {
  const event = player.story.events[player.position - 1];
  const state = player.story.stateAt(player.position);
  const [part, of, entry] = what.split(" ");
  if (part === "entry") {
    const ref = state.ctxs[of]?.[entry];
    const dot = entry.indexOf(".");
    const [kind, key] = [entry.slice(0, dot), entry.slice(dot + 1)];
    const ctx = of === atWork(player) ? "" : of;
    if (kind === "saved") {
      const kept = ref?.t === "S" ? ref : unpackedLater(player, of, Number(key));
      return kept && { kind, key: Number(key), ctx, ref: kept };
    }
    return kind === "attr" && ref ? { kind: "attributes", key, ctx, ref } : null;
  }
  const slots = {
    "node.enter": part === "node" && event?.n === of && event.g,
    grad: part === "edge" && event?.e === of && [event.g],
    "grad.accumulate": part === "grad" && event?.n === of && [event.new],
  }[event?.k];
  const there = (slots || []).flatMap(
    /** @param {Ref | null} ref @param {number} slot */
    (ref, slot) => (ref ? [{ ref, slot }] : [])
  );
  if (!there.length) return null;
  const { ref, slot } = there[Number(entry) || 0] || there[0];
  return { kind: "gradient", key: slots.length > 1 ? slot : null, ctx: "", ref };
}

/**
 * The ctx that Python means where none is named.
 * @param {Player} player
 */
function atWork(player) {
  const events = player.story.events.slice(0, player.position);
  return events.findLast((event) => event.cid !== undefined)?.cid;
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
  const text = (one) => pythonNumber(one, value.dtype);
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

/** @param {number | string} one @param {string} dtype */
function pythonNumber(one, dtype) {
  const text = String(one);
  return /^float/.test(dtype) && /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/**
 * The line of Python that asks the same.
 * @param {Target} target @param {number} position @param {string} words
 */
function pythonLine({ kind, key, ctx }, position, words) {
  // Of the only gradient too: an element would be taken for an output.
  const place = key === null && words.startsWith("{") ? 0 : key;
  const quoted = kind === "attributes" ? JSON.stringify(place) : place;
  const value = place === null ? words : `{${quoted}: ${words}}`;
  const name = kind === "gradient" || kind === "attributes" ? kind : "saved";
  const node = ctx ? `, node="${ctx}"` : "";
  return `trace.what_if(${position}, ${name}=${value}${node})`;
}
