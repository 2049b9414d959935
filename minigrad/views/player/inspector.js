// What is told of an entry of ctx beside its value: what it was, whose its memory is,
// when it was let go; what flags mean.

import { message, wordFor } from "./messages.js";
import { brief, bytesWords } from "./values.js";

export class Inspector {
  /**
   * @param {Trace} trace @param {Story} story @param {StepIndex} index @param {Memory} memory
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
   * Which arguments of the call need a gradient, by their names where they have one.
   * @param {string} cid @param {Ref | null} ref
   */
  needsLines(cid, ref) {
    const needs = brief(this.trace, ref).match(/True|False/g) || [];
    const node = this.story.ctxs[cid]?.node;
    const call = this.trace.events.find(({ ins, n, cid: of }) => ins && (node ? n === node : of === cid));
    const words = needs.map((need, place) => {
      const { name, text } = call?.ins[place] || {};
      const fields = { name: name || text || message("entry.argument", { place }) };
      return message(need === "True" ? "entry.needs" : "entry.needs-not", fields);
    });
    return words.length ? [words.join("; ")] : [];
  }
}
