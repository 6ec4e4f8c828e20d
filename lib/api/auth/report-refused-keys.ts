import type { SecurityLog } from "#lib/security-log/security-log.ts";
import { type Authenticator, readKey } from "./authenticate.ts";

/** Matches the id of a stored key, which may be logged. No part of a key of the settings may be logged. */
const KEY_ID = /^ask_([a-z0-9]{1,40})_/;

/**
 * Records each refused key in the security log. A request without a key, or while the key store is unreachable, is not
 * recorded, because no key was refused.
 */
export const reportRefusedKeys =
  (authenticate: Authenticator, securityLog: Pick<SecurityLog, "keyRefused">): Authenticator =>
  async (headers) => {
    const checked = await authenticate(headers);
    const key = checked.ok || checked.code !== "unauthorized" ? undefined : readKey(headers);
    if (key !== undefined) securityLog.keyRefused({ keyId: KEY_ID.exec(key)?.[1] });
    return checked;
  };
