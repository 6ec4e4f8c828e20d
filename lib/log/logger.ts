/**
 * The logger of the service, implemented by pino. Each function takes the fields first (an error as `err`), then the
 * message.
 */
export type Logger = Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>;
