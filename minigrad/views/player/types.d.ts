// The shapes that the player's modules hand to each other: for readers, editors and
// `npx -p typescript tsc -p minigrad/views/player/jsconfig.json`. Nothing here reaches a page.
// Where a parameter's name tells what it is (view, event, position), no comment repeats it.

/** The texts of the page by their keys, and its words for what a recording calls so. */
declare const MESSAGES: Record<string, string>;
declare const WORDS: Record<string, string>;

type Addend = import("./asking.js").Addend;
type Key = import("./keys.js").Key;
type Memory = import("./memory.js").Memory;
type PicturePane = import("./picture.js").PicturePane;
type Player = import("./player.js").Player;
type StepIndex = import("./steps.js").StepIndex;
type Story = import("./story.js").Story;
type Term = import("./asking.js").Term;

/** What leads to a value: an array, a tensor, a saved one, plain text, several. */
type Ref = {
  t: "A" | "T" | "S" | "P" | "L";
  v?: string; // the key of its picture
  r?: string; // its text
  i?: (Ref | null)[];
  name?: string | null;
  rg?: boolean;
  ver?: number;
  now?: number;
  out?: number | null;
  fn?: string | null;
  tan?: string;
  ax?: number[]; // its dimensions that count the examples of a vmap
};

/** The picture of an array: its corner, and what is known of the whole. */
type Value = {
  shape: number[];
  dtype: string;
  min: number | null;
  max: number | null;
  nan: number;
  inf?: number;
  rows: (number | string | null)[][];
  cut: boolean;
};

/** What an event changes on a ctx. */
type CtxChange = { id: string; set: Record<string, Ref | null>; del?: string[] };

/** What an owner keeps in memory, from the position `at` until `until`. */
type Held = {
  id: string;
  owner: string;
  of: string;
  key: string;
  bytes: number;
  buf: string;
  at?: number;
  until?: number;
  by?: string;
};

/**
 * An argument of a call, or one of its outputs. A tensor has `v`, `t` and `needs`; anything
 * else has only `text`, as it is written. What does not apply is left out.
 */
type Passed = {
  text?: string; // no tensor: "2", "None"
  name?: string | null; // the first variable that held it, also if that came later
  v?: Ref | null; // its values then, as A; null if the call was not heard (an older node)
  ver?: number; // its version then; left out for 0
  t?: string | null; // the same key for the same tensor object, in all calls
  needs?: boolean; // requires_grad: without it there is a chip and no wire
  n?: string; // the node whose output this argument is
  leaf?: string; // the accumulate node of this argument
};

/** One number times what arrived: what stands at an edge while a gradient goes along it. */
type Slope = {
  x: string; // the number as it is written: "5", "-1"
  of?: string; // whose value it is: "w"; left out for a number that has no name
};

/** One step; what more it has depends on its kind `k`. */
type TraceEvent = {
  k: string;
  say: string; // the sentence of Phases and Everything; of a line the page makes it
  call?: string; // tangent: a call of a built-in operation that joins no graph
  key?: string; // tangent: the tensor, where it has no node
  why?: string; // the sentence of Picture: on events of lvl 0, and only on those
  lvl: number; // 0 Picture, 1 Phases, 2 the learner's lines, 3 the engine's: each shows those below
  d: number;
  // graph.node of a call; the "link outputs" phase of a call that joins no graph, without n
  op?: string; // what people write: "x * w", "exp", "Square"
  label?: string; // the same, told apart from others: "Square 2"
  ins?: Passed[];
  outs?: Passed[];
  slope?: Slope; // grad: what the node multiplied with what had arrived there
  fills?: boolean; // grad: the last that comes to a leaf before it goes into its .grad
  left?: number; // grad: how many more have to come, if several do
  old?: Ref | null; // grad.accumulate: .grad before, null if it was None
  s?: number;
  l?: number;
  cid?: string;
  ctx?: CtxChange;
  others?: CtxChange[];
  mem?: { add?: Held[]; del?: { id: string; by: string }[] };
  roots?: { n: string; slot: number; g: Ref }[];
  question?: string;
  choices?: string[];
  answer?: string;
  [more: string]: any;
};

type GraphNode = {
  id: string;
  label: string;
  kind: string;
  ctx: string | null;
  tensor?: string | null;
  outputs?: number;
  order?: number;
};

type GraphEdge = { id: string; from: string; to: string; slot: number; to_slot: number };
type Source = { name: string; role: string; file: string; first: number; tokens: [string, string][][] };

/** A recording, as minigrad.tracing.trace describes it. */
type Trace = {
  schema: string;
  meta: Record<string, any>;
  sources: Source[];
  values: Record<string, Value>;
  ctxs: { id: string; name: string; function: string; node: string | null }[];
  graph: { nodes: GraphNode[]; edges: GraphEdge[]; pictures?: Picture[] };
  events: TraceEvent[];
};

/** A card of the code pane. */
type Frame = {
  s: number;
  l: number | null;
  d: number;
  locals: Record<string, Ref>;
  begun?: boolean;
  returned?: Ref | null;
  failed?: string | null;
  over?: boolean;
};

/** What teaching mode says; the line it is about has a number and a text. */
type Advice = { what: string; rest: string[]; line: [number, string] | null };

