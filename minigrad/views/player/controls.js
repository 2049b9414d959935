// Buttons, lists to choose from, and the help.

import { element, svgElement } from "./dom.js";
import { message } from "./messages.js";

const ICONS = {
  play: "M4 2v12l10-6z",
  close: "M3.5 2.3 8 6.8l4.5-4.5 1.2 1.2L9.2 8l4.5 4.5-1.2 1.2L8 9.2l-4.5 4.5-1.2-1.2L6.8 8 2.3 3.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
};

// The keys of the help, and the message that says what each does.
const HELP_KEYS = [
  ["→", "key.step"],
  ["←", "key.back"],
  ["Home, End", "key.ends"],
  ["/", "key.search"],
  ["n, N", "key.found"],
  ["Enter", "key.choose"],
  ["↑ ↓", "key.among"],
  ["=", "key.number"],
  ["Ctrl+Z", "key.undo"],
  ["Space", "key.play"],
  ["e", "button.engine"],
  ["c", "button.ctx"],
  ["+ − 0", "key.zoom"],
  ["f", "button.full"],
  ["p", "key.presenter"],
  ["?", "key.help"],
  ["Esc", "key.leave"],
];

// What stands in the picture, and the message that says what it means.
const HELP_MARKS = [
  ["x 2", "legend.value"],
  ["ctx", "legend.kept"],
  ["…Backward0", "mark.builtin"],
  ["× 5 (w)", "mark.slope"],
  ["2 + …", "mark.tray"],
  [".grad ← 5", "mark.slot"],
  ["■ □", "mark.array"],
  ["v1", "mark.version"],
  ["┄┄", "mark.dashed"],
];

export function iconButton(icon, label, key, action) {
  const button = textButton("", label, key, action);
  button.className = "icon";
  setIcon(button, icon, label);
  return button;
}

export function setIcon(button, icon, label) {
  const path = svgElement("path", { d: ICONS[icon] });
  button.replaceChildren(svgElement("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, path));
  button.ariaLabel = label;
}

export function textButton(text, label, key, action) {
  const title = message("button.with-key", { label, key });
  return element("button", { title, ariaLabel: label, onclick: action }, text);
}

// What opens is closed again when the focus goes elsewhere.
export function closeAfter(menu) {
  menu.addEventListener("focusout", (event) => {
    const to = event.relatedTarget;
    if (to && !menu.contains(to)) menu.open = false;
  });
  return menu;
}

export function helpSheet(close) {
  const sheet = element("div", "sheet");
  for (const [name, rows] of [["marks", HELP_MARKS], ["keys", HELP_KEYS]]) {
    const list = rows.flatMap(([sign, meaning]) => [element("dt", "", sign), element("dd", "", message(meaning))]);
    sheet.append(element("h2", "", message(`help.${name}`)), element("dl", "", ...list));
  }
  sheet.append(textButton(message("button.close"), message("button.help.close"), "Esc", close));
  const is = { className: "help", hidden: true, role: "dialog", ariaLabel: message("help.name") };
  const help = element("div", is, sheet);
  help.onclick = (event) => event.target === help && close();
  return help;
}
