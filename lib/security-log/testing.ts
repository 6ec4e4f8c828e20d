import { createSecurityLog, type OpenSecurityLog } from "./security-log.ts";

/** A security log that writes nothing. */
export const silentSecurityLog: OpenSecurityLog = createSecurityLog({ info() {}, warn() {}, error() {} });
