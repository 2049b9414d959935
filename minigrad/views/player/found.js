// The steps that were asked for: a search box, a list to go on from, marks at the slider.

import { iconButton, textButton } from "./controls.js";
import { element } from "./dom.js";
import { message } from "./messages.js";

const MOST_LISTED = 100;

export class Found {
  constructor(player) {
    this.player = player;
    this.stops = [];
    const [placeholder, ariaLabel] = [message("found.example"), message("found.search")];
    this.input = element("input", { type: "search", placeholder, ariaLabel });
    this.input.oninput = () => this.search(this.input.value);
    this.title = element("b", { className: "found-title", role: "status" });
    this.moves = element("span", "found-moves",
      textButton("‹", message("found.before"), "N", () => this.goOn(-1)),
      textButton("›", message("found.after"), "n", () => this.goOn(1)),
    );
    this.list = element("ol");
    const closing = iconButton("close", message("found.close"), "Esc", () => this.close());
    const is = { className: "found", ariaLabel: message("found.name"), hidden: true };
    this.box = element("section", is, this.input, this.title, this.moves, this.list, closing);
    this.marks = element("div", { className: "found-marks", ariaHidden: "true" }); // the list says it in words
  }

  open() {
    if (this.box.hidden) this.player.root.firstChild.after(this.box);
    this.box.hidden = false;
    this.asked ||= { question: "" };
    this.input.focus();
    this.input.select();
  }

  close() {
    const inside = this.box.contains(document.activeElement);
    this.box.hidden = true;
    this.show([], () => "");
    this.input.value = "";
    this.asked = null;
    if (inside) this.player.root.focus({ preventScroll: true });
  }

  search(question) {
    this.asked = { question };
    this.input.value = question;
    this.box.hidden = false;
    const found = this.player.index.search(question, this.player.level);
    this.show(found, (count) => (question.trim() ? message("found.count", { count }) : ""));
  }

  // The steps of a node, an edge, an entry, a line: below, so that what was clicked
  // stays under the pointer.
  stepsOf(what, name) {
    this.asked = { what, name };
    this.input.value = "";
    if (this.box.hidden) this.player.numbers.box.after(this.box);
    this.box.hidden = false;
    const [kind, id] = what.split(" "); // of a node's output: the steps of the node
    const all = this.player.index.of(kind === "node" ? `node ${id}` : what);
    const level = this.player.level;
    const told = all.filter((one) => this.player.trace.events[one.position - 1].lvl <= level);
    this.show(told.length ? told : all, () => message("found.of", { name }));
  }

  // Of another level, or of a new recording: there the same steps have other numbers.
  again() {
    const { question, what, name } = this.asked || {};
    if (what) this.stepsOf(what, name);
    else if (question !== undefined) this.search(question);
  }

  // Where no stop of this level is at a position, the next one shows what it did.
  show(found, title) {
    const stops = Map.groupBy(found, ({ position }) => this.player.stopAt(position));
    this.stops = [...stops].map(([stop, all]) => ({ stop, deeds: [...new Set(all.map(({ deed }) => deed))] }));
    const count = this.stops.length;
    this.title.textContent = title(count) && (count ? title(count) : message("found.none"));
    this.moves.hidden = count < 2;
    this.list.replaceChildren(...this.stops.slice(0, MOST_LISTED).map((one) => this.item(one)));
    if (count > MOST_LISTED) {
      const more = message("found.more", { count: count - MOST_LISTED });
      this.list.append(element("li", "note", more));
    }
    this.marks.replaceChildren(...this.player.marksOf(this.stops.map(({ stop }) => stop)));
    this.here();
  }

  item({ stop, deeds }) {
    const words = [element("b", "", `${stop}`), ` ${deeds.join(", ")}`];
    return element("li", "", element("button", { onclick: () => this.player.goToStop(stop) }, ...words));
  }

  here() {
    if (!this.stops.length) return;
    const now = this.player.stopNow();
    this.stops.slice(0, MOST_LISTED).forEach(({ stop }, index) => {
      this.list.children[index].firstElementChild.ariaCurrent = stop === now ? "step" : null;
    });
  }

  goOn(by) {
    const now = this.player.stopNow();
    const inTurn = by > 0 ? this.stops : this.stops.toReversed();
    const next = inTurn.find(({ stop }) => by * stop > by * now) || inTurn[0];
    if (next) this.player.goToStop(next.stop);
  }
}
