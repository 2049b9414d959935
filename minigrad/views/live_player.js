// The widget of a live player: a frame with the page, and the wire between the page
// and Python. What is said over the wire is not its business.

const HEIGHT = "560px"; // until the page says how high it is

function render({ model, el }) {
  const box = document.createElement("div");
  box.dataset.minigradPlayer = "";
  box.style.cssText = `position:relative;height:${HEIGHT};overflow:hidden`;
  const frame = document.createElement("iframe");
  frame.title = model.get("name");
  frame.style.cssText = `width:100%;height:${HEIGHT};border:0;background:var(--jp-layout-color0,Canvas)`;
  let port = null;

  const showNewest = () => port?.postMessage({ kind: "shown", content: model.get("shown") });
  const fromPython = (said) => port?.postMessage(said);
  const toPython = (asked) => {
    try {
      model.send(asked);
    } catch {
      fromPython({ kind: "answer", id: asked.id, gone: true }); // a restarted kernel
    }
  };
  // A frame that was moved or hidden starts anew, and asks anew.
  const fromPage = (event) => {
    if (event.source !== frame.contentWindow || event.data !== "minigrad live") return;
    port = event.ports[0];
    port.onmessage = ({ data }) => toPython(data);
    showNewest();
  };
  window.addEventListener("message", fromPage);
  model.on("change:shown", showNewest);
  model.on("msg:custom", fromPython);
  frame.srcdoc = model.get("page");
  box.append(frame);
  el.append(box);
  return () => {
    window.removeEventListener("message", fromPage);
    model.off("change:shown", showNewest);
    model.off("msg:custom", fromPython);
  };
}

export default { render };
