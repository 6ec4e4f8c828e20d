import pino, { type DestinationStream, type Logger } from "pino";
import type { OutageLog } from "./outage-log.ts";

/**
 * Creates the service's logger, which writes JSON lines to standard output or `destination`. Fields that can hold
 * secrets are removed by their path. With `outages`, an outage of the database is logged once.
 */
export const createLogger = (level: string, destination?: DestinationStream, outages?: OutageLog): Logger =>
  pino(
    {
      level,
      ...(outages && { hooks: { logMethod: outages.logMethod } }),
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError, error: describeError },
      redact: {
        paths: [
          "*.authorization",
          "*.cookie",
          "*.secret",
          "*.token",
          "*.headers",
          "headers",
          ...["err", "error"].flatMap((key) => [
            `${key}.requestBodyValues`,
            `${key}.responseHeaders`,
            `${key}.params`,
            `${key}.query`,
          ]),
        ],
        censor: "[removed]",
      },
    },
    destination ?? pino.destination(1),
  );

/** Serializes an error for the log. For a failed query, the log has the statement, but not its values. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const described = pino.stdSerializers.err(error);
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (!("params" in at)) continue;
    const { message } = at;
    const statement = message.split("\nparams: ")[0] ?? "";
    described.message = described.message.replaceAll(message, statement);
    described.stack = described.stack.replaceAll(message, statement);
  }
  return described;
}
