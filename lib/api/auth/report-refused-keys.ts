import type { SecurityLog } from "#lib/security-log/security-log.ts";
import { type Authenticator, readKey } from "./authenticate.ts";

/**
 * Matches a key from the store and captures its id, which may be logged. No part of a key from the settings may be
 * logged.
 */
const KEY_ID = /^ask_([a-z0-9]{1,40})_/;

/**
 * Records each refused key in the security log. Records nothing if the request had no key or the key store was
 * unreachable, because no key was refused in these cases.
 */
export const reportRefusedKeys =
  (authenticate: Authenticator, securityLog: Pick<SecurityLog, "keyRefused">): Authenticator =>
  async (headers) => {
    const checked = await authenticate(headers);
    const key = checked.ok || checked.code !== "unauthorized" ? undefined : readKey(headers);
    if (key !== undefined) securityLog.keyRefused({ keyId: KEY_ID.exec(key)?.[1] });
    return checked;
  };
