// For a lecture: large type, the whole player on the screen, one key on and one back, a
// pause before each outcome, a clock; no answer of one's own is shown. The panes are
// laid out so that the picture can be read whole, if there is such a way.

import { element, setText } from "./dom.js";
import { message } from "./messages.js";

const LEAST_ASIDE = 200; // px beside a picture that the sentence has at least
const MOST_SAID = 96; // px: three lines
// The least type is 24 px high (18 points), which are so many px of a picture: the more they
// are, the smaller is the picture, and the narrower are its letters. At last, what is never whole.
const TYPES = [14, 15, 16, 17, 18, 16];
const LEAST_TYPE = 24 / 1.4; // zoomed, in presenter.css
const OUTCOMES = new Set(["return", "exception", "ctx.save", "grad", "grad.none", "grad.accumulate"]);

export class Presenter {
  constructor(player) {
    this.player = player;
    this.on = false;
    this.pausing = false;
    this.clock = element("span", { className: "clock", role: "timer" });
    const { signal } = player.listening;
    // Esc leaves the full screen, which takes no other key: it ends all of it.
    player.root.addEventListener("fullscreenchange", () => {
      if (this.on && !document.fullscreenElement) this.toggle();
    }, { signal });
    this.sizes = new ResizeObserver(() => this.arrange());
    signal.addEventListener("abort", () => {
      this.sizes.disconnect();
      clearInterval(this.timer);
    });
  }

  // In a notebook's frame it takes the whole screen; where that is refused, the frame. On
  // a slide it has what the slide gives it. The clock counts from when it began.
  toggle(since = Date.now()) {
    const { player } = this;
    this.on = !this.on;
    player.root.classList.toggle("presenting", this.on);
    this.release();
    player.asks?.again();
    this.lay();
    if (player.options.presents) return;
    this.tick((this.since = since));
    if (parent === window) return;
    if (this.on) player.root.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) document.exitFullscreen();
  }

  lay() {
    const { player, on } = this;
    const { root } = player;
    this.sizes.disconnect();
    this.width = 0;
    if (on) for (const one of [root, player.stage]) this.sizes.observe(one);
    else delete root.dataset.way;
    for (const graph of player.graphs) graph.present(on);
    if (on) this.arrange();
    else player.arrange?.();
  }

  // The sentence has the room of the longest: a step does not move the picture.
  reserve() {
    const { root, say, story, level } = this.player;
    const said = say.textContent;
    this.width = root.clientWidth;
    delete root.dataset.way; // it is as wide as the player
    root.style.removeProperty("--said");
    const all = story.events.map((event) => (level ? event.say : event.why) || "");
    say.textContent = all.reduce((long, one) => (one.length > long.length ? one : long), "");
    root.style.setProperty("--said", `${Math.min(say.parentElement.offsetHeight, MOST_SAID)}px`);
    say.textContent = said;
  }

  // The widest type with which there is a way to see the picture whole; else the way in which
  // most of it is seen.
  arrange() {
    const { root, graphs, ways } = this.player;
    if (root.clientWidth !== this.width) this.reserve();
    const take = (way) => {
      root.dataset.way = way;
      root.classList.toggle("abreast", way === "abreast");
      return Math.min(...graphs.map((one) => one.share()));
    };
    const before = graphs.map(({ least }) => least);
    TYPES.some((type) => {
      root.style.setProperty("--type", String(type));
      for (const graph of graphs) graph.least = LEAST_TYPE / type;
      const needs = Math.max(...graphs.map((one) => one.needs(root.clientHeight)));
      root.style.setProperty("--aside", `${Math.max(LEAST_ASIDE, root.clientWidth - needs)}px`);
      const shares = ways.map(take);
      const most = Math.max(...shares);
      take(ways[shares.indexOf(most)]);
      return most === 1;
    });
    graphs.forEach((graph, place) => (graph.least === before[place] ? graph.resized() : graph.fit()));
  }

  tick(since) {
    clearInterval(this.timer);
    const show = () => {
      const seconds = Math.floor((Date.now() - since) / 1000);
      const rest = String(seconds % 60).padStart(2, "0");
      setText(this.clock, `${Math.floor(seconds / 60)}:${rest}`);
    };
    if (this.on) this.timer = setInterval(show, 1000);
    show();
  }

  // On: first the question, then what happens.
  forward() {
    const { player } = this;
    const next = player.stops.find((stop) => stop > player.position);
    const outcome = next && OUTCOMES.has(player.story.events[next - 1].k);
    if (outcome && !this.pausing && !player.asks?.isAt(player.position)) {
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

  // The keys of a presenter: those of a remote control too.
  moves() {
    const forward = () => this.forward();
    const back = () => this.back();
    return {
      ArrowRight: forward, PageDown: forward, Enter: forward, " ": forward,
      ArrowLeft: back, PageUp: back, Backspace: back,
    };
  }
}
