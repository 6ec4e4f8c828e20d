import { createFloodGuard } from "./flood-guard.ts";
import { removeSecrets } from "./remove-secrets.ts";
import { readAddress } from "./request-address.ts";
import {
  SECURITY_EVENTS,
  type SecurityEventKind,
  type SecurityEventName,
  type SecurityFields,
} from "./security-events.ts";

/** Where the log writes its lines. A pino logger has this type. */
type SecuritySink = Record<"info" | "warn" | "error", (fields: object, message: string) => void>;

/** One function per kind of event. The functions return at once and never throw. */
export type SecurityLog = { [Name in SecurityEventName]: (fields: SecurityFields[Name]) => void };

/** A security log that can be closed. `close` writes the counts of the current minute. */
export type OpenSecurityLog = SecurityLog & { close: () => void };

/**
 * Creates the security log, which writes each event as one line. For events that a stranger can repeat, the lines per
 * minute are limited; further events are only counted. Long texts are truncated, and credentials in texts are replaced.
 * Source: `security-log.md`, Floods.
 */
export function createSecurityLog(sink: SecuritySink): OpenSecurityLog {
  const write = ({ event, outcome, level, message }: SecurityEventKind, fields: object) =>
    sink[level]({ event, outcome, ...fields }, message);
  const guard = createFloodGuard(write);

  function record(kind: SecurityEventKind, eventFields: object): void {
    // Events that are counted by session get no address, because they may be recorded while the request of another
    // client is being served.
    const address = kind.countedBy === "sessionId" ? undefined : readAddress();
    const fields: Record<string, unknown> = { ...(address !== undefined && { address }) };
    for (const [name, value] of Object.entries(eventFields))
      if (value !== undefined) fields[name] = clean(value);
    if (kind.countedBy === undefined) write(kind, fields);
    else guard.write(kind, String(fields[kind.countedBy] ?? "unknown"), fields);
  }

  const functions = Object.entries(SECURITY_EVENTS).map(([name, kind]) => [
    name,
    (fields: object) => record(kind, fields),
  ]);
  // The cast is safe, because the keys of the table are the names of the functions.
  return { ...(Object.fromEntries(functions) as SecurityLog), close: guard.close };
}

const clean = (value: unknown): unknown => {
  if (typeof value === "string") return removeSecrets(value);
  return Array.isArray(value) ? value.slice(0, 50).map(clean) : value;
};
