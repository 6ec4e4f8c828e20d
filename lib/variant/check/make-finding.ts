import { shorten } from "#lib/text/shorten.ts";
import type { Finding, FindingCode } from "./check-report.ts";

const MESSAGE_MAX = 600;

/** Creates a finding about a page at one viewport width. A long message is cut off. */
export function makeFinding(
  { url, viewport }: Pick<Finding, "url" | "viewport">,
  level: Finding["level"],
  code: FindingCode,
  changeId: string | null,
  message: string,
): Finding {
  const cut = shorten(message, MESSAGE_MAX).toWellFormed();
  return { level, code, changeId, url, viewport, message: cut };
}
