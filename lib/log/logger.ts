/**
 * The logger of the service. Its functions take the fields first (an error as `err`), then the message. Pino implements
 * it.
 */
export type Logger = Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>;
