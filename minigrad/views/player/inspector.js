// What is told of an entry of ctx beside its value: what it was, whose its memory is,
// when it was let go; what flags mean.

import { message, wordFor } from "./messages.js";
import { brief, bytesWords } from "./values.js";

/** @typedef {import("./memory.js").Memory} Memory */
/** @typedef {import("./steps.js").StepIndex} StepIndex */
/** @typedef {import("./story.js").Story} Story */
/** @typedef {import("./types").Ref} Ref */
/** @typedef {import("./types").Trace} Trace */
/** @typedef {import("./types").View} View */

export class Inspector {
  /**
   * @param {Trace} trace
   * @param {Story} story
   * @param {StepIndex} index
   * @param {Memory} memory
   * @param {(position: number) => number} stopAt
   */
  constructor(trace, story, index, memory, stopAt) {
    this.trace = trace;
    this.story = story;
    this.index = index;
    this.memory = memory;
    this.stopAt = stopAt;
  }

  /**
   * The lines below an entry; `since` is where the step before stood.
   * @param {string} cid @param {string} key @param {Ref | null} ref @param {View} view
   */
  linesOf(cid, key, ref, view) {
    const lines = [];
    const before = this.index.last(`entry ${cid} ${key}`, view.since);
    if (view.changes.ctx.has(`${cid} ${key}`) && before && !before.gone) {
      const change = { old: brief(this.trace, before.ref), new: brief(this.trace, ref) };
      if (change.old !== change.new) lines.push(message("entry.changed", change));
    }
    if (key === "needs_input_grad") lines.push(...this.needsLines(cid, ref));
    if (key.startsWith("flag.")) lines.push(message(`entry.${key}`));
    if (ref?.fn) lines.push(message("entry.made-by", { node: ref.fn }));
    return [...lines, ...this.memoryLines(cid, key, view.position)];
  }

  /** @param {string} cid @param {string} key @param {number} position */
  memoryLines(cid, key, position) {
    const owner = this.story.ctxs[cid]?.node;
    const item = owner && this.memory.itemOf(owner, key, position);
    if (!item) return [];
    const bytes = bytesWords(item.bytes);
    if (item.until <= position) {
      const fields = { bytes, step: this.stopAt(item.until), by: wordFor(item.by) };
      return [message("entry.let-go", fields)];
    }
    const lines = [message("entry.keeps", { bytes, step: this.stopAt(item.at) })];
    const others = this.memory.sharing(item, position).join(", ");
    if (others) lines.push(message("entry.shared", { others }));
    return lines;
  }

  /**
   * Which arguments of forward need a gradient, by their names where they are known.
   * @param {string} cid @param {Ref | null} ref
   */
  needsLines(cid, ref) {
    const needs = brief(this.trace, ref).match(/True|False/g) || [];
    const names = this.argumentsOf(cid);
    const words = needs.map((need, place) => {
      const name = argumentAt(names, place) || message("entry.argument", { place });
      return message(need === "True" ? "entry.needs" : "entry.needs-not", { name });
    });
    return words.length ? [words.join("; ")] : [];
  }

  /**
   * A forward may be that of another class: it is known by its call, else by its name.
   * @this {Inspector & {forwards?: Map<string, number>}}
   * @param {string} cid @returns {string[]}
   */
  argumentsOf(cid) {
    const { sources } = this.trace;
    this.forwards ||= forwardsOf(this.trace);
    const name = `${this.story.ctxs[cid]?.function}.forward`;
    const source = sources[this.forwards.get(cid)] || sources.find((one) => one.name === name);
    const text = (source?.tokens || []).flat().map(([, part]) => part).join("");
    const names = parametersIn(text.split("def forward(")[1] || "");
    return names[0] === "ctx" ? names.slice(1) : names;
  }
}

/**
 * The names of parameters, of which the types and defaults may have commas, too.
 * @param {string} text
 */
function parametersIn(text) {
  const listed = [""];
  let depth = 0;
  for (const char of text) {
    if ("([{".includes(char)) depth += 1;
    else if (")]}".includes(char) && depth-- === 0) break;
    if (char === "," && depth === 0) listed.push("");
    else listed[listed.length - 1] += char;
  }
  return listed.map((one) => one.split(/[:=]/)[0].trim());
}

/**
 * For each ctx the number of the source that its forward has run.
 * @param {Trace} trace @returns {Map<string, number>}
 */
function forwardsOf({ events, sources }) {
  const found = new Map();
  for (const { k, cid, s } of events) {
    const isForward = k === "call" && sources[s]?.name.endsWith(".forward");
    if (isForward && !found.has(cid)) found.set(cid, s);
  }
  return found;
}

/**
 * Those that come in a *list are told apart by their places in it.
 * @param {string[]} names @param {number} place @returns {string | undefined}
 */
function argumentAt(names, place) {
  const list = names.findIndex((name) => name.startsWith("*"));
  if (list < 0 || place < list) return names[place];
  return `${names[list].slice(1)}[${place - list}]`;
}
