// What nodes and leaves keep in memory, from when to when.

import { lastAtMost } from "./story.js";

export class Memory {
  // Items as recorded: {id, owner, of, key, bytes, buf}; `at` is the position from
  // which one is held, `until` that from which it is not any more, because of `by`.
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
    this.ofOwner = Map.groupBy(this.items, (item) => item.owner);
    this.ofBuffer = Map.groupBy(this.items, (item) => item.buf);
    this.most = this.stateAt(Infinity).most;
  }

  // How many bytes are held at a position, and when they were most until there.
  stateAt(position) {
    const none = { at: 0, bytes: 0, most: { at: 0, bytes: 0 } };
    return this.curve[lastAtMost(this.curve, position, ({ at }) => at)] || none;
  }

  // The last thing that an owner held under a key, up to a position.
  itemOf(owner, key, position) {
    const items = this.ofOwner.get(owner) || [];
    return items.findLast((item) => item.key === key && item.at <= position);
  }

  sharing(item, position) {
    const others = this.ofBuffer.get(item.buf).filter((one) => {
      return one.owner !== item.owner && isHeld(one, position);
    });
    return [...new Set(others.map((one) => one.of))];
  }

  // Owners in the order in which they first held something.
  owners() {
    const groups = Map.groupBy(this.items, ({ owner, of }) => `${owner} ${of}`);
    return [...groups.values()].map((items) => ({ node: items[0].owner, of: items[0].of, items }));
  }
}

export function isHeld(item, position) {
  return item.at <= position && !(item.until <= position);
}

// Memory that several hold is there once.
export function bytesOnce(items) {
  const buffers = new Map(items.map((item) => [item.buf, item.bytes]));
  return [...buffers.values()].reduce((sum, bytes) => sum + bytes, 0);
}
