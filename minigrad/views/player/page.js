// The page around the player: theme, frame, the place that is kept.

import { Comparison } from "./compare.js";
import { Player } from "./player.js";

export function mount(root, trace, options) {
  const Shown = trace.traces ? Comparison : Player;
  root.player = new Shown(root, trace, options);
  return root.player;
}

// Starts the player of a page written by minigrad.views.page, which has been unpacked.
export function start() {
  followTheme();
  const root = document.getElementById("player");
  const memory = `minigrad player ${root.dataset.key}`;
  const position = Number(recall(memory)) || 0;
  const kept = `${memory} answers`;
  mount(root, root.trace, {
    position,
    onMove: (at) => remember(memory, at),
    answers: JSON.parse(recall(kept) || "{}"),
    onAnswer: (answers) => remember(kept, JSON.stringify(answers)),
  });
  performance.mark("mounted");
  fitFrame(root);
}

// Storage may be forbidden (a sandboxed frame): then the position is not remembered.
export function recall(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key, value) {
  try {
    sessionStorage.setItem(key, String(value));
  } catch {
    // not remembered
  }
}

// Dark or light: as the notebook around says, else as the system prefers.
export function followTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const outer = outerBody();
  const apply = () => {
    const light = outer?.dataset.jpThemeLight;
    const dark = light === undefined ? system.matches : light === "false";
    document.documentElement.classList.toggle("dark", dark);
  };
  apply();
  system.addEventListener("change", apply);
  if (outer) {
    const options = { attributes: true, attributeFilter: ["data-jp-theme-light"] };
    new MutationObserver(apply).observe(outer, options);
  }
}

function outerBody() {
  try {
    return parent === window ? null : parent.document.body;
  } catch {
    return null; // a frame from elsewhere
  }
}

// In a notebook the frame is as high as the player.
export function fitFrame(root) {
  let frame = null;
  try {
    frame = window.frameElement;
  } catch {
    return;
  }
  if (!frame) return;
  document.documentElement.classList.add("framed");
  const fit = () => {
    const height = `${Math.ceil(root.getBoundingClientRect().height) + 8}px`;
    frame.style.height = height;
    if (frame.parentElement?.dataset.minigradPlayer !== undefined) {
      frame.parentElement.style.height = height;
    }
  };
  new ResizeObserver(fit).observe(root);
  fit();
}
