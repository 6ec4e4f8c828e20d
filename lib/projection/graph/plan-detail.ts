import { isNever, type Node } from "../codec/codec.ts";
import type { Graph } from "./build-graph.ts";
import { cutOf, type Detail } from "./builder.ts";

/** The limits of a provider on the parts of a schema. `Infinity` means no limit. */
export type DetailLimits = {
  allowsRecursion: boolean;
  /** Limit on the schemas with an `anyOf` or with several types. */
  unionsMax: number;
  /** Limit on the properties that may be missing. */
  optionalsMax: number;
  propertiesMax: number;
  /** Limit on the levels of lists and objects below the root. */
  levelsMax: number;
};

/**
 * Decides which parts of a graph are sent as JSON text, so that the rest is within the limits. Parts near the root are
 * decided first. Optional properties are nullable as long as the provider allows further unions; more of them may be
 * missing, and the rest is sent together, as the JSON text of one object.
 */
export function planDetail(graph: Graph, limits: DetailLimits): Detail {
  const areas = readAreas(graph);
  const outers = new Map<string, string[]>();
  for (const [outer, { children }] of areas)
    for (const key of children.keys()) {
      const known = outers.get(key);
      if (known) known.push(outer);
      else outers.set(key, [outer]);
    }
  const cuts = limits.allowsRecursion ? new Set<string>() : findRecursion(graph, areas);
  const packed = new Map<string, ReadonlySet<string>>();
  const omitted = new Map<string, ReadonlySet<string>>();
  const left = { unions: limits.unionsMax, optionals: limits.optionalsMax, properties: limits.propertiesMax };
  const rootKey = keyOf(graph, graph.root);
  const levels = new Map<string, number>([[rootKey, 0]]);
  for (const [key, level] of levels) {
    const area = areas.get(key);
    if (area === undefined) continue;
    const isTooDeep = level > limits.levelsMax && area.children.size + area.properties.length > 0;
    if (key !== rootKey && (isTooDeep || area.unions > left.unions)) {
      for (const outer of outers.get(key) ?? []) cuts.add(cutOf(outer, key));
      continue;
    }
    left.unions -= area.unions;
    const away = planProperties(area, left);
    if (away.packed.size > 0) packed.set(key, away.packed);
    if (away.omitted.size > 0) omitted.set(key, away.omitted);
    const hidden = new Set(
      area.properties.filter(({ name }) => away.packed.has(name)).map(({ node }) => node),
    );
    const shown = new Set(
      area.properties.filter(({ name }) => !away.packed.has(name)).map(({ node }) => node),
    );
    for (const [child, from] of area.children)
      if (!levels.has(child) && !cuts.has(cutOf(key, child)) && (shown.has(from) || !hidden.has(from)))
        levels.set(child, level + 1);
  }
  return { cuts, packed, omitted };
}

/** Whether a plan changes nothing. */
export const isWhole = ({ cuts, packed, omitted }: Detail): boolean =>
  cuts.size + packed.size + omitted.size === 0;

type Left = { unions: number; optionals: number; properties: number };

function planProperties({ properties }: Area, left: Left) {
  const packed = new Set<string>();
  const omitted = new Set<string>();
  const sorted = properties.toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired));
  for (const { name, isRequired, node } of sorted) {
    if (!isRequired && isNever(node)) continue;
    if (left.properties < 1) packed.add(name);
    else if (isRequired) left.properties -= 1;
    else if (left.unions > 0) {
      left.unions -= 1;
      left.properties -= 1;
    } else if (left.optionals > 0) {
      left.optionals -= 1;
      left.properties -= 1;
      omitted.add(name);
    } else packed.add(name);
  }
  return { packed, omitted };
}

/** A node with a key, together with the nodes without a key that only describe its forms. */
type Area = {
  /** The number of `anyOf`s, apart from those of optional properties. */
  unions: number;
  properties: readonly { name: string; node: Node; isRequired: boolean }[];
  /** The keys of the areas below, each with the node through which it was found. */
  children: ReadonlyMap<string, Node>;
};

const keyOf = ({ keys }: Graph, node: Node): string => keys.get(node) ?? "";

function readAreas(graph: Graph): Map<string, Area> {
  const areas = new Map<string, Area>();
  const open = [graph.root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const key = keyOf(graph, node);
    if (areas.has(key)) continue;
    const { area, below } = readArea(graph, node);
    areas.set(key, area);
    open.push(...below);
  }
  return areas;
}

function readArea(graph: Graph, start: Node): { area: Area; below: Node[] } {
  const properties: Area["properties"][number][] = [];
  const children = new Map<string, Node>();
  const below: Node[] = [];
  const seen = new Set<Node>([start]);
  let unions = 0;
  for (const node of seen) {
    const { codec } = node;
    properties.push(...(codec.declared?.() ?? []));
    unions += (codec.isUnion?.() ? 1 : 0) + (codec.optionalItems ?? 0);
    for (const child of codec.children()) {
      const key = graph.keys.get(child);
      if (key === undefined) seen.add(child);
      else if (!children.has(key)) {
        children.set(key, child);
        below.push(child);
      }
    }
  }
  return { area: { unions, properties, children }, below };
}

/** Finds the steps from an area to one that contains it. */
function findRecursion(graph: Graph, areas: ReadonlyMap<string, Area>): Set<string> {
  const cuts = new Set<string>();
  const states = new Map<string, "open" | "done">();
  const start = keyOf(graph, graph.root);
  const path = [{ key: start, rest: [...(areas.get(start)?.children.keys() ?? [])] }];
  states.set(start, "open");
  for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
    const next = at.rest.shift();
    if (next === undefined) {
      states.set(at.key, "done");
      path.pop();
    } else if (states.get(next) === "open") cuts.add(cutOf(at.key, next));
    else if (!states.has(next)) {
      states.set(next, "open");
      path.push({ key: next, rest: [...(areas.get(next)?.children.keys() ?? [])] });
    }
  }
  return cuts;
}
