// Two players that step together, and the first difference of their stories.

import { element } from "./dom.js";
import { message } from "./messages.js";
import { start } from "./page.js";
import { Player } from "./player.js";

/** @typedef {import("./types").Compared} Compared */
/** @typedef {import("./types").PlayerOptions} PlayerOptions */

export class Comparison {
  /**
   * @param {HTMLElement} root
   * @param {Compared} data
   * @param {PlayerOptions} options
   */
  constructor(root, data, options = {}) {
    this.data = data;
    const head = element("section", "difference");
    head.setAttribute("aria-label", message("compare.name"));
    head.append(element("p", "", data.say));
    if (data.difference) {
      const button = element("button", "primary", message("compare.go"));
      button.type = "button";
      button.onclick = () => this.goToDifference();
      head.append(button);
    }
    const sides = element("div", "sides");
    this.players = data.traces.map((trace, side) => {
      const box = element("section", "side");
      const place = element("div");
      box.append(element("h2", "", trace.meta.title || message("player.title")), place);
      sides.append(box);
      const player = new Player(place, trace, {
        level: trace.meta.level ?? 1,
        side: true,
        difference: data.difference?.[side],
        onMove: (at) => this.follow(side, at),
        onLevel: (level) => this.sameLevel(side, level),
      });
      nameSide(place, message(side ? "compare.right" : "compare.left"));
      return player;
    });
    root.classList.add("mg-comparison");
    root.replaceChildren(head, sides);
    this.onMove = options.onMove;
    if (options.position) this.players[0].go(options.position);
  }

  /**
   * The other side goes to the last step that belongs to one at or before this one.
   * @param {number} side @param {number} at
   */
  follow(side, at) {
    if (!this.players || this.following) return;
    const pair = this.data.pairs.findLast((one) => one[side] <= at);
    this.together(() => this.players[1 - side].go(pair ? pair[1 - side] : 0));
    this.onMove?.(this.players[0].position);
  }

  /** @param {number} side @param {number} level */
  sameLevel(side, level) {
    if (this.following) return;
    this.together(() => this.players[1 - side].setLevel(level));
  }

  goToDifference() {
    this.together(() => {
      this.players.forEach((player, side) => {
        player.go(this.data.difference[side] || player.story.length);
      });
    });
  }

  /**
   * What the one does to the other does not come back.
   * @param {() => void} move
   */
  together(move) {
    this.following = true;
    move();
    this.following = false;
  }
}

/**
 * Landmarks of the two players have different names.
 * @param {Element} place @param {string} side
 */
function nameSide(place, side) {
  for (const part of place.querySelectorAll("section[aria-label], [role=region]")) {
    const fields = { name: part.getAttribute("aria-label"), side };
    part.setAttribute("aria-label", message("compare.side", fields));
  }
}

export function startComparison() {
  start(Comparison);
}
