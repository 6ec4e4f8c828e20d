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
  const cut = message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX).toWellFormed()}…` : message;
  return { level, code, changeId, url, viewport, message: cut };
}
