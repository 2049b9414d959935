// Unpacks the recording and the player of a page; in a notebook, which may hold many,
// when it comes near what is seen. Where the player is taken down again (see page.js), it
// asks here for its recording once more.

const NEAR = "300px";

// Resolves when the frame comes near. Until then what stands below it shows through:
// so it is there in print.
function inView() {
  return new Promise((done) => {
    const look = ([{ isIntersecting }], observer) => {
      if (!isIntersecting) {
        if (frameElement) frameElement.style.background = "none";
        return;
      }
      observer.disconnect();
      done();
    };
    const margins = { rootMargin: NEAR, scrollMargin: NEAR };
    new IntersectionObserver(look, margins).observe(document.documentElement);
  });
}

// Two digits, from space to ~ but for & ' < and \, have 13 bits; one at the end has 6.
function bytesOf(text) {
  const bytes = new Uint8Array((text.length * 13) >> 4);
  const digit = (at) => {
    const code = text.charCodeAt(at);
    return code ? code - 32 - 2 * (code > 39) - (code > 60) - (code > 92) : 0;
  };
  for (let at = 0, place = 0, bits = 0, count = 0; at < text.length; at += 2) {
    bits |= (digit(at) + 91 * digit(at + 1)) << count;
    for (count += 13; count > 7; count -= 8, bits >>= 8) bytes[place++] = bits;
  }
  return bytes;
}

function textOf(name) {
  const { type, textContent } = document.getElementById(name);
  if (type !== "application/gzip") return textContent;
  const packed = new Blob([bytesOf(textContent)]).stream();
  return new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text();
}

// Style and code, which come as one text.
function run(text) {
  const [style, script] = ["style", "script"].map((name) => document.createElement(name));
  [style.textContent, script.textContent] = text.split("\0");
  script.type = "module";
  document.head.append(style, script);
}

const main = document.querySelector("main");
main.unpack = { inView, textOf, run };
if (parent !== window) await inView();
const code = await textOf("code");
main.hidden = false;
run(code);
