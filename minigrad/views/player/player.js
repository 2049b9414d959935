// The player: it ties the panes to buttons and keys.

import { CodePane } from "./code.js";
import { closeAfter, helpSheet, iconButton, setIcon, textButton } from "./controls.js";
import { CtxPane } from "./ctx.js";
import { element, setText } from "./dom.js";
import { Edited } from "./edited.js";
import { Found } from "./found.js";
import { movesOf, onKey } from "./keys.js";
import { Memory } from "./memory.js";
import { message, wordFor } from "./messages.js";
import { Numbers } from "./numbers.js";
import { PicturePane } from "./picture.js";
import { Presenter } from "./presenter.js";
import { Story, lastAtMost } from "./story.js";
import { pictureOf, savingMenu } from "./saving.js";
import { StepIndex } from "./steps.js";
import { Timeline } from "./timeline.js";
import { Tip } from "./tips.js";

const SPEEDS = [0.5, 1, 2, 4];

const MENU = { first: "Home", last: "End", engine: "e", ctx: "c", search: "/", presenter: "p", full: "f", help: "?" };

const LEVELS = [0, 2, 3]; // Picture, Phases, Everything: each stops where those before do

export class Player {
  constructor(root, trace, options = {}) {
    this.root = root;
    this.trace = trace;
    this.story = new Story(trace);
    this.index = new StepIndex(this.story);
    this.options = options;
    const isTold = trace.events.some(({ lvl }) => lvl === 0);
    this.level = options.level ?? trace.meta.level ?? (isTold ? 0 : 2);
    this.speed = options.speed || 1;
    this.position = -1;
    this.stops = this.story.stopsAt(this.level);
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.listening = new AbortController();
    this.presenter = new Presenter(this);
    this.edits = options.side ? null : options.edits || new Edited(options.python);
    this.build();
    this.edits?.belongTo(this);
    this.go(options.position || 0);
  }

  build() {
    const { root, trace, options } = this;
    this.prepare();
    this.memory = new Memory(trace);
    this.found = new Found(this);
    this.code = new CodePane(this);
    this.numbers = new Numbers(this);
    this.graph = new PicturePane(this);
    this.ctx = new CtxPane(this);
    this.timeline = new Timeline(this);
    this.asks = options.asks ? new options.asks(this) : null;
    this.tip = new Tip(this);
    this.sentence = element("div", "sentence", this.say, this.phase, this.begin, this.graph.zoomBox);
    this.stage = element("div", "stage", this.code.box, this.graph.box, this.ctx.box);
    root.style.setProperty("--tall", `${this.graph.readableHeight()}px`);
    root.replaceChildren(
      this.sentence,
      this.found.box,
      ...(this.asks ? [this.asks.box] : []),
      this.stage,
      this.code.strip,
      this.numbers.box,
      this.timeline.box,
      this.buildBar(),
      this.tip.box,
      this.help,
    );
    const { signal } = this.listening;
    root.addEventListener("keydown", (event) => onKey(this, event), { signal });
  }

  prepare() {
    const title = this.trace.meta.title || message("player.untitled");
    Object.assign(this.root, { tabIndex: 0, role: "group", ariaLabel: message("player.name", { title }) });
    this.root.classList.add("mg-player");
    this.root.dataset.lmSuppressShortcuts = "true";
    this.say = element("p", { className: "say", ariaLive: "polite" });
    this.begin = element("span", "begin", message("player.begin"));
    this.phase = element("span", "phase");
    this.help = helpSheet(() => this.toggleHelp());
  }

  buildBar() {
    const [back, step] = [["back", "←"], ["step", "→"]].map(([name, key]) => {
      return textButton(message(`button.${name}.short`), message(`button.${name}`), key, () => this[name]());
    });
    step.classList.add("primary");
    this.playButton = iconButton("play", message("button.play"), "Space", () => this.toggle());
    this.slider = element("input", { className: "slider", type: "range", min: "0", ariaLabel: message("slider.name") });
    this.slider.oninput = () => this.go(this.stops[Number(this.slider.value)]);
    this.count = element("span", "count");
    const levels = LEVELS.map((level) => {
      return element("button", { value: level, onclick: () => this.setLevel(level) }, message(`level.${level}`));
    });
    this.levels = element("div", { className: "levels", role: "group", ariaLabel: message("level.name") }, ...levels);
    this.showLevel();
    this.regions = element("div", { className: "regions", ariaHidden: "true" });
    this.lay();
    const track = element("div", "track", this.regions, this.slider, this.found.marks);
    const bar = element("div", "bar",
      element("div", "ways", back, step, this.playButton, this.presenter.clock),
      element("div", "scrub", track, this.count),
      element("div", "settings", this.levels, this.buildMenu()),
    );
    this.backward.push(back);
    this.forward.push(step);
    return bar;
  }

