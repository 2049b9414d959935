// What nodes and leaves keep in memory, from when to when.

/** @typedef {import("./types").Trace} Trace */
/** @typedef {import("./types").Held} Held */

export class Memory {
  // Items as recorded: {id, owner, of, key, bytes, buf}; `at` is the position from which
  // one is held, `until` that from which it is not any more, because of `by`.
  /** @param {Trace} trace */
  constructor(trace) {
    const items = new Map();
    const holders = new Map(); // buf -> how many hold it
    let bytes = 0;
    const hold = (item, by) => {
      const before = holders.get(item.buf) || 0;
      holders.set(item.buf, before + by);
      if (!before || !(before + by)) bytes += by * item.bytes;
    };
    this.curve = [];
    trace.events.forEach((event, index) => {
      if (!event.mem) return;
      const at = index + 1;
      for (const item of event.mem.add || []) {
        items.set(item.id, { ...item, at });
        hold(item, 1);
      }
      for (const drop of event.mem.del || []) {
        const item = items.get(drop.id);
        if (!item) continue;
        Object.assign(item, { until: at, by: drop.by });
        hold(item, -1);
      }
      const before = this.curve.at(-1)?.most || { at: 0, bytes: 0 };
      this.curve.push({ at, bytes, most: bytes > before.bytes ? { at, bytes } : before });
    });
    this.items = [...items.values()];
    this.most = this.mostUntil(Infinity);
  }

  // When most bytes were held up to a position, and how many.
  /** @param {number} position */
  mostUntil(position) {
    return this.curve.findLast(({ at }) => at <= position)?.most || { at: 0, bytes: 0 };
  }

  /** @param {number} position @returns {Held[]} */
  heldAt(position) {
    return this.items.filter((item) => isHeld(item, position));
  }

  // The last thing that an owner held under a key, up to a position.
  /** @param {string} owner @param {string} key @param {number} position @returns {Held | undefined} */
  itemOf(owner, key, position) {
    return this.items.findLast(
      (item) => item.owner === owner && item.key === key && item.at <= position,
    );
  }

  // Who else holds the same memory.
  /** @param {Held} item @param {number} position */
  sharing(item, position) {
    const others = this.heldAt(position).filter((one) => {
      return one.buf === item.buf && one.owner !== item.owner;
    });
    return [...new Set(others.map((one) => one.of))];
  }

  // Owners in the order in which they first held something.
  owners() {
    const owners = new Map();
    for (const item of this.items) {
      const known = owners.get(`${item.owner} ${item.of}`);
      if (known) known.items.push(item);
      else owners.set(`${item.owner} ${item.of}`, { node: item.owner, of: item.of, items: [item] });
    }
    return [...owners.values()];
  }
}

/** @param {Held} item @param {number} position */
export function isHeld(item, position) {
  return item.at <= position && !(item.until <= position);
}

// Memory that several hold is there once.
/** @param {Held[]} items */
export function bytesOnce(items) {
  const buffers = new Map(items.map((item) => [item.buf, item.bytes]));
  return [...buffers.values()].reduce((sum, bytes) => sum + bytes, 0);
}
