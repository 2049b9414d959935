// What differs between two recordings, as minigrad.views.comparing has worked it out.

export class Differences {
  constructor({ moves, things, changes }) {
    this.things = things;
    this.changes = changes;
    this.steps = [[0, 0]]; // the positions of both after each step
    for (const move of moves) {
      const [at, over] = this.steps.at(-1);
      this.steps.push([at + Number(move !== "2"), over + Number(move !== "1")]);
    }
  }

  // The step at which one of both comes to a position.
  stepOf(side, position) {
    return this.steps.findIndex((one) => one[side] >= position);
  }

  // The things that differ after a step, and in which way.
  at(step) {
    const found = new Map();
    for (const { at, set } of this.changes) {
      if (at > step) break;
      for (const [thing, kind] of set) {
        if (kind) found.set(thing, kind);
        else found.delete(thing);
      }
    }
    return found;
  }

  // Lets a player show what differs after a step, and what has come to since another. What
  // is folded into a module is marked at that.
  mark({ root, graph }, side, step, since = step) {
    const fresh = this.changes.filter(({ at }) => at > since && at <= step).flatMap(({ set }) => set);
    const news = new Set(fresh.filter(([, kind]) => kind).map(([thing]) => thing));
    const marks = new Map();
    for (const [thing, kind] of this.at(step)) {
      const [place, owner] = this.things[thing][side] || [];
      if (place) marks.set(place, { kind, owner, isNew: news.has(thing) });
    }
    const unseen = new Map(marks);
    for (const { dataset, classList } of root.querySelectorAll("[data-place]")) {
      // Of data the key of its tensor, of a leaf that is drawn several times its node.
      const place = dataset.place.replace(/ \S*\.data/, " ").replace(/__\S+/, "");
      const mark = marks.get(place);
      unseen.delete(place);
      classList.toggle("differs", Boolean(mark));
      classList.toggle("only", mark?.kind > 1);
      classList.toggle("fresh", Boolean(mark?.isNew));
    }
    for (const { owner } of unseen.values()) graph.elementOf(owner)?.querySelector(".op")?.classList.add("differs");
  }
}
