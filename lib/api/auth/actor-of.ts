import type { ShareAccess } from "#lib/session/share/share-link.ts";
import type { Caller } from "./authenticate.ts";

/** The actor of a request in the security log. Without a caller it is a visitor with the session's own `shareUrl`. */
export function actorOf(caller: Pick<Caller, "keyId" | "loginId"> | undefined): string {
  if (caller === undefined) return visitorActor({ linkId: null });
  if (caller.keyId !== "operator") return `key:${caller.keyId}`;
  return caller.loginId === undefined ? "operator" : `operator:${caller.loginId}`;
}

/** The actor of a visitor with a share link in the security log. */
export const visitorActor = ({ linkId }: Pick<ShareAccess, "linkId">): string => `share:${linkId ?? "own"}`;
