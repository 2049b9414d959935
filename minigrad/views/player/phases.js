// The strip of phases of apply and of backward.

import { element } from "./dom.js";
import { message } from "./messages.js";

/** @typedef {import("./types").View} View */

/**
 * As they are called in a recording; what is shown stands in the table of messages.
 * @type {Record<string, string[]>}
 */
const PHASES = {
  apply: [
    "collect inputs",
    "create ctx",
    "run forward",
    "wrap outputs",
    "wire edges",
    "take what was saved",
  ],
  backward: [
    "pick the newest ready node",
    "call its backward",
    "check what it returned",
    "add into the receivers",
    "release",
  ],
};

/** @param {string} of @param {string} name */
export function phaseWords(of, name) {
  const index = PHASES[of]?.indexOf(name) ?? -1;
  return index < 0 ? name : message(`phase.${of}.${index}`);
}

export class PhaseStrip {
  constructor() {
    this.box = element("div", "phases");
    this.box.setAttribute("aria-hidden", "true"); // the sentence says it in words
    /** @type {string | null} */
    this.shown = null;
  }

  /** @param {View} view */
  show({ state }) {
    const phase = state.phases.at(-1);
    const of = phase && PHASES[phase.of] ? phase.of : null;
    if (of !== this.shown) this.lay(of);
    const now = of ? PHASES[of].indexOf(phase.name) : -1;
    [...this.box.querySelectorAll(".phase")].forEach((one, index) => {
      one.classList.toggle("now", index === now);
      one.classList.toggle("past", index < now);
    });
  }

  /** @param {string | null} of */
  lay(of) {
    this.shown = of;
    this.box.replaceChildren();
    if (!of) return;
    this.box.append(element("b", "", of));
    PHASES[of].forEach((_, index) => {
      const one = element("span", "phase");
      const name = message(`phase.${of}.${index}`);
      one.append(element("i", "", String(index + 1)), element("span", "", name));
      this.box.append(one);
    });
  }
}
