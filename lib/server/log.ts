import pino, { type Logger } from "pino";

/** The service's logger: JSON lines on standard output, secrets taken out by their path. */
export const createLogger = (level: string): Logger =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: [
        "*.authorization",
        "*.cookie",
        "*.secret",
        "*.token",
        "*.headers",
        "headers",
        "err.requestBodyValues",
        "err.responseHeaders",
        "err.params",
        "err.query",
      ],
      censor: "[removed]",
    },
  });
