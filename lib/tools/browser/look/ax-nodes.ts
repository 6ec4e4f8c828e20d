import { pickNodes } from "../page-kit/evaluate-in-frame.ts";
import type { PageFrame } from "../page-kit/page-frames.ts";

/** One node of the browser's accessibility tree that represents an element. */
export type AxNode = {
  backendNodeId: number;
  /** The computed ARIA role; `generic` where the element has none. */
  role: string;
  /** The accessible name. */
  name: string;
  isFocusable: boolean;
  /** The text inside it, as assistive technology reads it. */
  text: string;
};

const TEXT_CHARS_MAX = 2_000;
/** Nodes that hold text and represent no element. */
const TEXT_ROLES = new Set(["StaticText", "InlineTextBox", "LineBreak", "ListMarker"]);

type RawNode = {
  nodeId: string;
  parentId?: string;
  ignored: boolean;
  role?: { value?: unknown };
  name?: { value?: unknown };
  properties?: { name: string; value: { value?: unknown } }[];
  childIds?: string[];
  backendDOMNodeId?: number;
};

/**
 * Reads a frame's accessibility tree in document order, without the overlay. Roles and names are the browser's own, so
 * that they are what assistive technology and Playwright's `getByRole` find.
 */
export async function readAxNodes(frame: PageFrame): Promise<AxNode[]> {
  const overlays = await pickNodes(
    frame,
    () => [...document.querySelectorAll("[data-agent-session-overlay]")],
    null,
    20,
  );
  const { nodes } = await frame.session.send("Accessibility.getFullAXTree", { frameId: frame.id });
  const byId = new Map<string, RawNode>(nodes.map((node) => [node.nodeId, node]));
  const skipped = new Set(overlays.backendNodeIds);
  const found: AxNode[] = [];
  const root = nodes.find((node) => node.parentId === undefined);
  if (root) collect(root, byId, skipped, found);
  return found;
}

/** Reads role and name of single elements, which is quicker than the whole tree of a large page. */
export async function readAxNodesOf(
  frame: PageFrame,
  backendNodeIds: number[],
): Promise<Map<number, AxNode>> {
  const answers = await Promise.all(
    backendNodeIds.map((backendNodeId) =>
      frame.session
        .send("Accessibility.getPartialAXTree", { backendNodeId, fetchRelatives: false })
        .catch(() => ({ nodes: [] })),
    ),
  );
  const found = new Map<number, AxNode>();
  answers.forEach(({ nodes }, index) => {
    const node: RawNode | undefined = nodes[0];
    const backendNodeId = backendNodeIds[index];
    if (node && !node.ignored && backendNodeId !== undefined) {
      found.set(backendNodeId, { ...readNode(node), backendNodeId, text: "" });
    }
  });
  return found;
}

/** Collects depth first; returns the text below the node. */
function collect(node: RawNode, byId: Map<string, RawNode>, skipped: Set<number>, found: AxNode[]): string {
  const backendNodeId = node.backendDOMNodeId;
  if (backendNodeId !== undefined && skipped.has(backendNodeId)) return "";
  const role = String(node.role?.value ?? "");
  if (TEXT_ROLES.has(role)) return role === "StaticText" ? String(node.name?.value ?? "") : "";
  const own: AxNode | undefined =
    backendNodeId === undefined ? undefined : { ...readNode(node), backendNodeId, text: "" };
  if (own) found.push(own);
  let text = "";
  for (const childId of node.childIds ?? []) {
    const child = byId.get(childId);
    if (!child) continue;
    const part = collect(child, byId, skipped, found);
    if (part && text.length < TEXT_CHARS_MAX) text += text && !text.endsWith(" ") ? ` ${part}` : part;
  }
  if (own) own.text = text;
  return text;
}

function readNode(node: RawNode) {
  const role = String(node.role?.value ?? "");
  return {
    role: node.ignored || role === "none" || role === "" ? "generic" : role,
    name: String(node.name?.value ?? ""),
    isFocusable:
      node.properties?.some(({ name, value }) => name === "focusable" && value.value === true) ?? false,
  };
}
