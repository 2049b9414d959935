// A player in the place of another: at the step that corresponds, as it was looked at.

export function succeed(before, trace) {
  before.pause();
  before.listening.abort();
  const again = opened(before);
  const { root, options, edits } = before;
  let position = placeIn(before.trace.events, trace.events, before.position);
  while (trace.events[position]?.k === "what.if") position += 1; // it is to be seen
  const Made = before.constructor;
  const player = new Made(root, trace, { ...options, ...before.place(), position, edits });
  again(player);
  options.onSuccessor?.(player);
}

// Where a step is in another run: it keeps its place where both agree, from the start and from
// the end; else it is where the new run stopped, or the first step in which it is another.
function placeIn(before, after, position) {
  const left = before.length - position;
  if (left === 0) return after.length;
  const most = Math.min(before.length, after.length);
  let [head, tail] = [0, 0];
  while (head < most && same(before[head], after[head])) head += 1;
  if (position <= head) return position;
  const stopped = after.findIndex(({ k }) => k === "exception") + 1;
  if (stopped) return stopped;
  while (tail < most - head && same(before.at(-1 - tail), after.at(-1 - tail))) tail += 1;
  return left < tail ? after.length - left : Math.min(head + 1, after.length);
}

function same(one, other) {
  return one.k === other.k && one.lvl === other.lvl && one.s === other.s && one.l === other.l;
}

// What one has opened, scrolled and chosen in a player, to be done to its successor.
function opened(before) {
  const { root, found } = before;
  const bodies = [...root.querySelectorAll(".body")].map((body) => [body.scrollLeft, body.scrollTop]);
  const open = [before.timeline.box.open, before.ctx.locals.open];
  const inspects = root.classList.contains("inspecting");
  const asked = found.box.hidden ? null : found.asked;
  const focused = root.contains(document.activeElement);
  const searches = found.input === document.activeElement;
  return (player) => {
    [player.timeline.box.open, player.ctx.locals.open] = open;
    if (before.engine) player.showEngine();
    if (inspects) player.inspect(true, before.ctx.pinned);
    if (before.presenter.on) player.presenter.toggle(before.presenter.since);
    lookedAt(before.graph, player.graph);
    if (asked) Object.assign(player.found, { asked }).again();
    player.root.querySelectorAll(".body").forEach((body, place) => body.scrollTo(bodies[place][0], bodies[place][1]));
    // What is typed on would be taken for keys of the player.
    const field = searches ? player.found.input : player.root;
    if (focused) field.focus({ preventScroll: true });
  };
}

// The place that was looked at, for a picture of the same size.
function lookedAt(before, graph) {
  const same = graph.picture && String(graph.picture.size) === String(before.picture?.size);
  if (!same || before.isWhole || !before.view) return;
  graph.fit();
  graph.isWhole = false;
  graph.look(before.view);
}
