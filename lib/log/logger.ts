/** The logger of the service. Takes the fields first (`err` for an error), then the message. Pino implements it. */
export type Logger = Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>;
