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

// Five digits, from ( to ~ but for < and \, stand for four bytes; fewer at the end for one
// byte less than they are.
function bytesOf(text) {
  const digit = (code) => code - 40 - (code > 60) - (code > 92);
  const padded = text.padEnd(5 * Math.ceil(text.length / 5), "~");
  const bytes = new DataView(new ArrayBuffer((padded.length / 5) * 4));
  for (let at = 0; at < padded.length; at += 5) {
    let number = 0;
    for (let i = at; i < at + 5; i++) number = number * 85 + digit(padded.charCodeAt(i));
    bytes.setUint32((at / 5) * 4, number);
  }
  return new Uint8Array(bytes.buffer, 0, Math.floor((text.length * 4) / 5));
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
