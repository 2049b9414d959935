// A player in the place of another: at the step that corresponds, as it was looked at.

/** @param {Player} before @param {Trace} trace */
export function succeed(before, trace) {
  before.pause();
  before.listening.abort();
  const again = opened(before);
  const { root, options, edits } = before;
  let position = new Agreement(before.trace.events, trace.events).at(before.position);
  while (trace.events[position]?.k === "what.if") position += 1; // it is to be seen
  const Made = /** @type {typeof Player} */ (before.constructor);
  const player = new Made(root, trace, { ...options, ...before.place(), position, edits });
  again(player);
  options.onSuccessor?.(player);
}

// Where two stories agree: from the start, and from the end.
class Agreement {
  /** @param {TraceEvent[]} before @param {TraceEvent[]} after */
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

/** @param {TraceEvent} one @param {TraceEvent} other */
function same(one, other) {
  return one.k === other.k && one.lvl === other.lvl && one.s === other.s && one.l === other.l;
}

/**
 * What one has opened, scrolled and chosen in a player, to be done to its successor.
 * @param {Player} before @returns {(player: Player) => void}
 */
function opened(before) {
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
    if (before.presenter.on) player.presenter.toggle(before.presenter.since);
    lookedAt(before.graph, player.graph);
    if (asked) askAgain(found, player.found);
    player.root.querySelectorAll(".body").forEach((body, place) => body.scrollTo(bodies[place][0], bodies[place][1]));
    if (focused) player.root.focus({ preventScroll: true });
  };
}

/** @param {Found} before @param {Found} found */
function askAgain({ input, what, name }, found) {
  if (what) return found.stepsOf(what, name);
  found.box.hidden = false;
  found.input.value = input.value;
  found.search(input.value);
}

/**
 * The place that was looked at, for a picture of the same size.
 * @param {PicturePane} before @param {PicturePane} graph
 */
function lookedAt(before, graph) {
  const same = graph.picture && String(graph.picture.size) === String(before.picture?.size);
  if (!same || before.isWhole || !before.view) return;
  graph.fit();
  graph.isWhole = false;
  graph.look(before.view);
}
