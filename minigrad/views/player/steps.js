// Which steps concern what: a node, an edge, an entry of a ctx, a line, a local, a .grad;
// and the steps whose sentence has certain words.

import { LINE_EVENTS, ctxChanges } from "./folding.js";
import { message, wordFor } from "./messages.js";
import { lastAtMost, whenIdle } from "./story.js";
import { keyLabel, shortened } from "./values.js";

// What a question has beside the words it asks for.
const FILLING = new Set(
  "a an and are at change changed changes did do does for get gets has have how in is it of on step steps the to was what when where which who why with".split(" "),
);

export class StepIndex {
  constructor(story) {
    this.story = story;
    whenIdle(() => this.all());
  }

  // What -> its steps, in order. A long recording takes a while: not before it is shown.
  all() {
    if (this.found) return this.found;
    this.found = new Map();
    this.story.events.forEach((event, index) => this.note(event, index + 1));
    return this.found;
  }

  of(what) {
    return this.all().get(what) || [];
  }

  // The last entry for `what` up to a position.
  last(what, position) {
    const all = this.of(what);
    return all[lastAtMost(all, position, (step) => step.position)] || null;
  }

  note(event, position) {
    const deed = deedOf(event);
    const owner = event.cid === undefined ? undefined : this.story.ctxs[event.cid]?.node;
    if (event.n) this.add(`node ${event.n}`, position, deed);
    else if (owner && event.lvl <= 1) this.add(`node ${owner}`, position, deed);
    for (const root of event.roots || []) this.add(`node ${root.n}`, position, deed);
    if (event.k === "graph.node") {
      for (const edge of event.e || []) this.add(`edge ${edge}`, position, deed);
    } else if (event.e) {
      this.add(`edge ${event.e}`, position, deed, event.g);
    }
    if (event.k === "grad.accumulate") {
      this.add(`grad ${event.n}`, position, message("did.grad.changes"), event.new);
    }
    for (const change of ctxChanges(event)) this.noteEntries(change, position);
    for (const name in event.loc || {}) {
      const deed = message(event.loc[name] ? "did.set" : "did.deleted");
      this.add(`local ${event.s} ${name}`, position, deed, event.loc[name]);
    }
    if (LINE_EVENTS.has(event.k)) this.add(`line ${event.s} ${event.l}`, position, deed);
  }

  // An entry that is taken off and put back as it was (saved values, while apply wires
  // the node) has not changed.
  noteEntries(change, position) {
    for (const key of change.del || []) {
      this.add(`entry ${change.id} ${key}`, position, message("did.gone"), null, true);
    }
    for (const key in change.set) {
      const what = `entry ${change.id} ${key}`;
      const ref = change.set[key];
      const before = this.of(what);
      if (before.at(-1)?.gone) {
        const gone = before.pop();
        if (lookOf(before.at(-1)?.ref) === lookOf(ref)) continue;
        before.push(gone);
      }
      const freed = ref?.t === "P" && ref.r === "freed";
      const deed = freed ? "did.freed" : before.length ? "did.changed" : "did.set";
      this.add(what, position, message(deed), ref);
    }
  }

  add(what, position, deed, ref = null, gone = false) {
    const all = this.found.get(what) || [];
    this.found.set(what, all);
    if (all.at(-1)?.position !== position) all.push({ position, deed, ref, gone });
  }

  // The entries of ctxs that change at each position, by what they are called.
  changedEntries() {
    const labels = new Map();
    for (const [what, steps] of this.all()) {
      const [kind, , ...key] = what.split(" ");
      if (kind !== "entry") continue;
      const label = keyLabel(key.join(" "));
      for (const { position } of steps) labels.set(position, `${labels.get(position) || ""} ${label}`);
    }
    return labels;
  }

  // The steps of a level that have all words of a question, in their sentence, in what
  // they do or in the entries that change; a question after a .grad that changes finds
  // where it changes.
  search(question, level) {
    const all = question.toLowerCase().split(/[\s,;!?]+/).filter(Boolean);
    const asked = all.filter((word) => !FILLING.has(word.replace(/\.$/, "")));
    const words = (asked.length ? asked : all).map(matcher);
    if (!words.length) return [];
    const changes = asked.length < all.length && all.some((word) => word.startsWith("chang"));
    const grads = changes && asked.length === 1 && asked[0].endsWith(".grad");
    this.entries ||= this.changedEntries();
    const found = [];
    this.story.events.forEach((event, index) => {
      if (event.lvl > level || (grads && !/^grad\.(?!none)/.test(event.k))) return;
      const entries = this.entries.get(index + 1) || "";
      const text = `${event.say} ${deedOf(event)} ${entries}`.toLowerCase();
      if (words.every((word) => word.test(text))) {
        found.push({ position: index + 1, deed: shortened(event.say, 60) });
      }
    });
    return found;
  }
}

function deedOf(event) {
  if (event.k === "phase" && event.ph) return wordFor(event.ph.name);
  return message(`did.${event.k}`, {}, "did.other");
}

const lookOf = (ref) => JSON.stringify(ref?.v ?? ref ?? null);

// A word at its beginning; a name with a dot or brackets whole.
function matcher(word) {
  const plain = word.replace(/[.:]$/, "");
  const escaped = plain.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const end = /[.[]/.test(plain) ? "(?!\\w)" : "";
  return new RegExp(`(?<![\\w.])${escaped}${end}`);
}
