import type { CDPSession } from "playwright";
import { callWithHandles } from "#lib/injected/call-injected.ts";
import type { SystemDescription } from "#lib/injected/page-kit/described-elements.ts";
import { evaluateIn } from "./evaluate-in-frame.ts";
import type { PageFrame } from "./page-frame.ts";

/** Maximum number of custom elements that are described in a frame. */
const ELEMENTS_MAX = 100;
const NAME_CHARS_MAX = 1_000;
const GROUP = "agent-session-custom-elements";

/**
 * Tells the tools' world of a frame how the accessibility tree describes the custom elements that may have a role by
 * `ElementInternals`. Chromium builds the tree only for a frame with such elements.
 */
export async function readCustomElements(frame: PageFrame): Promise<void> {
  if ((await evaluateIn(frame, "findCustomElements", ELEMENTS_MAX)) === 0) return;
  const { session } = frame;
  const list = await callWithHandles(frame, "tools", "foundCustomElements", [], { objectGroup: GROUP });
  try {
    const { result } = await session.send("Runtime.getProperties", {
      objectId: String(list.objectId),
      ownProperties: true,
    });
    const ids = result.filter(({ name }) => /^\d+$/.test(name)).map(({ value }) => value?.objectId);
    // Without this, Chromium would build the tree again for each element.
    await session.send("Accessibility.enable");
    const descriptions = await Promise.all(ids.map((id) => readDescription(session, id)));
    await evaluateIn(frame, "describeCustomElements", descriptions);
  } finally {
    await session.send("Accessibility.disable").catch(() => {});
    await session.send("Runtime.releaseObjectGroup", { objectGroup: GROUP }).catch(() => {});
  }
}

/** @returns null if the element is not in the tree, or is there without a role and name. */
async function readDescription(
  session: CDPSession,
  objectId: string | undefined,
): Promise<SystemDescription | null> {
  if (objectId === undefined) return null;
  const { nodes } = await session.send("Accessibility.getPartialAXTree", { objectId, fetchRelatives: false });
  const [node] = nodes;
  if (!node || node.ignored) return null;
  const property = (name: string): unknown =>
    node.properties?.find((each) => each.name === name)?.value.value;
  const isTrue = (name: string) => String(property(name)) === "true";
  const states = ["checked", "pressed"].flatMap((name) => {
    if (String(property(name)) === "mixed") return ["mixed"];
    return isTrue(name) ? [name] : [];
  });
  states.push(...["selected", "disabled", "readonly", "required", "invalid"].filter(isTrue));
  const expanded = property("expanded");
  if (expanded !== undefined) states.push(expanded === true ? "expanded" : "collapsed");
  const value = String(node.value?.value ?? "");
  if (value) states.push(`value ${JSON.stringify(value.slice(0, 200))}`);
  const role = String(node.role?.value ?? "");
  const name = String(node.name?.value ?? "").slice(0, NAME_CHARS_MAX);
  return role === "generic" && !name ? null : { role: role === "image" ? "img" : role, name, states };
}
