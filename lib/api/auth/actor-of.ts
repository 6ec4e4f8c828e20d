import type { ShareAccess } from "#lib/session/share/share-link.ts";
import type { Caller } from "./authenticate.ts";

/** Who acts, as the security log names them. Without a caller it is a visitor with the session's own link. */
export function actorOf(caller: Pick<Caller, "keyId" | "loginId"> | undefined): string {
  if (caller === undefined) return visitorActor({ linkId: null });
  if (caller.keyId !== "operator") return `key:${caller.keyId}`;
  return caller.loginId === undefined ? "operator" : `operator:${caller.loginId}`;
}

/** A visitor with a share link, as the security log names them. */
export const visitorActor = ({ linkId }: Pick<ShareAccess, "linkId">): string => `share:${linkId ?? "own"}`;