  buildMenu() {
    const summary = element("summary", { ariaLabel: message("menu.name"), title: message("menu.name") }, "…");
    const moves = movesOf(this);
    const entries = Object.entries(MENU).map(([name, key]) => {
      const label = message(`button.${name}`);
      const button = textButton(label, label, key, () => {
        menu.open = false;
        moves[key]();
      });
      button.append(element("kbd", "", key));
      return button;
    });
    [this.backward, this.forward] = entries.slice(0, 2).map((button) => [button]);
    const speeds = SPEEDS.map((one) => new Option(`${one}×`, String(one), false, one === this.speed));
    const speed = element("select", { ariaLabel: message("speed.name") }, ...speeds);
    speed.onchange = () => (this.speed = Number(speed.value));
    const menu = element("details", "more", summary, element("div", "menu", ...entries, speed, savingMenu(this)));
    return closeAfter(menu);
  }

  // What was clicked: its steps; of what has a gradient, which sum that is.
  choose(what, name) {
    this.edits?.choose(what, name);
    const [kind, id, slot] = what.split(" ");
    if (kind === "value") return;
    this.found.stepsOf(what, name);
    const edge = kind === "edge" && this.story.edges[id];
    if (edge) this.numbers.askNode(edge.to, edge.to_slot);
    else if (kind === "node" || kind === "grad") this.numbers.askNode(id, Number(slot || 0));
  }

  // What stands along the stops of a level.
  lay() {
    this.timeline.lay();
    this.layRegions();
  }

  // Where forward ends and backward begins, under the slider.
  layRegions() {
    const last = this.stops.length - 1;
    const begin = this.story.events.findIndex(({ k }) => k === "backward.begin") + 1;
    const share = begin && last ? Math.max(0, this.stopAt(begin) - 0.5) / last : 1;
    const parts = [["forward", share], ["backward", 1 - share]].filter(([, wide]) => wide);
    this.regions.replaceChildren(
      ...parts.map(([name, wide]) => {
        const region = element("span", name, message(`region.${name}`));
        region.style.width = `${Number(wide) * 100}%`;
        return region;
      }),
    );
  }

  showLevel() {
    for (const button of this.levels.children) {
      button.ariaPressed = String(Number(button.value) === this.level);
    }
    this.root.classList.toggle("with-engine", this.level === 3 || Boolean(this.engine));
  }

  // apply's own lines, or the loop's, beside the picture.
  showEngine() {
    this.engine = !this.engine;
    this.showLevel();
    this.code.measure();
  }

  // The inspector of ctx; of one that is pinned it follows the steps.
  inspect(open = !this.root.classList.contains("inspecting"), ctx = null) {
    this.root.classList.toggle("inspecting", open);
    this.ctx.pinned = open ? ctx : null;
    if (!this.view) return;
    this.ctx.show(this.view);
    this.ctx.measure();
    this.graph.drew?.(); // who marks values marks those of ctx, too
  }

  // Where a presenter may have the code, in presenter.css.
  get ways() {
    return ["code", "below", "beside", ...(this.timeline.box.open ? [] : ["slim"])];
  }

  get graphs() {
    return [this.graph];
  }

  pictureNow() {
    return pictureOf(this.graph, this.say.textContent);
  }

