// Arrays as pictures: the area of a square is the size of its number, filled above 0 and
// hollow below. So no colour is needed but that of the track.

import { svgElement } from "./dom.js";

// A value's squares, its left top at 0 0; one group of two paths, however many there are.
export function squares(value) {
  const rows = value.rows.length;
  const columns = value.rows[0]?.length || 0;
  // minigrad.views.picture leaves this much room.
  const side = Math.max(6, Math.min(14, Math.floor(84 / (columns || 1)), Math.floor(66 / rows)));
  const most = Math.max(Math.abs(value.min ?? 0), Math.abs(value.max ?? 0)) || 1;
  const paths = { plus: "", minus: "", odd: "" };
  value.rows.forEach((row, y) =>
    row.forEach((x, column) => {
      const odd = typeof x !== "number";
      const size = odd ? 1 : Math.sqrt(Math.abs(x) / most);
      const half = (size * (side - 2)) / 2;
      if (half < 0.3) return;
      const [cx, cy] = [column * side + side / 2, y * side + side / 2];
      const kind = odd ? "odd" : x < 0 ? "minus" : "plus";
      const wide = Number(((kind === "minus" ? Math.max(half - 0.5, 0.4) : half) * 2).toFixed(1));
      const way = odd ? `l${wide} ${wide}m0 ${-wide}l${-wide} ${wide}` : `h${wide}v${wide}h${-wide}z`;
      paths[kind] += `M${cx - wide / 2} ${cy - wide / 2}${way}`;
    }),
  );
  const [width, height] = [columns * side, rows * side];
  const ground = svgElement("rect", { class: "ground", width, height });
  const drawn = Object.entries(paths).map(([kind, d]) => d && svgElement("path", { class: kind, d }));
  return { group: svgElement("g", { class: "squares" }, ground, ...drawn), width, height };
}
