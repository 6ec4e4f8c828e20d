import { API_KEY, type RunningService, waitUntil } from "../fixtures/service.ts";
import { callJson } from "./http.ts";
import { startTurn, textOf } from "./play-turn.ts";
import { describeService } from "./rig.ts";

const headers = { authorization: `Bearer ${API_KEY}` };

/**
 * Starts a turn that asks a person a question. Resolves when the turn is parked (waits for the answer).
 *
 * @returns the path of the turn's event stream.
 */
async function parkTurn(service: RunningService): Promise<{ streamPath: string }> {
  // Only a turn that a person has started can ask a question. The first turn is started by the API, so the second turn
  // asks.
  const { sessionId, shareUrl } = await startTurn(describeService(service), { tools: 0 });
  const person = {
    origin: new URL(service.baseUrl).origin,
    cookie: `share=${new URL(shareUrl, service.baseUrl).searchParams.get("key")}`,
  };
  const url = `${service.baseUrl}/s/${sessionId}/actions/messages`;
  const sent = await callJson("POST", url, person, { text: textOf({ tools: 1, asks: true }) });
  await waitUntil(() => isParked(service, sessionId), "the turn is parked");
  return {
    streamPath: `/api/sessions/${sessionId}/requests/${(sent as { requestId: string }).requestId}/stream`,
  };
}

/** Parks `count` turns. `inFlight` of them are started at a time. @returns the paths of their event streams. */
export async function parkTurns(service: RunningService, count: number, inFlight: number): Promise<string[]> {
  const paths: string[] = [];
  let left = count;
  const work = async () => {
    while (left-- > 0) paths.push((await parkTurn(service)).streamPath);
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return paths;
}

async function isParked({ baseUrl }: RunningService, sessionId: string): Promise<boolean> {
  const url = `${baseUrl}/api/sessions/${sessionId}/agent/status`;
  const { waitingOn } = (await callJson("GET", url, headers)) as { waitingOn: object | null };
  return waitingOn !== null;
}
