import assert from "node:assert/strict";
import { type TestService, waitUntil } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";

/** An item of the inbox, as the API returns it. */
type Item = {
  id: string;
  sessionId: string;
  runId: string | null;
  kind: string;
  title: string;
  body: string;
  options?: string[];
  call?: { toolCallId: string; toolName: string; input: unknown };
  form?: { properties: Record<string, unknown> };
  answerUrl?: string;
  createdAt: string;
  expiresAt: string | null;
  state: string;
  settledBy?: string;
  settledAt?: string;
};

/** Lists the items of a session, newest first. @param query such as `?state=open`. */
export async function listItems(
  service: TestService,
  { sessionId }: { sessionId: string },
  query = "",
): Promise<Item[]> {
  return (await service.read<{ data: Item[] }>(`/api/sessions/${sessionId}/inbox${query}`)).data;
}

/** Returns the only item of a session, or of those that the query selects. */
export async function onlyItem(
  service: TestService,
  session: { sessionId: string },
  query = "",
): Promise<Item> {
  const [item, ...others] = await listItems(service, session, query);
  assert.ok(item, "the session has no item");
  assert.deepEqual(others, []);
  return item;
}

type Settled = { status: number; error?: string; state?: string; item?: Item };

/** Settles an item. @returns the status of the response and the fields of its body. */
export async function settle(
  service: TestService,
  { sessionId }: { sessionId: string },
  itemId: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Settled> {
  const response = await service.call("POST", `/api/sessions/${sessionId}/inbox/${itemId}`, body, headers);
  return { status: response.status, ...((await response.json()) as Omit<Settled, "status">) };
}

/** Waits until the turn of a session is parked, so that the end of a wait can be played. */
export const untilTurnParked = (service: TestService, { sessionId }: { sessionId: string }) =>
  waitUntil(async () => {
    const events = await readEvents(service, sessionId);
    return only(events, "turn.waiting").length > only(events, "turn.resumed").length;
  }, "the turn is parked");
