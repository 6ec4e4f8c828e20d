/** The service's logger as its parts see it: fields first (`err` for an error), then the sentence. Pino implements it. */
export type Logger = Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>;
