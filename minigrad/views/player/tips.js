// What is told of a thing under the pointer or with the focus: a value in full.

import { element, tellerOf } from "./dom.js";
import { message } from "./messages.js";
import { bytesOf, bytesWords, exact, shapeWords, sizeOf } from "./values.js";

export class Tip {
  /** @param {HTMLElement} root @param {Trace} trace @param {AbortSignal} signal its end */
  constructor(root, trace, signal) {
    this.trace = trace;
    this.root = root;
    this.box = element("div", "tip");
    this.box.id = `tip-${Math.random().toString(36).slice(2)}`;
    this.box.role = "tooltip";
    this.box.hidden = true;
    root.addEventListener("pointerover", (event) => this.over(event), { signal });
    root.addEventListener("pointerleave", () => this.hide(), { signal });
    root.addEventListener("focusin", (event) => this.over(event), { signal });
    root.addEventListener("focusout", () => this.hide(), { signal });
    root.addEventListener("scroll", () => this.hide(), { capture: true, signal });
    root.addEventListener("click", () => this.makeRoom(), { signal });
  }

  /** @param {{type: string, target: any}} event */
  over(event) {
    const place = event.target.closest?.("[data-tells]");
    if (place === this.place) return;
    if (event.type === "pointerover" && this.box.contains(event.target)) return;
    this.hide();
    const told = place && tellerOf(place)?.();
    if (!told) return;
    this.place = place;
    this.fill(told);
    this.box.hidden = false;
    this.put(place.getBoundingClientRect());
    if (event.type !== "focusin") return;
    this.described = event.target;
    this.described.setAttribute("aria-describedby", this.box.id);
  }

  /** @param {Told} told */
  fill({ title, words = [], ref }) {
    const parts = [element("b", "", title)];
    for (const line of words) parts.push(element("p", "", line));
    const value = ref?.v && this.trace.values[ref.v];
    if (value) parts.push(...this.valueParts(value));
    else if (ref?.t === "P") parts.push(element("p", "", ref.r));
    this.box.replaceChildren(...parts);
  }

  /** @param {Value} value */
  valueParts(value) {
    /** @type {Record<string, string>} */
    const fields = { shape: shapeWords(value.shape), dtype: value.dtype };
    fields.bytes = bytesWords(bytesOf(value));
    const about = element("p", "", message("tip.value", fields));
    const ends = { min: exact(value.min), max: exact(value.max), nan: value.nan };
    const range = element("p", "", message("tip.range", ends));
    const table = element("div", "tip-numbers");
    table.style.gridTemplateColumns = `repeat(${value.rows[0]?.length || 1}, auto)`;
    for (const x of value.rows.flat()) table.append(element("span", "", exact(x)));
    const parts = sizeOf(value) ? [about, range, table] : [about];
    if (value.inf) range.append(`, ${message("value.inf", { count: value.inf })}`);
    if (value.cut) parts.push(element("p", "", message("tip.cut")));
    return parts;
  }

  // A click may have opened what the tip now lies on.
  makeRoom() {
    if (this.place?.isConnected) this.put(this.place.getBoundingClientRect());
  }

  /**
   * Below the thing, or above it where there is no room; never outside the player, nor
   * on the answer to what was clicked.
   * @param {DOMRect} place
   */
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
