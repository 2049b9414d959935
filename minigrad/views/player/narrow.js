// A picture for a wall: its columns stand as close as the labels between them allow, so
// that more of it is whole in large type.

import { placeTags } from "./wires.js";

/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").Picture} Picture */
/** @typedef {import("./types").Spot} Spot */
/** @typedef {import("./types").Trace} Trace */
/** @typedef {{ left: number, right: number, wide: number }} Gap between columns; `wide` is how wide it becomes */

const WIDTHS = [28, 48, 64, 80, 100, 130]; // of a gap; in the first a line can still turn

/**
 * The picture with narrower gaps, in which no wire loses a label.
 * @param {Trace} trace @param {Picture} picture @param {Box[]} boxes of its parts
 * @returns {Picture}
 */
export function narrowed(trace, picture, boxes) {
  const gaps = gapsOf(boxes);
  const labels = () => Object.values(placeTags(trace, closer(picture, gaps))).flatMap(Object.keys).length;
  const all = labels();
  for (const gap of gaps) {
    const before = gap.wide;
    const fits = (/** @type {number} */ wide) => {
      gap.wide = wide;
      return labels() >= all;
    };
    if (!WIDTHS.some((wide) => wide < before && fits(wide))) gap.wide = before;
  }
  return closer(picture, gaps);
}

/** @param {Box[]} boxes @returns {Gap[]} */
function gapsOf(boxes) {
  /** @type {Gap[]} */
  const gaps = [];
  let right = Infinity; // of the parts so far
  for (const { x, width } of boxes.sort((one, other) => one.x - other.x)) {
    if (x > right) gaps.push({ left: right, right: x, wide: x - right });
    right = Math.max(right === Infinity ? 0 : right, x + width);
  }
  return gaps;
}

/** @param {Picture} picture @param {Gap[]} gaps @returns {Picture} */
function closer(picture, gaps) {
  const at = (/** @type {number} */ x) =>
    gaps.reduce((found, { left, right, wide }) => {
      const share = Math.min(1, Math.max(0, (x - left) / (right - left)));
      return found - share * (right - left - wide);
    }, x);
  const spot = (/** @type {Spot | undefined} */ one) => one && [at(one[0]), ...one.slice(1)];
  const parts = picture.parts.map((part) => {
    const { chip, slot, tray, card, box, chips } = part;
    return { ...part, chip: spot(chip), slot: spot(slot), tray: spot(tray), card: spot(card), box: spot(box), chips: chips?.map(spot) };
  });
  const lines = picture.lines.map((line) => ({
    ...line, d: line.d.replace(/([-\d.]+) ([-\d.]+)/g, (_, x, y) => `${at(Number(x)).toFixed(1)} ${y}`),
  }));
  const [wide, tall] = picture.size;
  return /** @type {Picture} */ ({ size: [at(wide), tall], parts, lines });
}
