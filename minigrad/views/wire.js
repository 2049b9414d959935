// A widget without a view: it passes on what the players of a notebook ask Python. What
// is said over the wire is not its business.

function initialize({ model }) {
  const ports = new Map(); // the key of a page -> its ports
  const known = new Set(); // keys that Python has answered

  const toPython = (of, port) => ({ data }) => {
    try {
      model.send({ ...data, of });
    } catch {
      // A restarted kernel; a page of another notebook has a wire of its own.
      if (known.has(of)) port.postMessage({ kind: "answer", id: data.id, gone: true });
    }
  };
  const fromPage = ({ data, ports: [port] }) => {
    if (data?.minigrad !== "player" || !port) return;
    ports.set(data.key, [...(ports.get(data.key) || []), port]);
    port.addEventListener("message", toPython(data.key, port));
    port.start();
  };
  const fromPython = (said) => {
    known.add(said.of);
    for (const port of ports.get(said.of) || []) port.postMessage(said);
  };
  window.addEventListener("message", fromPage);
  model.on("msg:custom", fromPython);
  return () => {
    window.removeEventListener("message", fromPage);
    model.off("msg:custom", fromPython);
  };
}

export default { initialize };
