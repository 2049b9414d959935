// What can be taken away: a step as a picture, all steps as text.

import { closeAfter } from "./controls.js";
import { element, svgElement } from "./dom.js";
import { message } from "./messages.js";

/** @typedef {{ text: string, width: number, height: number }} Picture */

const STYLES = [
  "display", "fill", "stroke", "stroke-width", "stroke-dasharray", "opacity",
  "visibility", "clip-path", "transform", "transform-origin", "transform-box", "scale", "marker-start", "marker-end", "font-family", "font-size", "font-weight", "text-anchor", "paint-order", "rx",
];
const MARGIN = 16;
const LINE = 19;
const PNG_SCALE = 3;

/**
 * The same text as minigrad.views.page.markdown_of.
 * @param {Trace} trace @param {number} level
 */
export function markdownOf(trace, level) {
  const { meta, events } = trace;
  /** @param {string} text */
  const plain = (text) => text.replace(/\s+/g, " ").trim().replace(/[\\\x60*_<>]/g, "\\$&");
  const lines = [`# ${plain(meta.title || message("player.title"))}`, ""];
  events
    .filter((event) => event.lvl <= level)
    .forEach((event, index) => lines.push(`${index + 1}. ${plain(event.say)}`));
  if (meta.error) lines.push("", `${message("text.error")} ${plain(meta.error)}`);
  return `${lines.join("\n")}\n`;
}

/**
 * The graph as it stands, the sentence above it, with all its styles inside.
 * @param {PicturePane} graph @param {string} sentence @returns {Picture}
 */
export function pictureOf(graph, sentence) {
  for (const change of graph.svg.getAnimations({ subtree: true })) change.finish();
  const copy = graph.svg.cloneNode(true);
  const originals = [graph.svg, ...graph.svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((one, index) => {
    const computed = getComputedStyle(originals[index]);
    const styles = STYLES.map((name) => `${name}:${computed.getPropertyValue(name)}`);
    one.setAttribute("style", styles.join(";"));
    for (const name of ["role", "tabindex", "data-tells", "aria-label"]) one.removeAttribute(name);
  });
  const { x, y, width, height } = graph.inView();
  copy.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  const wide = Math.max(width, 460);
  const lines = wrapped(sentence, Math.floor(wide / 7.4));
  const top = MARGIN + lines.length * LINE;
  const box = { width: wide + 2 * MARGIN, height: height + top + MARGIN };
  const whole = svgElement("svg", { ...box, viewBox: `0 0 ${box.width} ${box.height}` });
  const style = getComputedStyle(graph.body);
  whole.append(svgElement("rect", { ...box, fill: style.backgroundColor }));
  lines.forEach((line, index) => {
    const text = svgElement("text", {
      x: MARGIN,
      y: MARGIN + 8 + index * LINE,
      fill: style.color,
      "font-family": "sans-serif",
      "font-size": 14,
      "font-weight": 600,
    });
    text.textContent = line;
    whole.append(text);
  });
  /** @type {Record<string, number>} */
  const place = { x: MARGIN + (wide - width) / 2, y: top, width, height };
  for (const name in place) copy.setAttribute(name, place[name]);
  copy.style.width = copy.style.height = "";
  whole.append(copy);
  return { text: new XMLSerializer().serializeToString(whole), ...box };
}

/** @param {string} text @param {number} most */
function wrapped(text, most) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** @param {Picture} picture @returns {Promise<Blob>} */
async function pngOf({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = element("canvas");
  canvas.width = width * PNG_SCALE;
  canvas.height = height * PNG_SCALE;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** @param {string} name @param {Blob} blob */
function download(name, blob) {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * The list of ways to save; those that need a drawing are off where there is none.
 * @param {Player} player
 */
export function savingMenu(player) {
  const menu = element("details", "saving");
  const summary = element("summary", "", message("save.name"));
  const list = element("div", "saving-list");
  /** @param {string} ending */
  const file = (ending) => `step-${player.stopNow()}.${ending}`;
  const picture = () => player.pictureNow();
  /** @type {Record<string, () => void | Promise<void>>} */
  const ways = {
    svg: () => download(file("svg"), new Blob([picture().text], { type: "image/svg+xml" })),
    png: async () => download(file("png"), await pngOf(picture())),
    markdown: () => {
      const text = markdownOf(player.trace, player.level);
      download("steps.md", new Blob([text], { type: "text/markdown" }));
    },
  };
  for (const way in ways) {
    const button = element("button", "", message(`save.${way}`));
    button.disabled = way !== "markdown" && !player.graph.svg;
    button.onclick = () => {
      menu.open = false;
      summary.focus();
      return ways[way]();
    };
    list.append(button);
  }
  menu.append(summary, list);
  return closeAfter(menu);
}
