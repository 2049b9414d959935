// What is told of a thing under the pointer or with the focus: a value in full.

import { element } from "./dom.js";
import { message } from "./messages.js";
import { bytesOf, bytesWords, exact, shapeWords, sizeOf } from "./values.js";

export class Tip {
  constructor({ root, trace, listening: { signal } }) {
    this.trace = trace;
    this.root = root;
    const id = `tip-${Math.random().toString(36).slice(2)}`;
    this.box = element("div", { className: "tip", id, role: "tooltip", hidden: true });
    for (const kind of ["pointerover", "focusin"]) root.addEventListener(kind, (event) => this.over(event), { signal });
    for (const kind of ["pointerleave", "focusout", "scroll"]) {
      root.addEventListener(kind, () => this.hide(), { capture: kind === "scroll", signal });
    }
    root.addEventListener("click", () => {
      // It may have opened what the tip now lies on.
      if (this.place?.isConnected) this.put(this.place.getBoundingClientRect());
    }, { signal });
  }

  over(event) {
    const place = event.target.closest?.("[data-tells]");
    if (place === this.place) return;
    if (event.type === "pointerover" && this.box.contains(event.target)) return;
    this.hide();
    const told = place && place.teller();
    if (!told) return;
    this.place = place;
    this.fill(told);
    this.box.hidden = false;
    this.put(place.getBoundingClientRect());
    if (event.type !== "focusin") return;
    this.described = event.target;
    this.described.setAttribute("aria-describedby", this.box.id);
  }

  fill({ title, words = [], ref }) {
    const parts = [element("b", "", title), ...words.map((line) => element("p", "", line))];
    const value = ref?.v && this.trace.values[ref.v];
    if (value) parts.push(...this.valueParts(value));
    else if (ref?.t === "P") parts.push(element("p", "", ref.r));
    this.box.replaceChildren(...parts);
  }

  valueParts(value) {
    const { dtype, nan, inf } = value;
    const fields = { shape: shapeWords(value.shape), dtype, bytes: bytesWords(bytesOf(value)) };
    const about = element("p", "", message("tip.value", fields));
    if (!sizeOf(value)) return [about];
    const range = element("p", "", message("tip.range", { min: exact(value.min), max: exact(value.max), nan }));
    if (inf) range.append(`, ${message("value.inf", { count: inf })}`);
    const table = element("div", "tip-numbers", ...value.rows.flat().map((x) => element("span", "", exact(x))));
    table.style.gridTemplateColumns = `repeat(${value.rows[0].length}, auto)`;
    return [about, range, table, ...(value.cut ? [element("p", "", message("tip.cut"))] : [])];
  }

  // Below the thing, or above it where there is no room; never outside the player, nor
  // on the answer to what was clicked.
  put(place) {
    const zoom = this.root.currentCSSZoom || 1; // a presenter's type is larger
    const room = this.root.getBoundingClientRect();
    const own = this.box.getBoundingClientRect();
    const left = Math.min(place.left, room.right - own.width - 6) - room.left;
    const below = place.bottom + 5 - room.top;
    const above = place.top - own.height - 5 - room.top;
    const answer = this.root.querySelector(".number-box")?.getBoundingClientRect().top;
    const end = answer >= place.bottom ? answer : room.bottom;
    const fits = below + own.height <= end - room.top || above < 0;
    this.box.style.left = `${Math.max(4, left) / zoom}px`;
    this.box.style.top = `${(fits ? below : above) / zoom}px`;
  }

  hide() {
    if (this.box.hidden) return false;
    this.box.hidden = true;
    this.place = null;
    this.described?.removeAttribute("aria-describedby");
    return true;
  }
}
