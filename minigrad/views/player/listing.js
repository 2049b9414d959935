// The nodes of a graph that is not drawn, as a list: those around the step.

import { element, rove } from "./dom.js";
import { message } from "./messages.js";
import { brief } from "./values.js";

/** @typedef {import("./story.js").Story} Story */
/** @typedef {import("./types").Choose} Choose */
/** @typedef {import("./types").GraphNode} GraphNode */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Trace} Trace */
/** @typedef {import("./types").View} View */

const LISTED = 40;

export class Listing {
  /**
   * `nameOf` says what a node is called, `choose` leads to its steps.
   * @param {Trace} trace
   * @param {Story} story
   * @param {(id: string) => string} nameOf
   * @param {Choose} choose
   */
  constructor(trace, story, nameOf, choose) {
    this.trace = trace;
    this.story = story;
    this.nameOf = nameOf;
    this.choose = choose;
    this.nodes = trace.graph.nodes.toReversed(); // the newest at the top, as in a drawing
    this.places = new Map(this.nodes.map(({ id }, place) => [id, place]));
    this.list = element("ol", "listed");
    /** @type {Record<string, string[]>} */
    this.ends = {}; // node -> where its edges lead
    for (const { from, to } of trace.graph.edges) (this.ends[from] ||= []).push(to);
    rove(this.list, "button");
  }

  /** @param {View} view */
  show({ state, event, position }) {
    this.active = event?.n || this.story.lastAtNode(position)?.n;
    const place = this.places.get(this.active) ?? this.nodes.length - 1;
    const last = Math.max(0, this.nodes.length - LISTED);
    const from = Math.min(last, Math.max(0, place - LISTED / 2));
    const shown = this.nodes.slice(from, from + LISTED);
    const focused = this.list.contains(document.activeElement);
    const rows = shown.map((node) => this.row(node, state));
    this.list.replaceChildren(...rows);
    this.current = this.list.querySelector("[aria-current]");
    const stop = this.current || this.list.querySelector("button");
    stop?.setAttribute("tabindex", "0");
    if (focused) stop?.focus({ preventScroll: true });
  }

  /** @param {GraphNode} node @param {State} state */
  row(node, state) {
    const now = state.nodes[node.id] || "unseen";
    const row = element("li");
    row.dataset.state = now;
    const button = element("button", "", this.nameOf(node.id));
    button.type = "button";
    button.tabIndex = -1;
    button.onclick = () => this.choose(`node ${node.id}`, this.nameOf(node.id));
    if (node.id === this.active) button.setAttribute("aria-current", "step");
    row.append(button);
    if (now !== "seen") row.append(element("span", "note", message(`list.${now}`)));
    const ends = (this.ends[node.id] || []).map((id) => this.nameOf(id)).join(", ");
    if (ends) row.append(element("p", "", message("list.leads", { nodes: ends })));
    for (const { total } of Object.values(state.waiting[node.id] || {})) {
      const words = message("list.waits", { value: brief(this.trace, total) });
      row.append(element("p", "waits", words));
    }
    if (state.grads[node.id]) {
      const tensor = node.tensor || message("tensor.unnamed");
      const fields = { tensor, value: brief(this.trace, state.grads[node.id]) };
      row.append(element("p", "waits", message("gradient.kept", fields)));
    }
    return row;
  }

  /**
   * The active one comes into the middle of the room there is.
   * @param {Element} room
   */
  measure(room) {
    if (!this.current) return;
    const place = this.current.getBoundingClientRect();
    const { top, height } = room.getBoundingClientRect();
    room.scrollTop += place.top - top - (height - place.height) / 2;
  }
}
