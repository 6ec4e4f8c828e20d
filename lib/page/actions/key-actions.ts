import type { ApiKey } from "../state/view-types.ts";
import { type ActionOutcome, callAction, pick } from "./call-action.ts";

const fetchDirectly: typeof fetch = (...call) => fetch(...call);

/** A new key, as a person asks for it. `expiresInDays` is undefined for a key that never expires. */
type WantedKey = {
  ownerId: string;
  name: string;
  scopes: string[];
  expiresInDays: number | undefined;
};

/** A key with its text, which the service answers only once. */
export type FreshKey = { key: string; record: ApiKey };

const pathOf = (keyId: string) => `/actions/keys/${encodeURIComponent(keyId)}`;

/** Lists all keys, newest first. */
export const listKeys = async (fetcher = fetchDirectly): Promise<ActionOutcome<ApiKey[]>> =>
  pick(await callAction<{ data: ApiKey[] }>(fetcher, "GET", "/actions/keys"), "data");

/** Creates a key. */
export const createKey = (wanted: WantedKey, fetcher = fetchDirectly): Promise<ActionOutcome<FreshKey>> =>
  callAction(fetcher, "POST", "/actions/keys", wanted);

/** Creates a successor of a key. The old key stays valid for a day. */
export const rotateKey = (keyId: string, fetcher = fetchDirectly): Promise<ActionOutcome<FreshKey>> =>
  callAction(fetcher, "POST", `${pathOf(keyId)}/rotate`, {});

/** Revokes a key at once. */
export const revokeKey = (keyId: string, fetcher = fetchDirectly): Promise<ActionOutcome<unknown>> =>
  callAction(fetcher, "DELETE", pathOf(keyId));

/** Signs this browser in with an API key. */
export const logInWithKey = (apiKey: string, fetcher = fetchDirectly): Promise<ActionOutcome<unknown>> =>
  callAction(fetcher, "POST", "/login", { apiKey });
