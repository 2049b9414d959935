// The code pane: a stack of cards, the program at the top, the running frame below.

import { Pane, element, rove, setText, tabStop } from "./dom.js";
import { LINE_EVENTS } from "./folding.js";
import { message, wordFor } from "./messages.js";
import { textOfLine } from "./story.js";
import { brief } from "./values.js";

const MOST_CARDS = 4;

export class CodePane extends Pane {
  constructor(player) {
    super("code", message("code.name"));
    this.player = player;
    this.trace = player.trace;
    const run = this.trace.events.filter(({ k }) => LINE_EVENTS.has(k));
    this.stepped = new Set(run.map(({ s, l }) => `line ${s} ${l}`));
    this.stack = element("div", "stack");
    this.between = element("div", "note");
    this.printed = element("pre", { className: "printed", ariaLabel: message("code.printed") });
    const none = { className: "empty", hidden: this.trace.sources.length > 0 };
    this.body.append(element("p", none, message("code.none")), this.stack, this.printed);
    this.crumbs = element("span", "crumbs");
    this.strip = element("p", "strip", this.crumbs, legend()); // where there is no room for a column
    this.box.append(legend());
    this.cards = [];
    rove(this.box, "button.number");
  }

  show({ state, trace }) {
    const frames = state.stack.length ? state.stack : this.restingFrames();
    this.matchCards(frames);
    const top = frames.length - 1;
    frames.forEach((frame, index) => this.showFrame(this.cards[index], frame, roleOf(index, top)));
    this.sayBetween(top);
    this.sayStrip(frames);
    this.printed.hidden = !state.printed;
    setText(this.printed, state.printed);
    const shown = frames[top] && trace.sources[frames[top].s];
    setText(this.note, shown ? wordFor(shown.name) : "");
  }

  // A line that is marked must be in view.
  measure() {
    const moves = this.cards.map((card) => card.marked && intoView(card));
    for (const move of moves) move?.();
  }

  // Between frames the program itself is shown, with no line marked.
  restingFrames() {
    const driver = this.trace.sources.findIndex((source) => source.role === "driver");
    const index = driver < 0 ? 0 : driver;
    return this.trace.sources[index] ? [{ s: index, l: null, d: 0, locals: {} }] : [];
  }

  // The lines of the learner's own code: caller › line.
  sayStrip(frames) {
    const { sources } = this.trace;
    const own = frames.filter(({ s, l }) => sources[s].role !== "engine" && l !== null);
    const look = own.map(({ s, l }) => `${s} ${l}`).join();
    if (look === this.stripped) return;
    this.stripped = look;
    const crumbs = own.slice(-2).map(({ s, l }) => {
      const number = message("line.name", { number: sources[s].first + l });
      const name = `${wordFor(sources[s].name)}, ${number}`;
      return element("span", "crumb", element("i", "", name), element("code", "", textOfLine(sources[s], l)));
    });
    this.crumbs.replaceChildren(...crumbs);
  }

  sayBetween(top) {
    this.between.remove();
    if (top < MOST_CARDS) return;
    this.between.textContent = message("code.between", { count: top + 1 - MOST_CARDS });
    this.cards[0].box.after(this.between);
  }

  matchCards(frames) {
    frames.forEach((frame, index) => {
      if (this.cards[index]?.source === frame.s) return;
      const card = this.makeCard(frame.s);
      if (this.cards[index]) this.cards[index].box.replaceWith(card.box);
      else this.stack.append(card.box);
      this.cards[index] = card;
    });
    for (const card of this.cards.splice(frames.length)) card.box.remove();
  }

  makeCard(index) {
    const source = this.trace.sources[index];
    const made = source.role === "engine" ? element("span", "", message("code.engine")) : null;
    const head = [element("b", "", wordFor(source.name)), made, element("span", "", wordFor(source.file))];
    const lines = source.tokens.map((tokens, offset) => {
      return this.line(tokens, `line ${index} ${offset}`, source.first + offset);
    });
    const listing = element("div", "listing", ...lines);
    const box = element("div", `card ${source.role} top`, element("div", "card-head", ...head), listing);
    return { box, listing, lines, source: index, role: "top", notes: [], marked: null, mark: null };
  }

  // The number of a line that has steps leads to them; so does a click on the line.
  line(tokens, what, place) {
    const number = String(place);
    const text = element("span", "text", ...tokens.map(([kind, part]) => element("span", kind, part)));
    if (!this.stepped.has(what)) return element("div", "line", element("span", "number", number), text);
    const is = { className: "number", tabIndex: -1, ariaLabel: message("line.steps", { number }) };
    const line = element("div", "line has-steps", element("button", is, number), text);
    line.onclick = () => {
      if (getSelection().isCollapsed) this.player.choose(what, message("line.name", { number }));
    };
    return line;
  }

  showFrame(card, frame, role) {
    for (const note of card.notes) note.remove();
    card.notes = [];
    const line = card.lines[frame.l] || null;
    const mark = frame.failed ? "failed" : role === "top" ? "current" : "caller";
    this.markCard(card, role, line, mark);
    if (!line) return;
    if (role === "top") tabStop(this.box, line.querySelector("button"));
    if (frame.failed) card.notes = [element("div", "said failed", frame.failed)];
    else if (frame.over) {
      const text = message("code.returns", { value: brief(this.trace, frame.returned) });
      card.notes = [element("div", "said", text)];
    }
    line.after(...card.notes);
  }

  // A class that is taken off and put on again would have the card styled anew.
  markCard(card, role, line, mark) {
    if (card.role !== role) card.box.classList.replace(card.role, role);
    card.role = role;
    if (card.marked === line && card.mark === mark) return;
    card.marked?.classList.remove(card.mark);
    line?.classList.add(mark);
    Object.assign(card, { marked: line, mark });
  }
}

function legend() {
  const kinds = ["value", "kept", "gradient"].map((kind) => element("b", kind, message(`legend.${kind}`)));
  return element("span", "legend", ...kinds);
}

// Of a deep stack the first card is shown, and the last ones.
function roleOf(index, top) {
  if (index === top) return "top";
  if (index === top - 1) return "near";
  return index && index < top + 2 - MOST_CARDS ? "between" : "far";
}

// Measures now what there is to scroll, and gives back how to do it.
function intoView({ listing, marked, notes }) {
  const top = marked.offsetTop - listing.offsetTop;
  const below = notes.at(-1)?.offsetHeight || 0;
  // All lines are as high, but for one that is marked and does not fit into the pane.
  const height = parseFloat(getComputedStyle(listing).lineHeight);
  const bottom = top + marked.offsetHeight + below;
  const [from, room] = [listing.scrollTop, listing.clientHeight];
  const inView = top >= from && bottom <= from + room;
  if (inView && from % height === 0) return null;
  const middle = top - Math.max(0, (room - (bottom - top)) / 2);
  // Whole lines at the top, also near the end, where the listing has room for one more.
  const most = Math.floor((listing.scrollHeight - room) / height);
  const place = Math.min(inView ? Math.ceil(from / height) : Math.round(middle / height), most);
  return () => (listing.scrollTop = place * height);
}
