// What is told of an entry of ctx beside its value: what it was, whose its memory is,
// when it was let go; what flags mean.

import { message, wordFor } from "./messages.js";
import { brief, bytesWords } from "./values.js";

export function linesOfEntry(player, cid, key, ref, { since, changes, position }) {
  const lines = [];
  const before = player.index.last(`entry ${cid} ${key}`, since);
  if (changes.ctx.has(`${cid} ${key}`) && before && !before.gone) {
    const change = { old: brief(player.trace, before.ref), new: brief(player.trace, ref) };
    if (change.old !== change.new) lines.push(message("entry.changed", change));
  }
  if (key === "needs_input_grad") lines.push(...needsLines(player, cid, ref));
  if (key.startsWith("flag.")) lines.push(message(`entry.${key}`));
  if (ref?.fn) lines.push(message("entry.made-by", { node: ref.fn }));
  return [...lines, ...memoryLines(player, cid, key, position)];
}

function memoryLines(player, cid, key, position) {
  const owner = player.story.ctxs[cid]?.node;
  const item = owner && player.memory.itemOf(owner, key, position);
  if (!item) return [];
  const bytes = bytesWords(item.bytes);
  if (item.until <= position) {
    return [message("entry.let-go", { bytes, step: player.stopAt(item.until), by: wordFor(item.by) })];
  }
  const others = player.memory.sharing(item, position).join(", ");
  const shared = others ? [message("entry.shared", { others })] : [];
  return [message("entry.keeps", { bytes, step: player.stopAt(item.at) }), ...shared];
}

// Which arguments of the call need a gradient, by their names where they have one.
function needsLines({ trace, story }, cid, ref) {
  const needs = brief(trace, ref).match(/True|False/g) || [];
  const node = story.ctxs[cid]?.node;
  const call = trace.events.find(({ ins, n, cid: of }) => ins && (node ? n === node : of === cid));
  const words = needs.map((need, place) => {
    const { name, text } = call?.ins[place] || {};
    const fields = { name: name || text || message("entry.argument", { place }) };
    return message(need === "True" ? "entry.needs" : "entry.needs-not", fields);
  });
  return words.length ? [words.join("; ")] : [];
}