  toggleFull() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.root.requestFullscreen?.();
  }

  go(position) {
    const wanted = Math.max(0, Math.min(this.story.length, Math.round(position)));
    const to = this.asks ? this.asks.limit(wanted) : wanted;
    if (to === this.position) return;
    const stop = lastAtMost(this.stops, to);
    const single = to > this.position && this.stops[stop - 1] === this.position;
    this.position = to;
    this.presenter.release();
    this.show(to, to === this.stops[stop] ? this.stops[stop - 1] ?? -1 : this.stops[stop], stop, single);
    this.found.here();
    this.options.onMove?.(to);
  }

  // `since` is where the step before was; `single` is said of the next step.
  show(position, since, stop, single) {
    const { trace, story, level } = this;
    const event = story.events[position - 1] || null;
    const state = story.stateAt(position);
    const changes = story.changes(since, position);
    const animate = single && !this.still.matches;
    const view = { position, trace, state, event, level, since, changes, animate, duration: 550 / this.speed };
    this.view = view;
    this.showWords(view, stop);
    this.tip.hide();
    const parts = [this.code, this.graph, this.ctx, this.timeline, this.asks, this.numbers];
    for (const part of parts) part?.show(view);
    // What is measured comes after all that is changed: the page is laid out once a step.
    for (const part of [this.graph, this.ctx, this.code]) part.measure(view);
    this.edits?.mark(view);
  }

  showWords({ state, event }, stop) {
    this.sayStep();
    setText(this.phase, this.level ? phaseOf(state) : "");
    this.begin.hidden = Boolean(event);
    this.root.classList.toggle("failed", Boolean(state.error));
    const last = this.stops.length - 1;
    this.slider.max = String(last);
    this.slider.value = String(stop);
    this.slider.ariaValueText = message("player.place", { step: stop, last });
    setText(this.count, message("player.count", { step: stop, last }));
    for (const button of this.backward) button.disabled = this.position === 0;
    for (const button of this.forward) button.disabled = this.position >= this.stops[last];
  }

  goToStop(stop) {
    this.pause();
    this.go(this.stops[stop]);
  }

  stopNow() {
    return lastAtMost(this.stops, this.position);
  }

  // The number of the stop that shows what the event before `position` did.
  stopAt(position) {
    const place = lastAtMost(this.stops, position - 1) + 1;
    return Math.min(place, this.stops.length - 1);
  }

  shareOf(stop) {
    return stop / (this.stops.length - 1 || 1);
  }

  marksOf(stops) {
    return stops.map((stop) => {
      const mark = element("i");
      mark.style.setProperty("--at", String(this.shareOf(stop)));
      return mark;
    });
  }

  sayStep() {
    const event = this.story.events[this.position - 1];
    const title = this.trace.meta.title || message("player.title");
    const start = this.level ? title : message("player.start", { title });
    setText(this.say, (this.level ? event?.say : this.whyNow()) || start);
  }

  // At Picture a sentence holds until the next one.
  whyNow() {
    const { events } = this.story;
    const event = events[this.position - 1];
    let at = this.position - 1;
    while (at > 0 && events[at].lvl > 0 && events[at].k !== "ask") at -= 1;
    const last = events[at];
    return event?.k === "exception" && !event.why ? event.say : last?.why || last?.say || event?.say;
  }

  step() {
    if (this.asks?.waitsAt(this.position)) {
      this.asks.focus();
      return false;
    }
    const next = this.stops[this.stopNow() + 1];
    if (next !== undefined) this.go(next);
    return next !== undefined;
  }

  back() {
    const before = this.stops[lastAtMost(this.stops, this.position - 1)];
    if (before !== undefined) this.go(before);
  }

  setLevel(level) {
    this.level = Number(level);
    this.showLevel();
    this.stops = this.story.stopsAt(this.level);
    const nearest = this.stops[lastAtMost(this.stops, this.position)];
    this.position = -1;
    this.lay();
    this.go(nearest);
    this.found.again();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.position >= this.stops.at(-1)) this.go(0);
    this.playing = true;
    setIcon(this.playButton, "pause", message("button.pause"));
    const beat = () => {
      const over = !this.step() || this.position >= this.stops.at(-1);
      if (over || this.asks?.waitsAt(this.position)) this.pause();
      else this.timer = setTimeout(beat, 1400 / this.speed);
    };
    beat();
  }

  pause() {
    this.playing = false;
    clearTimeout(this.timer);
    setIcon(this.playButton, "play", message("button.play"));
  }

  toggleHelp() {
    this.help.hidden = !this.help.hidden;
    if (this.help.hidden) this.root.focus({ preventScroll: true });
    else this.help.querySelector("button").focus({ preventScroll: true });
  }

  // What a player needs to be made anew as it is.
  place() {
    return { position: this.position, level: this.level, speed: this.speed };
  }

  // Whether nothing is open or under way that a player made anew would not have.
  isAtRest() {
    const { help, found, numbers, presenter, ctx, timeline } = this;
    const closed = [help, found.box, numbers.box].every((box) => box.hidden);
    const strip = timeline.box.open === Boolean(this.trace.meta.memory);
    const asAtFirst = ctx.locals.open && strip && !presenter.on && !this.engine;
    const choosing = this.asks?.box.querySelector("input:checked");
    const inspects = this.root.classList.contains("inspecting") || this.edits?.isOpen;
    return closed && asAtFirst && !choosing && !inspects && !this.playing;
  }
}

// What apply or backward is at, where the sentence is of one of its phases.
function phaseOf({ phases }) {
  const { of, name } = phases.at(-1) || {};
  return name ? message("phase.name", { of, name: wordFor(name) }) : "";
}
