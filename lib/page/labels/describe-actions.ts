import type { PageAction } from "../state/view-types.ts";
import { formatAddress } from "./format.ts";

const VERBS: Record<PageAction["did"], string> = {
  opened: "opened",
  reloaded: "reloaded the page",
  went_back: "went back",
  went_forward: "went forward",
  clicked: "clicked",
  hovered: "pointed at",
  filled: "filled",
  chose: "chose in",
  checked: "checked",
  unchecked: "unchecked",
  uploaded: "uploaded a file to",
  dragged: "dragged",
  typed: "typed",
  pressed: "pressed",
};
/** What follows the verb of an action whose target has no name. */
const UNNAMED: Partial<Record<PageAction["did"], string>> = {
  opened: "a page",
  clicked: "in the page",
  hovered: "the page",
  filled: "a field",
  chose: "a list",
  checked: "a box",
  unchecked: "a box",
  uploaded: "the page",
  dragged: "an element",
  typed: "in the page",
  pressed: "a key",
};
const SHOWN_MAX = 3;

/** Describes what a call did to the page: `Filled Email, clicked Sign in`. Null if it reports nothing. */
export function describeActions(actions: readonly PageAction[]): string | null {
  if (actions.length === 0) return null;
  const shown = actions.slice(0, SHOWN_MAX).map(describeAction).join(", ");
  const more = actions.length - SHOWN_MAX;
  const text = more > 0 ? `${shown} and ${more} more` : shown;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function describeAction({ did, what }: PageAction): string {
  const target = what === null ? UNNAMED[did] : did === "opened" ? nameAddress(what) : what;
  return target === undefined ? VERBS[did] : `${VERBS[did]} ${target}`;
}

/** Names an address by its path, because the address bar shows the host. Only the host, if the path is `/`. */
function nameAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const { pathname } = new URL(address);
  return pathname === "/" || pathname === "" ? formatAddress(address) : decodePath(pathname);
}

function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
