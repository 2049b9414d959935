// What each event changes of what is shown.

export function advance(state, event, story) {
  settle(state, event);
  noteCall(state, event, story);
  for (const change of ctxChanges(event)) changeCtx(state, change);
  if (event.cid !== undefined) state.cid = event.cid;
  else if (event.ctx) state.cid = event.ctx.id;
  notePhase(state, event, story.isEngine(event.s));
  noteMemory(state, event);
  if (event.out) state.printed += event.out;
  HANDLERS[event.k]?.(state, event, story);
  if (event.left !== undefined) state.left[event.n] = event.left;
  if (!LINE_EVENTS.has(event.k)) visitLine(state, event);
}

// What an event changes on ctxs: that which it shows first, then others.
export function ctxChanges({ ctx, others = [] }) {
  return ctx ? [ctx, ...others] : others;
}

function changeCtx(state, change) {
  const entries = { ...state.ctxs[change.id], ...change.set };
  for (const key of change.del || []) delete entries[key];
  state.ctxs[change.id] = entries;
}

export function blankState() {
  return {
    stack: [], // frames: {s, l, d, locals, begun, returned, failed, over}
    error: null,
    ctxs: {},
    cid: null,
    nodes: {}, // seen, active or done
    travels: null, // the edge a gradient travels along now
    edges: {}, // seen, active (a gradient travels now), sent or none
    waiting: {}, // node -> {slot: {parts, total, root}}: what has come to it in this backward
    left: {}, // node where several gradients meet -> how many have still to come
    grads: {}, // accumulate node -> the tensor's .grad
    tangents: {}, // node, or key of a tensor that has none -> the tangent
    handles: {}, // variable -> the node whose output it is
    owners: {}, // what is kept as a .grad -> the node of its leaf
    phases: [],
    printed: "",
    pass: null, // null before backward, then "backward", then "over"
    advice: {}, // ctx -> what teaching mode has said of it
    outer: [], // the backwards around the one that runs: what is said of theirs
    calls: {}, // ctx that is no node -> made, forward, returned or unrecorded
    sent: {}, // edge -> the gradient that went along it in this backward
    slopes: {}, // edge -> its local derivative, in this backward
    coming: {}, // leaf's node whose gradient has come, and is not in its .grad yet
    added: {}, // leaf's node -> what its .grad was, what was added, and the sum
    freed: {}, // nodes that have let go of what they kept
    changed: {}, // variable -> its version and value since it was changed in place
  };
}

// What is no list has entries that are replaced and never changed: they are shared.
export function copyOf(state) {
  const copy = {};
  for (const key in state) {
    const isShared = state[key]?.constructor === Object;
    copy[key] = isShared ? { ...state[key] } : structuredClone(state[key]);
  }
  return copy;
}

// What was "now" at the last event has become "has been".
function settle(state, event) {
  if (state.edges[state.travels] === "active") state.edges[state.travels] = "sent";
  state.travels = null;
  if (!state.error) state.stack = state.stack.filter((frame) => !frame.over);
}

// A .grad that is let go is gone.
function noteMemory(state, event) {
  const { add = [], del = [] } = event.mem || {};
  for (const { id, key, owner } of add) if (key === "grad") state.owners[id] = owner;
  for (const { id } of del) delete state.grads[state.owners[id]];
}

const CALLS = { "create ctx": "made", "run forward": "forward", "wrap outputs": "returned" };

// How far apply is with a ctx that is no node yet.
function noteCall(state, event, story) {
  if (event.k === "graph.node") delete state.calls[story.nodes[event.n]?.ctx];
  else if (event.ins && (event.call || event.cid)) state.calls[event.call || event.cid] = "unrecorded";
  else if (event.cid && event.ph?.of === "apply" && CALLS[event.ph.name]) {
    state.calls[event.cid] = CALLS[event.ph.name];
  }
}

// The variables that have changed; one that was deleted has nothing any more.
function merge(known, changes = {}) {
  for (const name in changes) {
    if (changes[name]) known[name] = changes[name];
    else delete known[name];
  }
}

// A phase holds while deeper frames run. Between two phases of one function none is
// marked; in another function at the same depth the phases are over.
function notePhase(state, event, inEngine) {
  if (event.unwound) return; // an exception leaves a frame: show where it was
  const { d, s, ph } = event;
  const outer = state.phases.filter((phase) => phase.d < d);
  const same = state.phases.find((phase) => phase.d === d && phase.s === s);
  if (ph) outer.push({ ...ph, d, s });
  else if (same && inEngine) outer.push({ ...same, name: null });
  state.phases = outer;
}

// The frame an event belongs to; frames above it have been left.
function frameOf(state, event) {
  const stack = state.stack;
  while (stack.length && stack.at(-1).d > event.d) stack.pop();
  const top = stack.at(-1);
  if (top && top.d === event.d && top.s === event.s) return top;
  if (top && top.d === event.d) stack.pop();
  stack.push({ s: event.s, l: null, d: event.d, locals: {} });
  return stack.at(-1);
}

// An event that is no line event may still say where in the code it happened.
function visitLine(state, event) {
  const frame = state.stack.findLast((frame) => frame.s === event.s);
  if (frame && event.l !== undefined) frame.l = event.l;
}

function resolveError(state) {
  state.error = null;
  for (const frame of state.stack) frame.failed = null;
}

export const LINE_EVENTS = new Set(["call", "line", "return", "exception"]);

