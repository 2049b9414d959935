// The page around the player: theme, frame, the place that is kept.

import { goOnByKey } from "./dom.js";
import { onKey } from "./keys.js";
import { Player } from "./player.js";

const FAR = 1000; // px from the edge of what is seen: more than a screen
const LOOKS_EVERY = 500; // ms

// Starts the player of a page written by minigrad.views.page, which has been unpacked. In
// a notebook, which may hold many, it stands only while it is near what is seen.
export async function start(Shown = Player) {
  followTheme();
  const main = document.querySelector("main");
  const root = document.getElementById("player");
  const memory = `minigrad player ${root.dataset.key}`;
  const kept = `${memory} answers`;
  const options = {
    position: Number(recall(memory) ?? root.dataset.start) || 0,
    onMove: (at) => remember(memory, at),
    asks: main.asks,
    answers: JSON.parse(recall(kept) || "{}"),
    python: () => findPython(root.dataset.key),
    onAnswer: (answers) => remember(kept, JSON.stringify(answers)),
  };
  options.presents = outerBody()?.dataset.minigradPresents !== undefined;
  fitFrame(main, !options.presents);
  while (true) {
    await stand(Shown, root, main, options);
    show(main, false);
    await main.unpack.inView();
  }
}

// From when a player is made until it is far from view; then nothing holds it any more.
async function stand(Shown, root, main, options) {
  const trace = JSON.parse(await main.unpack.textOf("trace"));
  const place = root.cloneNode();
  root.replaceWith(place);
  show(main, true);
  const onSuccessor = (player) => (place.player = player);
  const player = (place.player = new Shown(place, trace, { ...options, onSuccessor }));
  performance.mark("mounted");
  if (options.presents) place.player.presenter.toggle();
  // On a page of its own keys work at once, whatever has the focus. (In a notebook a
  // listener would keep a player that is out of sight.)
  if (parent === window) {
    document.body.addEventListener("keydown", (event) => {
      if (event.target === document.body) onKey(place.player, event);
    });
  }
  if (trace.meta.play && !player.position && !player.still.matches) player.play();
  await farFromView(place);
  Object.assign(options, place.player.place());
  place.player.edits?.box.remove();
  place.replaceWith(root);
}

// What is not shown leaves the view to what stands below the frame.
function show(main, shown) {
  document.querySelector("style").sheet.disabled = !shown;
  main.hidden = !shown;
}

// Resolves when the player is far from what is seen, and nothing is open or under way
// in it that would be lost.
function farFromView(place) {
  return new Promise((done) => {
    if (parent === window) return; // a page of its own
    const timer = setInterval(() => {
      if (!isFar() || isUsed(place)) return;
      clearInterval(timer);
      done();
    }, LOOKS_EVERY);
  });
}

// Margins of an observer end at the notebook's own scroll box: so this is measured. What
// is in a hidden tab of a notebook has no height, and is not far.
function isFar() {
  const { top, bottom, height } = window.frameElement.getBoundingClientRect();
  return height > 0 && (bottom < -FAR || top > parent.innerHeight + FAR);
}

function isUsed({ player }) {
  return !player.isAtRest() || attempt(() => parent.document.activeElement === window.frameElement, true);
}

// What is forbidden in a frame from elsewhere, or without storage, is not done.
function attempt(action, otherwise = null) {
  try {
    return action();
  } catch {
    return otherwise;
  }
}

export function recall(key) {
  return attempt(() => sessionStorage.getItem(key));
}

export function remember(key, value) {
  attempt(() => sessionStorage.setItem(key, String(value)));
}

// Dark or light: as the page around says (JupyterLab in its own words, Furo and marimo by
// data-theme), else as the system prefers.
export function followTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const outer = outerBody();
  const apply = () => {
    const { jpThemeLight, theme } = outer?.dataset ?? {};
    const light = jpThemeLight === "true" || theme === "light";
    const dark = jpThemeLight === "false" || theme === "dark";
    document.documentElement.classList.toggle("dark", dark || (!light && system.matches));
  };
  apply();
  system.addEventListener("change", apply);
  if (outer) {
    const attributeFilter = ["data-jp-theme-light", "data-theme"];
    new MutationObserver(apply).observe(outer, { attributeFilter });
  }
}

const outerBody = () => (parent === window ? null : attempt(() => parent.document.body));

const ANSWERS_WITHIN = 1000; // ms
let editing; // what Python has sent: once, however many ask for it

// Whether Python has the recording of a page in a notebook; and if so what edits it, or
// why its program cannot run again.
async function findPython(key) {
  if (parent === window) return null;
  const { port1, port2 } = new MessageChannel();
  parent.postMessage({ minigrad: "player", key }, "*", [port2]);
  port1.postMessage({ kind: "hello", id: "hello", content: {} });
  const answer = await new Promise((done) => {
    // The answers to other pages of the same recording come here, too.
    port1.onmessage = ({ data }) => data.id === "hello" && done(data.content);
    setTimeout(done, ANSWERS_WITHIN);
  });
  if (!answer?.code) return answer || null;
  editing ||= new Promise((done) => {
    const main = document.querySelector("main");
    main.edits = done;
    main.unpack.run(answer.code);
  });
  const edits = await editing;
  return { edits: (trace) => edits(trace, port1) };
}

// In a notebook the frame is as high as the player, also while that does not stand; on
// a slide the player is as high as the frame.
export function fitFrame(box, asHigh = true) {
  goOnByKey();
  const frame = attempt(() => window.frameElement);
  if (!frame) return;
  document.documentElement.classList.add("framed");
  if (!asHigh) return;
  const fit = () => {
    const { height: tall } = box.getBoundingClientRect();
    if (!tall) return;
    const height = `${Math.ceil(tall) + 8}px`;
    frame.style.height = height;
    if (frame.parentElement?.dataset.minigradPlayer !== undefined) {
      frame.parentElement.style.height = height;
    }
  };
  new ResizeObserver(fit).observe(box);
  fit();
}
