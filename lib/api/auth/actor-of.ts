import type { ShareAccess } from "#lib/session/share/share-link.ts";
import type { Caller } from "./authenticate.ts";

/**
 * Returns the name of a request's caller for the security log. If `caller` is undefined, returns the name of a visitor
 * with the session's own `shareUrl`. The function must therefore not be called for visitors with a created share link.
 */
export function actorOf(caller: Pick<Caller, "keyId" | "loginId"> | undefined): string {
  if (caller === undefined) return visitorActor({ linkId: null });
  if (caller.keyId !== "operator") return `key:${caller.keyId}`;
  return caller.loginId === undefined ? "operator" : `operator:${caller.loginId}`;
}

/** Returns the name of a share link's visitor for the security log. */
export const visitorActor = ({ linkId }: Pick<ShareAccess, "linkId">): string => `share:${linkId ?? "own"}`;
