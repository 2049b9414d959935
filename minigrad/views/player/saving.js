// What can be taken away: a step as a picture, all steps as text.

import { closeAfter } from "./controls.js";
import { element, svgElement } from "./dom.js";
import { message } from "./messages.js";

const STYLES = [
  "display", "fill", "stroke", "stroke-width", "stroke-dasharray", "opacity",
  "visibility", "clip-path", "transform", "transform-origin", "transform-box", "scale", "marker-start", "marker-end", "font-family", "font-size", "font-weight", "text-anchor", "paint-order", "rx",
];
const MARGIN = 16;
const LINE = 19;
const PNG_SCALE = 3;

// The same text as Recording.to_markdown.
export function markdownOf(trace, level) {
  const { meta, events } = trace;
  const plain = (text) => text.replace(/\s+/g, " ").trim().replace(/[\\\x60*_<>]/g, "\\$&");
  const lines = [`# ${plain(meta.title || message("player.title"))}`, ""];
  events
    .filter((event) => event.lvl <= level)
    .forEach((event, index) => lines.push(`${index + 1}. ${plain(event.say)}`));
  if (meta.error) lines.push("", `${message("text.error")} ${plain(meta.error)}`);
  return `${lines.join("\n")}\n`;
}

// The graph as it stands, the sentence above it, with all its styles inside.
export function pictureOf(graph, sentence) {
  graph.layers.overlay.replaceChildren(); // gradients on their way
  for (const change of graph.svg.getAnimations({ subtree: true })) change.finish();
  const copy = graph.svg.cloneNode(true);
  const originals = [graph.svg, ...graph.svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((one, index) => {
    const computed = getComputedStyle(originals[index]);
    const styles = STYLES.map((name) => `${name}:${computed.getPropertyValue(name)}`);
    one.setAttribute("style", styles.join(";"));
    for (const name of ["role", "tabindex", "data-tells", "aria-label"]) one.removeAttribute(name);
  });
  const view = graph.inView();
  const [, , width, height] = view;
  copy.setAttribute("viewBox", view.join(" "));
  const wide = Math.max(width, 460);
  const lines = wrapped(sentence, Math.floor(wide / 7.4));
  const top = MARGIN + lines.length * LINE;
  const box = { width: wide + 2 * MARGIN, height: height + top + MARGIN };
  const { backgroundColor, color: fill } = getComputedStyle(graph.body);
  const font = { fill, "font-family": "sans-serif", "font-size": 14, "font-weight": 600 };
  const said = lines.map((line, at) => svgElement("text", { x: MARGIN, y: MARGIN + 8 + at * LINE, ...font }, line));
  const place = { x: MARGIN + (wide - width) / 2, y: top, width, height };
  for (const name in place) copy.setAttribute(name, place[name]);
  copy.style.width = copy.style.height = "";
  const ground = svgElement("rect", { ...box, fill: backgroundColor });
  const whole = svgElement("svg", { ...box, viewBox: `0 0 ${box.width} ${box.height}` }, ground, ...said, copy);
  return { text: new XMLSerializer().serializeToString(whole), ...box };
}

function wrapped(text, most) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

async function pngOf({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = element("canvas", { width: width * PNG_SCALE, height: height * PNG_SCALE });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function download(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The list of ways to save; those that need a drawing are off where there is none.
export function savingMenu(player) {
  const summary = element("summary", "", message("save.name"));
  const file = (ending) => `step-${player.stopNow()}.${ending}`;
  const picture = () => player.pictureNow();
  const ways = {
    svg: () => download(file("svg"), new Blob([picture().text], { type: "image/svg+xml" })),
    png: async () => download(file("png"), await pngOf(picture())),
    markdown: () => download("steps.md", new Blob([markdownOf(player.trace, player.level)], { type: "text/markdown" })),
  };
  const buttons = Object.keys(ways).map((way) => {
    const onclick = () => {
      menu.open = false;
      summary.focus();
      return ways[way]();
    };
    const disabled = way !== "markdown" && !player.graph.svg;
    return element("button", { disabled, onclick }, message(`save.${way}`));
  });
  const menu = element("details", "saving", summary, element("div", "saving-list", ...buttons));
  return closeAfter(menu);
}
