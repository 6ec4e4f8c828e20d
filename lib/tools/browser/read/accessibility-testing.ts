import type { CDPSession, Page } from "playwright";

/** A node of DevTools' accessibility tree whose name or value a snapshot does not have. */
export type MissingNode = { role: string; what: "name" | "value"; text: string; reason: string | null };

type AccessibilityNode = Awaited<ReturnType<typeof readTree>>[number];

/** Names are compared up to this length, because a snapshot cuts longer ones. */
const NAME_CHARS_MAX = 150;
const CONTROLS = new Set(
  "button checkbox combobox link menuitem option radio slider spinbutton switch tab textbox".split(" "),
);
const CELLS = new Set("cell columnheader gridcell row rowheader".split(" "));

/**
 * Compares a snapshot with the accessibility tree of the page's main frame.
 * @returns the nodes whose name or value is not in the lines, each with the reason why it is left out. A node without a
 * reason is a defect of the snapshot.
 */
export async function findMissing(page: Page, lines: readonly string[]): Promise<MissingNode[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const nodes = await readTree(session);
    const byId = new Map(nodes.map((node) => [node.nodeId, node]));
    const shown = normalize(lines.join("\n").replace(/"(?:[^"\\]|\\.)*"/g, (quoted) => JSON.parse(quoted)));
    const missing: MissingNode[] = [];
    for (const node of nodes) {
      const role = roleOf(node);
      if (node.ignored || role === "RootWebArea" || role === "InlineTextBox") continue;
      for (const what of ["name", "value"] as const) {
        const text = String(node[what]?.value ?? "");
        // The value of an editor is in several lines of a snapshot, with its links and other controls.
        const parts = (what === "value" ? text.split(/[^\p{L}\p{N}]+/u) : [text]).map((part) =>
          normalize(part).slice(0, NAME_CHARS_MAX),
        );
        if (parts.every((part) => shown.includes(part))) continue;
        missing.push({ role, what, text, reason: await findReason(session, node, byId) });
      }
    }
    return missing;
  } finally {
    await session.detach();
  }
}

const readTree = async (session: CDPSession) => (await session.send("Accessibility.getFullAXTree")).nodes;

const roleOf = (node: AccessibilityNode): string => String(node.role?.value);

/** Compares without white space, and without the characters of icon fonts. */
const normalize = (text: string): string => text.toLowerCase().replace(/[\s\u200b\ufeff\uE000-\uF8FF]+/g, "");

/** Returns why a snapshot leaves a node out; null if there is no reason. */
async function findReason(
  session: CDPSession,
  node: AccessibilityNode,
  byId: Map<string, AccessibilityNode>,
): Promise<string | null> {
  const role = roleOf(node);
  if (CELLS.has(role)) return "a cell or row is shown by its content, not by its name";
  if (role === "generic") return "a name on an element that must not have one";
  if (role === "option" || role === "MenuListOption") return "an option of a closed list, after the first 12";
  if (!(await isSeen(session, node))) return "it is transparent";
  for (let above = parentOf(node, byId); above; above = parentOf(above, byId))
    if (CONTROLS.has(roleOf(above)) && above.name?.value) return "the content of a control with another name";
  return null;
}

const parentOf = (node: AccessibilityNode, byId: Map<string, AccessibilityNode>) =>
  node.parentId === undefined ? undefined : byId.get(node.parentId);

/** Whether people see a node, or can use it as a field although it is transparent. */
const IS_SEEN = `function () {
  const element = this.nodeType === 1 ? this : this.parentElement;
  return !element || element.checkVisibility({ opacityProperty: true }) ||
    (element.matches("input, select, textarea, [contenteditable]") && getComputedStyle(element).pointerEvents !== "none");
}`;

async function isSeen(session: CDPSession, { backendDOMNodeId }: AccessibilityNode): Promise<boolean> {
  if (backendDOMNodeId === undefined) return true;
  const { object } = await session.send("DOM.resolveNode", { backendNodeId: backendDOMNodeId });
  const { result } = await session.send("Runtime.callFunctionOn", {
    objectId: String(object.objectId),
    functionDeclaration: IS_SEEN,
    returnByValue: true,
  });
  return result.value !== false;
}
