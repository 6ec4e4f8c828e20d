import type { HomeInboxItem } from "../state/view-types.ts";
import { type ActionOutcome, callAction } from "./call-action.ts";

/** The newest open items, and whether there are more. */
export type HomeInbox = { data: HomeInboxItem[]; nextCursor: string | null };

/** Number of items that are shown at most. */
const SHOWN_MAX = 20;

/** Reads what waits for the signed-in person in all sessions, newest first. */
export const readHomeInbox = (
  fetcher: typeof fetch = (...call) => fetch(...call),
): Promise<ActionOutcome<HomeInbox>> => callAction(fetcher, "GET", `/actions/inbox?limit=${SHOWN_MAX}`);
