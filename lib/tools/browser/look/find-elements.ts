import { callWithNodes, pickNodes } from "../page-kit/evaluate-in-frame.ts";
import type { PageFrame } from "../page-kit/page-frames.ts";
import { type AxNode, readAxNodes } from "./ax-nodes.ts";
import { describeElements } from "./describe-elements.ts";

/** The roles of elements that a user can act on, including the browser's own names for special inputs. */
const INTERACTIVE_ROLES = new Set(
  "button link textbox searchbox combobox listbox checkbox radio switch slider spinbutton menuitem menuitemcheckbox menuitemradio tab treeitem Date DateTime InputTime ColorWell DisclosureTriangle".split(
    " ",
  ),
);
/** Focusable, but only as a place to scroll or a part of something that is listed itself. */
const NOT_LISTED_ROLES = new Set(["RootWebArea", "Iframe", "option", "MenuListOption", "main", "region"]);
const HIDDEN_CANDIDATES =
  "a[href], button, input, select, textarea, summary, h1, h2, h3, h4, h5, h6, [role], [contenteditable]";
const SELECTED_MAX = 2_000;

/** What is looked for in a frame. */
type ElementQuery = {
  selector?: string | undefined;
  role?: string | undefined;
  text?: string | undefined;
  includeHidden: boolean;
};

/** What was found; nodes that are not named yet have neither role nor name. */
type FoundElements = { total: number; list: AxNode[]; isNamed: boolean };

/** Finds elements of a frame by selector, role and text; without any of them, what can be acted on and the headings. */
export const findElements = (frame: PageFrame, query: ElementQuery): Promise<FoundElements> =>
  query.selector === undefined ? findByMeaning(frame, query) : findBySelector(frame, query);

async function findByMeaning(frame: PageFrame, query: ElementQuery): Promise<FoundElements> {
  const nodes = await readAxNodes(frame);
  const visible =
    query.role === undefined && query.text === undefined
      ? nodes.filter(isListed)
      : nodes.filter((node) => matches(node, query)).filter(isInnermost(query));
  const hidden = query.includeHidden ? await findHidden(frame, query, nodes) : [];
  return { total: visible.length + hidden.length, list: [...visible, ...hidden], isNamed: true };
}

async function findBySelector(frame: PageFrame, query: ElementQuery): Promise<FoundElements> {
  const { selector = "*", includeHidden } = query;
  const { total, backendNodeIds } = await pickNodes(
    frame,
    (kit, wanted) =>
      kit.queryAll(wanted.selector).filter((element) => wanted.includeHidden || kit.isVisible(element)),
    { selector, includeHidden },
    SELECTED_MAX,
  );
  if (query.role === undefined && query.text === undefined) {
    return { total, list: backendNodeIds.map(emptyNode), isNamed: false };
  }
  const known = new Map((await readAxNodes(frame)).map((node) => [node.backendNodeId, node]));
  const list = backendNodeIds
    .map((backendNodeId) => known.get(backendNodeId) ?? emptyNode(backendNodeId))
    .filter((node) => matches(node, query));
  return { total: list.length, list, isNamed: true };
}

/** Elements that are not rendered are in no accessibility tree: their role and name go by simple rules. */
async function findHidden(frame: PageFrame, query: ElementQuery, visible: AxNode[]): Promise<AxNode[]> {
  const known = new Set(visible.map((node) => node.backendNodeId));
  const { backendNodeIds } = await pickNodes(
    frame,
    (kit, selector) => kit.queryAll(selector).filter((element) => !kit.isVisible(element)),
    HIDDEN_CANDIDATES,
    SELECTED_MAX,
  );
  const unknown = backendNodeIds.filter((backendNodeId) => !known.has(backendNodeId));
  const described = await callWithNodes(frame, unknown, describeElements);
  return unknown
    .map((backendNodeId, index) => ({
      ...emptyNode(backendNodeId),
      role: described[index]?.fallbackRole ?? "generic",
      name: described[index]?.fallbackName ?? "",
      text: described[index]?.text ?? "",
    }))
    .filter((node) => matches(node, query));
}

const emptyNode = (backendNodeId: number): AxNode => ({
  backendNodeId,
  role: "",
  name: "",
  isFocusable: false,
  text: "",
});

/** Whether a user can act on an element, or it is a heading. */
export const isListed = (node: AxNode): boolean =>
  INTERACTIVE_ROLES.has(node.role) ||
  node.role === "heading" ||
  (node.isFocusable && !NOT_LISTED_ROLES.has(node.role) && (node.role !== "generic" || node.name !== ""));

/** Chromium uses `image` for ARIA's `img`. */
const sameRole = (role: string) => (role.toLowerCase() === "img" ? "image" : role.toLowerCase());

/** Where inline elements meet, the tree does not tell whether there is a blank: blanks do not count in a comparison. */
const squash = (text: string) => text.toLowerCase().replace(/\s+/g, "");

function matches(node: AxNode, query: ElementQuery): boolean {
  if (query.role !== undefined && sameRole(node.role) !== sameRole(query.role)) return false;
  if (query.text === undefined) return true;
  const wanted = squash(query.text);
  return squash(node.name).includes(wanted) || squash(node.text).includes(wanted);
}

/** By text alone, every ancestor up to the page matches too: only those count whose name has it, or no match below. */
function isInnermost(query: ElementQuery) {
  return (node: AxNode, index: number, all: AxNode[]): boolean => {
    if (query.role !== undefined || query.text === undefined) return true;
    if (node.role === "RootWebArea") return all.length === 1;
    if (squash(node.name).includes(squash(query.text))) return true;
    const next = all[index + 1];
    return !next || !node.text.includes(next.text) || node.text === "" || next.text === "";
  };
}
