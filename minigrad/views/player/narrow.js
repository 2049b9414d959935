// A picture for a wall: its columns stand as close as the labels between them allow, so
// that more of it is whole in large type.

import { placeTags, spotsOf } from "./wires.js";

const LEAST = 18; // of a gap: a line can still turn

// The picture with narrower gaps, from the last to the first; no wire loses a label.
export function narrowed(trace, picture, boxes) {
  const labels = (one) => Object.values(placeTags(trace, one)).flatMap(Object.keys).length;
  let right = picture.size[0];
  for (const { x, width } of boxes.sort((one, other) => other.x - one.x + other.width - one.width)) {
    const left = x + width;
    const gap = right - left;
    for (let wide = LEAST; wide < gap; wide += 8) {
      const at = (x) => x - Math.min(Math.max(x - left, 0), gap) * (1 - wide / gap);
      const next = structuredClone(picture);
      next.size[0] -= gap - wide;
      for (const part of next.parts) for (const spot of [...spotsOf(part), part.tray]) if (spot) spot[0] = at(spot[0]);
      for (const line of next.lines) line.d = line.d.replace(/([\d.-]+)( [\d.-]+)/g, (_, x, y) => at(+x) + y);
      if (labels(next) < labels(picture)) continue;
      picture = next;
      break;
    }
    right = Math.min(right, x);
  }
  return picture;
}
