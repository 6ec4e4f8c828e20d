import type { SecurityLog } from "#lib/security-log/security-log.ts";
import { type Authenticator, readKey } from "./authenticate.ts";

/** The id of a stored key, which is public; of a key of the settings nothing may be shown. */
const KEY_ID = /^ask_([a-z0-9]{1,40})_/;

/** Records every key that is refused. A call without a key, and one while the store is away, is no attempt with a wrong key. */
export const reportRefusedKeys =
  (authenticate: Authenticator, securityLog: Pick<SecurityLog, "keyRefused">): Authenticator =>
  async (headers) => {
    const checked = await authenticate(headers);
    const key = checked.ok || checked.code !== "unauthorized" ? undefined : readKey(headers);
    if (key !== undefined) securityLog.keyRefused({ keyId: KEY_ID.exec(key)?.[1] });
    return checked;
  };
