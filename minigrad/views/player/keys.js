// What a key does in the player.

import { leaveFrame } from "./dom.js";
import { isUndo } from "./edited.js";

export function onKey(player, event) {
  const tag = event.target.tagName;
  const typing = tag === "SELECT" || ["search", "text"].includes(event.target.type);
  if (isUndo(event) && !typing && player.edits?.isOpen) {
    player.edits.undo();
    event.preventDefault();
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.type === "search" && event.key === "Enter") player.found.goOn(1);
  if (typing && event.key !== "Escape") return;
  if (event.target.type === "radio" && /^(Arrow| $|Enter)/.test(event.key)) return;
  const pressed = event.key === " " || event.key === "Enter";
  if (pressed && (tag === "BUTTON" || tag === "SUMMARY")) return;
  if (pressed && event.target.getAttribute("role") === "button") {
    event.target.dispatchEvent(new MouseEvent("click"));
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  const moves = movesOf(player);
  if (player.presenter.on) Object.assign(moves, player.presenter.moves());
  const move = moves[event.key];
  if (!move) return;
  if (player.playing && event.key !== " ") player.pause();
  move();
  event.preventDefault();
  event.stopPropagation();
}

export function movesOf(player) {
  return {
    ArrowRight: () => player.step(),
    ArrowLeft: () => player.back(),
    Home: () => player.go(0),
    End: () => player.go(player.stops.at(-1)),
    " ": () => player.toggle(),
    "/": () => player.found.open(),
    "=": () => askHere(player),
    n: () => player.found.goOn(1),
    N: () => player.found.goOn(-1),
    p: () => player.presenter.toggle(),
    e: () => player.showEngine(),
    c: () => player.inspect(),
    f: () => player.toggleFull(),
    "+": () => player.graph.zoom(0.8),
    "-": () => player.graph.zoom(1.25),
    0: () => player.graph.fit(),
    "?": () => player.toggleHelp(),
    Escape: () => escape(player),
  };
}

// The number of the node that has the focus, else of the one that is spoken of.
function askHere(player) {
  const focused = document.activeElement?.closest?.("g.node");
  const id = focused?.id.replace(/^mg_/, "").split("__")[0];
  const event = player.story.events[player.position - 1];
  const node = id || event?.n;
  if (node) player.numbers.ask(node, event?.n === node ? event.slot || 0 : 0, null, true);
}

function escape(player) {
  if (!player.help.hidden) return player.toggleHelp();
  if (player.tip.hide()) return;
  if (!player.numbers.box.hidden) return player.numbers.close();
  if (!player.found.box.hidden) return player.found.close();
  if (player.root.classList.contains("inspecting")) return player.inspect(false);
  leaveFrame();
}
