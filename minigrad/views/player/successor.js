// A player in the place of another: at the step that corresponds, as it was looked at.

/** @typedef {import("./player.js").Player} Player */
/** @typedef {import("./types").Event} Event */

// Where two stories agree: from the start, and from the end.
export class Agreement {
  /** @param {Event[]} before @param {Event[]} after */
  constructor(before, after) {
    this.before = before;
    this.after = after;
    const most = Math.min(before.length, after.length);
    this.head = 0;
    while (this.head < most && same(before[this.head], after[this.head])) this.head += 1;
    this.tail = 0;
    while (this.tail < most - this.head && same(before.at(-1 - this.tail), after.at(-1 - this.tail))) this.tail += 1;
  }

  /**
   * A step keeps its place where they agree; else it is where the new run stopped, or
   * the first step in which it is another.
   * @param {number} position
   */
  at(position) {
    const { before, after, head, tail } = this;
    const left = before.length - position;
    if (left === 0) return after.length;
    if (position <= head) return position;
    const stopped = after.findIndex(({ k }) => k === "exception") + 1;
    if (stopped) return stopped;
    return left < tail ? after.length - left : Math.min(head + 1, after.length);
  }
}

/** @param {Event} one @param {Event} other */
function same(one, other) {
  return one.k === other.k && one.lvl === other.lvl && one.s === other.s && one.l === other.l;
}

/**
 * What one has opened, scrolled and chosen in a player, to be done to its successor.
 * @param {Player} before @returns {(player: Player) => void}
 */
export function opened(before) {
  const { root, found } = before;
  const bodies = [...root.querySelectorAll(".body")].map((body) => [body.scrollLeft, body.scrollTop]);
  const parts = ["details.memory", "details.locals"];
  // @ts-expect-error: both are <details>, which a selector does not tell
  const open = parts.map((part) => root.querySelector(part).open);
  const inspects = root.classList.contains("inspecting");
  const asked = found.box.hidden ? null : found.asked;
  const focused = root.contains(document.activeElement);
  return (player) => {
    // @ts-expect-error: as above
    parts.forEach((part, place) => (player.root.querySelector(part).open = open[place]));
    if (before.engine) player.showEngine();
    if (inspects) player.inspect(true, before.ctx.pinned);
    player.graph.carryOver?.(before.graph);
    if (before.presenter.on) player.presenter.toggle();
    if (asked) player.found.askAgain(found);
    player.root.querySelectorAll(".body").forEach((body, place) => body.scrollTo(bodies[place][0], bodies[place][1]));
    if (focused) player.root.focus({ preventScroll: true });
  };
}
