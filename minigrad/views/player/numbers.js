// Asking a number of a gradient: the panel that tells which sum it is.

import { Asking } from "./asking.js";
import { iconButton } from "./controls.js";
import { element, setText } from "./dom.js";
import { message } from "./messages.js";
import { heatMap, number } from "./values.js";

export class Numbers {
  constructor(player) {
    this.player = player;
    this.say = element("p", { className: "number-say", ariaLive: "polite" });
    this.table = element("div", "number-table");
    this.list = element("ul", "addends");
    this.legend = element("p", "number-legend", message("number.legend"));
    const closing = iconButton("close", message("number.close"), "Esc", () => this.close());
    const is = { className: "number-box", ariaLabel: message("number.name"), hidden: true };
    this.box = element("section", is, this.say, this.table, this.list, this.legend, closing);
  }

  ask(node, slot = 0, cell = null, focus = false) {
    if (focus) this.asker = document.activeElement;
    this.asked = { node, slot, cell };
    this.lit = null;
    this.box.hidden = false;
    this.render();
    const first = this.table.querySelector('[tabindex="0"]') || this.box.querySelector("button:enabled");
    if (focus) first.focus();
    this.box.scrollIntoView?.({ block: "nearest" });
  }

  // An output in words, if a gradient has come there or will come in this backward.
  askNode(node, slot) {
    if (this.player.story.stateAt(this.player.position).pass) this.ask(node, slot);
    else this.close();
  }

  close() {
    const inside = this.box.contains(document.activeElement);
    this.box.hidden = true;
    this.asked = null;
    this.light(null);
    if (!inside) return;
    const back = this.asker?.isConnected ? this.asker : this.player.root;
    back.focus({ preventScroll: true });
  }

  show() {
    if (this.asked) this.render();
  }

  render() {
    const { node, slot, cell } = this.asked;
    const { story, position } = this.player;
    const asking = new Asking(story, node, slot, position);
    setText(this.say, asking.sentence(cell));
    this.fillTable(asking, cell);
    const addends = asking.addends(cell);
    this.list.replaceChildren(...addends.map((one) => this.row(one)));
    this.legend.hidden = addends.every(({ places }) => !places?.length);
    this.light(this.lit);
  }

  // The whole gradient, to choose an element of.
  fillTable(asking, cell) {
    const value = this.player.trace.values[asking.total?.v];
    const focused = this.table.contains(document.activeElement);
    this.table.hidden = !value || value.rows.flat().length < 2;
    if (this.table.hidden) return this.table.replaceChildren();
    const choose = (chosen) => {
      this.asked.cell = chosen;
      this.render();
    };
    this.table.replaceChildren(heatMap(value, choose, asking.cellOf(cell)));
    if (focused) this.table.querySelector('[tabindex="0"]').focus({ preventScroll: true });
  }

  row({ source, text, edge, said, places }) {
    const button = element("button", { className: "addend", disabled: !edge }, element("b", "", text), ` ${source}`);
    if (edge) {
      button.dataset.edge = edge;
      button.onclick = () => this.light(this.lit === edge ? null : edge);
      button.onmouseenter = button.onfocus = () => this.mark(edge);
      button.onmouseleave = button.onblur = () => this.mark(this.lit);
    }
    return element("li", "", button, said && element("span", "terms", said), this.placesOf(source, places));
  }

  // Where the first factor of each term stands, for a node with more than one number.
  placesOf(source, places = []) {
    const named = places.filter(({ where }) => where).map(({ arrived, where }) => `${number(arrived)} ${where}`);
    if (!named.length) return null;
    return element("span", "places", message("number.places", { node: source, places: named.join(", ") }));
  }

  // The node that sent an addend, and its edge, stand out in the graph.
  light(edge) {
    this.lit = edge;
    for (const button of this.list.querySelectorAll(".addend[data-edge]")) {
      button.ariaPressed = String(button.dataset.edge === edge);
    }
    this.mark(edge);
  }

  mark(edge) {
    const { graph, story } = this.player;
    for (const shape of this.marked || []) shape.classList.remove("asked");
    const from = story.edges[edge]?.from;
    const parts = edge ? [edge, from].flatMap((id) => graph.parts.get(id) || []) : [];
    this.marked = parts.map((part) => part.shape).filter(Boolean);
    for (const shape of this.marked) shape.classList.add("asked");
  }
}
