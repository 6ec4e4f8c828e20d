import type { AxeFindings, AxeOptions } from "#lib/injected/accessibility/main.ts";
import { callInjected, type IsolatedWorld } from "#lib/injected/call-injected.ts";

/**
 * The error for a page whose fields or images hide members that axe-core reads from nodes, such as
 * `<input name=nodeName>`.
 */
export class HiddenMembersError extends Error {
  override name = "HiddenMembersError";
  constructor(member: string) {
    super(
      `the accessibility rules cannot read this page: an element named ${member} hides a member of its form or of the document`,
    );
  }
}

/**
 * Runs axe-core in a frame, in an isolated world that the page's scripts cannot touch. Inner frames are not checked.
 *
 * @throws HiddenMembersError. Also Error with a readable message if a selector is invalid or matches nothing, or if the
 * frame is gone.
 */
export async function runAxe(world: IsolatedWorld, options: AxeOptions): Promise<AxeFindings> {
  const found = await callInjected(world, "accessibility", "checkDocument", [options]);
  if ("hiddenMember" in found) throw new HiddenMembersError(found.hiddenMember);
  return found;
}
