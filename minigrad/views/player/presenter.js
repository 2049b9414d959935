// For a lecture: large type, one key on and one back, a pause before each outcome.

import { message } from "./messages.js";

/** @typedef {import("./player.js").Player} Player */

const OUTCOMES = new Set(["return", "exception", "ctx.save", "grad", "grad.none", "grad.accumulate"]);

export class Presenter {
  /** @param {Player} player */
  constructor(player) {
    this.player = player;
    this.on = false;
    this.pausing = false;
  }

  toggle() {
    this.on = !this.on;
    this.player.root.classList.toggle("presenting", this.on);
    this.release();
  }

  // On: first the question, then what happens.
  forward() {
    const { player } = this;
    const next = player.stops.find((stop) => stop > player.position);
    const outcome = next && OUTCOMES.has(player.story.events[next - 1].k);
    if (outcome && !this.pausing && !player.asks.waitsAt(player.position)) {
      this.pausing = true;
      player.root.classList.add("pausing");
      player.say.textContent = message("presenter.what-next");
      return;
    }
    player.step();
  }

  back() {
    if (this.pausing) this.release();
    else this.player.back();
  }

  // What a pause has put aside comes back.
  release() {
    if (this.pausing) this.player.sayStep();
    this.pausing = false;
    this.player.root.classList.remove("pausing");
  }

  /**
   * The keys of a presenter: those of a remote control too.
   * @returns {Record<string, () => void>}
   */
  moves() {
    const forward = () => this.forward();
    const back = () => this.back();
    return {
      ArrowRight: forward, PageDown: forward, Enter: forward, " ": forward,
      ArrowLeft: back, PageUp: back, Backspace: back,
    };
  }
}
