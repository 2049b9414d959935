// A picture for a wall: its columns stand as close as the labels between them allow, so
// that more of it is whole in large type.

import { placeTags, spotsOf } from "./wires.js";

/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").Picture} Picture */
/** @typedef {import("./types").Trace} Trace */

const LEAST = 28; // of a gap: a line can still turn

/**
 * The picture with narrower gaps, from the last to the first; no wire loses a label.
 * @param {Trace} trace @param {Picture} picture @param {Box[]} boxes of its parts
 */
export function narrowed(trace, picture, boxes) {
  const labels = (/** @type {Picture} */ one) => Object.values(placeTags(trace, one)).flatMap(Object.keys).length;
  let right = picture.size[0];
  for (const { x, width } of boxes.sort((one, other) => other.x + other.width - one.x - one.width)) {
    const gap = right - x - width;
    for (let wide = LEAST; wide < gap; wide += 16) {
      const next = closer(picture, x + width, gap, wide);
      if (labels(next) >= labels(picture)) [picture, wide] = [next, gap];
    }
    right = Math.min(right, x);
  }
  return picture;
}

/** @param {Picture} picture @param {number} left @param {number} gap @param {number} wide */
function closer(picture, left, gap, wide) {
  const at = (/** @type {number} */ x) => x - Math.min(Math.max(x - left, 0), gap) * (1 - wide / gap);
  const made = structuredClone(picture);
  made.size[0] = at(made.size[0]);
  for (const spot of made.parts.flatMap((part) => [...spotsOf(part), part.tray])) if (spot) spot[0] = at(spot[0]);
  for (const line of made.lines) line.d = line.d.replace(/([-\d.]+)( [-\d.]+)/g, (_, x, y) => at(+x) + y);
  return made;
}
