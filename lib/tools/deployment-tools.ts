import { meansOf, type ToolMeans } from "#lib/catalogue/tools.ts";
import type { Tool } from "./tool.ts";

/** What a deployment lacks, each with a sentence that says why. */
export type Lacks = Readonly<Partial<Record<ToolMeans, string>>>;

/** Tools that no session of this deployment has, with the reason. */
export type MissingTools = { tools: string[]; reason: string };

/**
 * Divides the tools into those that can work on this deployment, and those that cannot, by reason. Precedence 1 of the
 * tool policy. Source: specification, Structured sessions, Precedence.
 */
export function divideTools(
  tools: readonly Tool[],
  lacks: Lacks,
): { working: Tool[]; missing: MissingTools[] } {
  const working: Tool[] = [];
  const missing = new Map<string, string[]>();
  for (const tool of tools) {
    const reason = meansOf(tool.name)
      .map((means) => lacks[means])
      .find((sentence) => sentence !== undefined);
    if (reason === undefined) working.push(tool);
    else missing.set(reason, [...(missing.get(reason) ?? []), tool.name]);
  }
  return { working, missing: [...missing].map(([reason, names]) => ({ tools: names, reason })) };
}
