import type { CompiledNode, Position } from "../runtime/runtime-types.ts";

type Operation =
  | { op: "setText"; text: string }
  | { op: "setHtml"; nodes: CompiledNode[] }
  | { op: "setAttribute"; name: string; value: string }
  | { op: "removeAttribute"; name: string }
  | { op: "addClass"; className: string }
  | { op: "removeClass"; className: string }
  | { op: "setStyle"; style: Record<string, string> }
  | { op: "insert"; position: Position; nodes: CompiledNode[] }
  | { op: "move"; position: Position; target: string }
  | { op: "remove" };

/** A change of a variant's document as the check examines it, with its HTML compiled to nodes. */
export type ExaminedChange = Operation & { id: string; selector: string };
