/** The list view: the steps in the order in which they run, branches and bodies indented. Pure. */

import type { Edge, Graph } from "./file";
import { edgesFrom, edgesTo } from "./groups";
import { isError, opensGroup, outputsOf, type Kinds } from "./kinds";

export interface Row {
  id: string;
  depth: number;
  /** The output that leads to it, where it begins a branch or a body; else empty. */
  output: string;
  /** Nothing leads to it, although another step is the first. */
  loose: boolean;
  /** Outputs without a branch of their own, and the steps that they lead to. */
  leads: { output: string; to: string }[];
}

export function rowsOf(graph: Graph, kinds: Kinds): Row[] {
  const walker = new Walker(graph, kinds);
  const to = edgesTo(graph);
  const entries = Object.keys(graph.nodes).filter((id) => (to.get(id) ?? []).length === 0);
  const best = [...entries].sort((one, other) => walker.reach(other).size - walker.reach(one).size);
  best.forEach((id, index) => walker.walk(id, 0, new Set(), "", index > 0));
  for (const id of Object.keys(graph.nodes)) walker.walk(id, 0, new Set(), "", true);
  return walker.rows;
}

class Walker {
  readonly rows: Row[] = [];
  private readonly seen = new Set<string>();
  private readonly from: Map<string, Edge[]>;
  private readonly reached = new Map<string, Set<string>>();

  constructor(
    private readonly graph: Graph,
    private readonly kinds: Kinds,
  ) {
    this.from = edgesFrom(graph);
  }

  /** Everything from one step on, until one of `stop`. */
  walk(start: string, depth: number, stop: ReadonlySet<string>, output: string, loose: boolean): void {
    let id: string | null = start;
    let label = output;
    while (id !== null && !this.seen.has(id) && !stop.has(id) && this.graph.nodes[id]) {
      this.seen.add(id);
      this.rows.push({ id, depth, output: label, loose, leads: [] });
      loose = false;
      label = "";
      id = this.after(id, depth, stop);
    }
  }

  /** The branches of a step; returns where they all go on. */
  private after(id: string, depth: number, stop: ReadonlySet<string>): string | null {
    const step = this.graph.nodes[id];
    if (!step) return null;
    const target = (name: string) => this.from.get(id)?.find((edge) => edge.output === name)?.to ?? null;
    const outputs = outputsOf(step, this.kinds);
    let on: string | null;
    if (opensGroup(step)) {
      on = target("done");
      this.branch("body", target("body"), depth, stoppingAt(stop, on));
    } else if (outputs.length > 1) {
      on = this.join(outputs.flatMap((name) => target(name) ?? []));
      const row = this.rows.at(-1);
      for (const name of outputs) {
        const to = target(name);
        if (to !== null && (to === on || this.seen.has(to) || stop.has(to))) row?.leads.push({ output: name, to });
        this.branch(name, to, depth, stoppingAt(stop, on));
      }
    } else {
      on = outputs[0] === undefined ? null : target(outputs[0]);
    }
    const failed = (this.from.get(id) ?? []).find((edge) => isError(edge.output))?.to ?? null;
    this.branch("error", failed, depth, new Set([...stop, ...(on === null ? [] : this.reach(on))]));
    return on;
  }

  private branch(output: string, to: string | null, depth: number, stop: ReadonlySet<string>): void {
    if (to !== null) this.walk(to, depth + 1, stop, output, false);
  }

  /** The first step that at least two branches lead to. */
  private join(targets: readonly string[]): string | null {
    const [first, ...others] = targets.map((id) => this.reach(id));
    if (!first || others.length === 0) return null;
    const sets = [first, ...others];
    for (const one of sets) {
      for (const id of one) if (sets.filter((set) => set.has(id)).length > 1) return this.earliest(id, sets);
    }
    return null;
  }

  /** Of the steps that branches share, the one from which all the others are reached. */
  private earliest(found: string, sets: readonly Set<string>[]): string {
    const shared = [...new Set(sets.flatMap((set) => [...set]))].filter(
      (id) => sets.filter((set) => set.has(id)).length > 1,
    );
    return shared.reduce((best, id) => (this.reach(id).size > this.reach(best).size ? id : best), found);
  }

  /** A step and all that follows it. */
  reach(start: string): Set<string> {
    const known = this.reached.get(start);
    if (known) return known;
    const found = new Set<string>();
    const waiting = [start];
    while (waiting.length > 0) {
      const id = waiting.pop() as string;
      if (found.has(id)) continue;
      found.add(id);
      for (const edge of this.from.get(id) ?? []) waiting.push(edge.to);
    }
    this.reached.set(start, found);
    return found;
  }
}

function stoppingAt(stop: ReadonlySet<string>, id: string | null): ReadonlySet<string> {
  return id === null ? stop : new Set([...stop, id]);
}