const HANDLERS = {
  call(state, event) {
    if (state.error) resolveError(state);
    const stack = state.stack;
    while (stack.length && stack.at(-1).d >= event.d) stack.pop();
    stack.push({ s: event.s, l: event.l ?? 0, d: event.d, locals: { ...event.loc } });
  },

  line(state, event) {
    if (state.error) resolveError(state);
    const frame = frameOf(state, event);
    frame.l = event.l;
    frame.begun = true;
    merge(frame.locals, event.loc);
  },

  return(state, event) {
    if (state.error) return; // a frame left by an exception stays in sight
    const frame = frameOf(state, event);
    if (event.l !== undefined) frame.l = event.l;
    merge(frame.locals, event.loc);
    frame.returned = event.val ?? null;
    frame.over = true;
  },

  exception(state, event) {
    if (!state.error) {
      state.error = event.err;
      const frame = frameOf(state, event);
      frame.l = event.l;
      merge(frame.locals, event.loc);
      frame.failed = event.err;
      return;
    }
    const caller = state.stack.find((one) => one.d === event.d && one.s === event.s);
    if (caller) caller.l = event.l;
  },

  "graph.node"(state, event, story) {
    state.nodes[event.n] ||= "seen";
    for (const id of event.e || []) {
      state.edges[id] ||= "seen";
      const edge = story.edges[id];
      if (edge) state.nodes[edge.to] ||= "seen";
    }
    for (const { name } of event.outs || []) if (name) state.handles[name] = event.n;
  },

  "backward.begin"(state, event) {
    state.outer.length = Math.min(state.outer.length, event.inside || 0);
    const { nodes, edges, waiting, left, sent, slopes, added, coming } = state;
    if (event.inside) state.outer.push({ nodes, edges, waiting, left, sent, slopes, added, coming });
    state.pass = "backward";
    state.left = { ...event.awaits };
    Object.assign(state, { waiting: {}, sent: {}, slopes: {}, added: {}, coming: {} });
    state.nodes = allSeen(nodes);
    state.edges = allSeen(edges);
    for (const root of event.roots || []) {
      addWaiting(state, root.n, root.slot, root.g, root.g);
      state.waiting[root.n][root.slot].root = true;
    }
  },

  "node.enter"(state, event, story) {
    state.nodes[event.n] = "active";
    const waiting = state.waiting[event.n];
    state.waiting[event.n] = Object.fromEntries(
      (event.g || []).flatMap((gradient, slot) => {
        if (!gradient) return [];
        return [[slot, waiting?.[slot] || { parts: [gradient], total: gradient }]];
      }),
    );
    if (event.cid === undefined) state.cid = story.nodes[event.n]?.ctx ?? null;
  },

  grad(state, event, story) {
    state.edges[event.e] = "active";
    state.travels = event.e;
    const slot = story.edges[event.e]?.to_slot || 0;
    addWaiting(state, event.n, slot, event.g, event.total || event.g);
    state.sent[event.e] = event.g;
    if (event.fills) state.coming[event.n] = true;
    if (event.slope) state.slopes[event.e] = event.slope;
  },

  "grad.zeros": fillSlot,
  "grad.absent": fillSlot,
  "hook.tensor": replaceWaiting,
  "hook.pre": replaceWaiting,

  lint(state, event) {
    const before = state.advice[event.cid ?? ""] || [];
    const known = before.some(({ what }) => what === event.advice.what);
    if (!known) state.advice[event.cid ?? ""] = [...before, event.advice];
  },

  tangent(state, event) {
    state.tangents[event.n ?? event.key] = event.g;
  },

  "grad.none"(state, event) {
    state.edges[event.e] = "none";
  },

  "grad.accumulate"(state, event) {
    state.grads[event.n] = event.new;
    delete state.coming[event.n];
    if (event.old) state.added[event.n] = { parts: [event.old, event.g], total: event.new };
    else delete state.added[event.n];
  },

  "ctx.free"(state, event) {
    if (event.n !== undefined) state.freed[event.n] = true;
  },

  inplace(state, event) {
    if (event.name) state.changed[event.name] = { ver: event.ver, ref: event.t };
  },

  // A gradient that waits, or a .grad, was edited.
  "what.if"(state, { n: node, slot, total, new: now }) {
    if (node === undefined) return;
    if (slot === undefined) state.grads[node] = now;
    else putWaiting(state, node, slot, total);
  },

  "node.exit"(state, event) {
    state.nodes[event.n] = "done";
  },

  // What was lit before a backward inside another one is lit again.
  "backward.end"(state, event) {
    const { outer } = state;
    state.outer = [];
    state.left = {};
    if (!event.inside) {
      state.pass = "over";
      return;
    }
    const before = outer[event.inside - 1];
    if (!before) return;
    state.outer = outer.slice(0, event.inside - 1);
    const nodes = { ...allSeen(state.nodes), ...before.nodes };
    const edges = { ...allSeen(state.edges), ...before.edges };
    Object.assign(state, before, { nodes, edges });
  },
};

function allSeen(lit) {
  return Object.fromEntries(Object.keys(lit).map((id) => [id, "seen"]));
}

// Nothing arrived for an output: zeros stand there, or None.
function fillSlot(state, event) {
  putWaiting(state, event.n, event.slot, event.g ?? null);
}

// What a hook returned waits in the place of what it was given.
function replaceWaiting(state, event) {
  if (!event.new) return;
  const many = event.k === "hook.pre";
  const gradients = many ? event.new.i : [event.new];
  gradients.forEach((total, index) => putWaiting(state, event.n, many ? index : event.slot, total));
}

function addWaiting(state, node, slot, gradient, total) {
  putWaiting(state, node, slot, total, [...(state.waiting[node]?.[slot]?.parts || []), gradient]);
}

function putWaiting(state, node, slot, total, parts = [total]) {
  state.waiting[node] = { ...state.waiting[node], [slot]: { parts, total } };
}