/** Gradients that have come to the same place; at a root backward has begun. */
type Gathered = { parts: (Ref | null)[]; total: Ref | null; root?: boolean; more?: boolean };

/** What is shown at a position: all events until there, folded. */
type State = {
  stack: Frame[];
  error: string | null;
  ctxs: Record<string, Record<string, Ref | null>>;
  cid: string | null;
  nodes: Record<string, string>;
  travels: string | null;
  edges: Record<string, string>;
  waiting: Record<string, Record<string, Gathered>>;
  grads: Record<string, Ref>;
  tangents: Record<string, Ref>;
  handles: Record<string, string>;
  owners: Record<string, string>;
  phases: { of: string; name: string | null; d: number; s: number }[];
  printed: string;
  pass: "backward" | "over" | null;
  advice: Record<string, Advice[]>;
  outer: any[];
  calls: Record<string, string>;
  sent: Record<string, Ref>;
  slopes: Record<string, Slope>;
  added: Record<string, Gathered>;
  coming: Record<string, boolean>;
  freed: Record<string, boolean>;
  changed: Record<string, { ver: number; ref: Ref }>;
  [more: string]: any;
};

/** What a part of the player is given to show. */
type View = {
  position: number;
  trace: Trace;
  state: State;
  event: TraceEvent | null;
  level: number;
  since: number;
  changes: { ctx: Set<string>; locals: Set<string> };
  animate: boolean;
  duration: number;
};

/** Leads to the steps of something, "node n3", that is called `name`. */
type Choose = (what: string, name: string) => void;

type Box = { x: number; y: number; width: number; height: number };

/** A place in a picture: left, top, width, height. */
type Spot = [number, number, number, number];

/** A leaf, data or a call of a picture, as minigrad.views.picture places it. */
type Part = {
  id: string;
  k: "leaf" | "data" | "call";
  n: string | null; // its node; none of a call that was not recorded
  ctx?: string; // of such a call
  t: any; // the name of its tensor; of a call those of its outputs
  v: any; // its value; of a call those of its outputs
  chip?: Spot;
  slot?: Spot; // of .grad
  tray?: Spot; // of what waits
  keys?: string[]; // the tensors that came out, where they have no node
  name?: string[]; // of the operation, in lines
  sub?: string;
  card?: Spot;
  chips?: Spot[];
  box?: Spot; // of the ctx
  head?: string;
  label?: string; // of the node
  cells?: [string, string, number, number, number][]; // key, words, left, top, width
  more?: number; // cells that have no room
  plain?: number[]; // outputs to which no gradient comes
  pills?: [string, number][]; // parameters of a module: name, width
  leaves?: string[]; // their nodes
  inside?: string[]; // the nodes of a module
};

/** The edge of a value, or the wire of a gradient, from its left end to its right one. */
type Line = { id: string; k: "value" | "wire"; of: string; to: string; d: string; mapped?: boolean };
type Picture = { size: [number, number]; parts: Part[]; lines: Line[] };

/** What a player is made with, and what it says to who made it. */
type PlayerOptions = {
  position?: number;
  level?: number;
  speed?: number;
  asks?: typeof import("./asks.js").Asks; // where the recording has questions
  answers?: Record<string, number>; // position of a question -> number of the choice
  presents?: boolean; // on a slide, which a presenter shows
  side?: boolean; // one of two in a comparison
  python?: () => Promise<Python | null>;
  edits?: import("./edits.js").Edits; // what edits here, where Python answers from the start, or of the player before
  onSuccessor?: (player: import("./player.js").Player) => void;
  onMove?: (position: number) => void;
  onAnswer?: (answers: Record<string, number>) => void;
};

/** Of a page that Python answers: what edits it, or why its program can't run again. */
type Python = { why?: string; edits?: (trace: Trace) => import("./edits.js").Edits };

/** What a tip tells of an element. */
type Told = { title?: string; words?: string[]; ref?: Ref | null };

/** What differs between two recordings, as minigrad.views.comparing describes it. */
type Differing = {
  moves: string; // a letter for each step: both, or one of them alone
  things: ([string, string] | null)[][]; // of each side: its address, and whose it is
  // What a step sets: a thing differs (1), is only in one (2, 3), or is the same again (0).
  changes: { at: number; set: number[][]; say?: string }[];
};

/** Two recordings side by side. */
type Compared = Differing & {
  say: string;
  lead: string; // what was asked, above it all
  meta: Record<string, any>;
  titles: string[];
  traces: Trace[];
};

// Every element of the player's page is one of HTML or SVG, and has these.
interface Element {
  dataset: DOMStringMap;
  style: CSSStyleDeclaration;
  focus(options?: FocusOptions): void;
  blur(): void;
  cloneNode(subtree?: boolean): this;
  setAttribute(name: string, value: string | number): void;
}
interface SVGElement {
  readonly children: HTMLCollectionOf<SVGElement>; // drawings have no HTML inside
}
interface HTMLElement {
  unpack?: { inView: () => Promise<void>; textOf: (script: string) => Promise<string>; run: (code: string) => void };
  edits?: (make: typeof import("./edits.js").editsOver) => void; // what the code that edits calls
  asks?: typeof import("./asks.js").Asks;
  player?: any; // what is mounted there
  live?: any;
}
